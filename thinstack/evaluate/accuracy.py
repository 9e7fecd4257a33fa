"""Accuracy of node scores against the labels of a treebank, without torch."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thinstack.core.scale import Scale
from thinstack.evaluate.calibration import calibration_error
from thinstack.evaluate.figures import Figures, percentage

IntArray = NDArray[np.int64]


def accuracy(
    scores: Sequence[NDArray[np.floating]],
    labels: Sequence[IntArray],
    *,
    scale: Scale | None,
    phrases: bool = True,
) -> Figures:
    """Accuracies in percent. Compares the scores (N_i, C) of each tree's nodes, the root last, with
    their labels (N_i,), where -1 means no label.

    Returns `root_accuracy`, `root_binary_accuracy`, `phrase_accuracy` and `phrase_binary_accuracy`;
    `root_calibration_error` and `phrase_calibration_error` in percentage points (see
    `thinstack.evaluate.calibration`); and the numbers of cases, `roots`, `binary_roots`, `phrases`
    and `binary_phrases`. A figure without cases is None.

    *Binary* is the protocol of Socher et al. (2013) on the same model, for classes of sentiment.
    Cases of neutral classes are left out. The probability of the negative classes is compared with
    the probability of the positive classes. Without a `scale` of the classes there are no such
    cases. With `phrases` False, only roots are measured.
    """
    classes = scores[0].shape[1] if scores else len(scale.sides) if scale else 2
    all_scores = np.concatenate([np.zeros((0, classes)), *scores])
    all_labels = np.concatenate([np.zeros(0, np.int64), *labels])
    roots = np.cumsum([len(tree) for tree in labels]).astype(np.int64) - 1
    nodes = slice(None) if phrases else slice(0)
    figures: Figures = {}
    counts: Figures = {}
    polar = _no_case if scale is None else partial(binary_right, scale=scale)
    for name, places in (("root", roots), ("phrase", nodes)):
        for kind, right in (("", _right), ("binary_", polar)):
            cases = right(all_scores[places], all_labels[places])
            figures[f"{name}_{kind}accuracy"] = percentage(cases)
            counts[f"{kind}{name}s"] = len(cases)
        known = all_labels[places] >= 0
        error = calibration_error(all_scores[places][known], all_labels[places][known])
        figures[f"{name}_calibration_error"] = error
    return figures | counts


def _right(scores: NDArray[np.floating], labels: IntArray) -> NDArray[np.bool_]:
    known = labels >= 0
    return np.asarray(scores[known].argmax(axis=1) == labels[known])


def binary_right(scores: NDArray[np.floating], labels: IntArray, scale: Scale) -> NDArray[np.bool_]:
    """Which cases have scores (K, C) on the right side of their labels (K,), -1 unknown. Neutral
    and unknown cases are left out."""
    sides = np.array(scale.sides)
    polar = (labels >= 0) & (sides[labels] != 0)
    rows = scores[polar]
    positive = rows[:, sides > 0].sum(axis=1) > rows[:, sides < 0].sum(axis=1)
    return np.asarray(positive == (sides[labels[polar]] > 0))


def _no_case(scores: NDArray[np.floating], labels: IntArray) -> NDArray[np.bool_]:
    return np.zeros(0, np.bool_)


def labels_by_span(spans: IntArray, labels: IntArray, wanted: IntArray) -> IntArray:
    """Labels (M,) of the spans `wanted` (M, 2) of another tree over the same words, or -1 if no
    labelled span (N, 2) is equal.

    If several nodes share a span (unary chains), the last in transition order counts, which is the
    highest.
    """
    known = {
        (start, end): label
        for (start, end), label in zip(spans.tolist(), labels.tolist(), strict=True)
    }
    return np.array([known.get((start, end), -1) for start, end in wanted.tolist()], np.int64)
