"""Accuracy of node scores against a sentiment treebank's labels, without torch."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Accuracy", "fit_for_json", "labels_by_span", "measure", "percent"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Accuracies in percent, and the numbers of cases that they are taken over.

    The classes are ordered from negative to positive. *Binary* is Socher et al.'s (2013) protocol
    on the same model: cases of the middle (neutral) class are left out, and the mass of the classes
    below it is set against the mass of those above. An accuracy over no case is NaN.
    """

    root_accuracy: float
    root_binary_accuracy: float
    phrase_accuracy: float
    phrase_binary_accuracy: float
    roots: int
    binary_roots: int
    phrases: int
    binary_phrases: int

    @property
    def selection(self) -> float:
        """What early stopping looks at: root + binary root + phrase accuracy, leaving out what is
        over no case."""
        parts = (self.root_accuracy, self.root_binary_accuracy, self.phrase_accuracy)
        return sum(part for part in parts if not math.isnan(part))

    def to_dict(self) -> dict[str, float | None]:
        """The fields by name, fit for JSON: an accuracy over no case is None."""
        return fit_for_json(asdict(self))


def fit_for_json(figures: dict[str, float]) -> dict[str, float | None]:
    """The figures by name, None in place of NaN."""
    return {name: None if math.isnan(value) else value for name, value in figures.items()}


def percent(value: float | None) -> str:
    """How an accuracy of `Accuracy.to_dict` is shown."""
    return "-" if value is None else f"{value:.2f}"


def measure(scores: Sequence[NDArray[np.floating]], labels: Sequence[IntArray]) -> Accuracy:
    """Accuracy of the scores (N_i, C) of each tree's nodes, the root last, against their labels
    (N_i,), -1 = none."""
    all_scores = np.concatenate([np.zeros((0, scores[0].shape[1] if scores else 2)), *scores])
    all_labels = np.concatenate([np.zeros(0, np.int64), *labels])
    roots = np.cumsum([len(tree) for tree in labels]).astype(np.int64) - 1
    root, root_count = _fine(all_scores[roots], all_labels[roots])
    root_binary, root_binary_count = _binary(all_scores[roots], all_labels[roots])
    phrase, phrase_count = _fine(all_scores, all_labels)
    phrase_binary, phrase_binary_count = _binary(all_scores, all_labels)
    return Accuracy(
        root_accuracy=root,
        root_binary_accuracy=root_binary,
        phrase_accuracy=phrase,
        phrase_binary_accuracy=phrase_binary,
        roots=root_count,
        binary_roots=root_binary_count,
        phrases=phrase_count,
        binary_phrases=phrase_binary_count,
    )


def _fine(scores: NDArray[np.floating], labels: IntArray) -> tuple[float, int]:
    known = labels >= 0
    return _percent(scores[known].argmax(axis=1) == labels[known])


def _binary(scores: NDArray[np.floating], labels: IntArray) -> tuple[float, int]:
    half = scores.shape[1] // 2
    lower, upper = (labels >= 0) & (labels < half), labels >= scores.shape[1] - half
    polar = lower | upper
    positive = scores[polar, -half:].sum(axis=1) > scores[polar, :half].sum(axis=1)
    return _percent(positive == upper[polar])


def _percent(right: NDArray[np.bool_]) -> tuple[float, int]:
    return (100.0 * float(right.mean()) if right.size else float("nan")), int(right.size)


def labels_by_span(spans: IntArray, labels: IntArray, wanted: IntArray) -> IntArray:
    """Labels (M,) of the spans `wanted` (M, 2) of another tree over the same words, -1 where no
    labelled span (N, 2) is equal.

    Where several nodes share a span (unary chains), the last in transition order, the highest,
    counts.
    """
    known = {
        (start, end): label
        for (start, end), label in zip(spans.tolist(), labels.tolist(), strict=True)
    }
    return np.array([known.get((start, end), -1) for start, end in wanted.tolist()], np.int64)
