"""Accuracy of node scores against a sentiment treebank's labels, without torch."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from thinstack.measure.calibration import calibration_error
from thinstack.measure.figures import Figures, percentage

__all__ = ["accuracy", "binary_right", "labels_by_span"]

IntArray = NDArray[np.int64]


def accuracy(
    scores: Sequence[NDArray[np.floating]],
    labels: Sequence[IntArray],
    *,
    binary: bool,
    phrases: bool = True,
) -> Figures:
    """Accuracies in percent of the scores (N_i, C) of each tree's nodes, the root last, against
    their labels (N_i,), -1 = none.

    Returns `root_accuracy`, `root_binary_accuracy`, `phrase_accuracy`, `phrase_binary_accuracy`,
    `root_calibration_error` and `phrase_calibration_error` in percentage points (see
    `thinstack.measure.calibration`), None over no case, and the numbers of their cases, `roots`,
    `binary_roots`, `phrases` and `binary_phrases`. *Binary* is Socher et al.'s (2013) protocol on
    the same model, for classes ordered from negative to positive: cases of the middle (neutral)
    class are left out, and the mass of the classes below it is set against the mass of those above.
    `binary` False: the classes have no sides (`thinstack.measure.figures.has_sides`), so there is
    no such case. `phrases` False: only roots are measured.
    """
    all_scores = np.concatenate([np.zeros((0, scores[0].shape[1] if scores else 2)), *scores])
    all_labels = np.concatenate([np.zeros(0, np.int64), *labels])
    roots = np.cumsum([len(tree) for tree in labels]).astype(np.int64) - 1
    nodes = slice(None) if phrases else slice(0)
    found: Figures = {}
    counts: Figures = {}
    polar = binary_right if binary else _no_case
    for name, places in (("root", roots), ("phrase", nodes)):
        for kind, right in (("", _right), ("binary_", polar)):
            cases = right(all_scores[places], all_labels[places])
            found[f"{name}_{kind}accuracy"] = percentage(cases)
            counts[f"{kind}{name}s"] = len(cases)
        known = all_labels[places] >= 0
        error = calibration_error(all_scores[places][known], all_labels[places][known])
        found[f"{name}_calibration_error"] = error
    return found | counts


def _right(scores: NDArray[np.floating], labels: IntArray) -> NDArray[np.bool_]:
    known = labels >= 0
    return np.asarray(scores[known].argmax(axis=1) == labels[known])


def binary_right(scores: NDArray[np.floating], labels: IntArray) -> NDArray[np.bool_]:
    """Which of the cases that are not neutral, of scores (K, C) and labels (K,), are on the right
    side."""
    half = scores.shape[1] // 2
    lower, upper = (labels >= 0) & (labels < half), labels >= scores.shape[1] - half
    polar = lower | upper
    positive = scores[polar, -half:].sum(axis=1) > scores[polar, :half].sum(axis=1)
    return np.asarray(positive == upper[polar])


def _no_case(scores: NDArray[np.floating], labels: IntArray) -> NDArray[np.bool_]:
    return np.zeros(0, np.bool_)


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
