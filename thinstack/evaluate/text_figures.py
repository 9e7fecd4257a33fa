"""Figures for the classes of texts, and the confusion matrix."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from thinstack.core.scale import Scale
from thinstack.evaluate.accuracy import binary_right
from thinstack.evaluate.calibration import calibration_error
from thinstack.evaluate.figures import Figures, percentage

NAMES: Final = {"accuracy": "accuracy", "macro_f1": "macro F1", "binary_accuracy": "binary"}
"""The names of the figures that are printed, by key."""

IntArray = NDArray[np.int64]


def text_figures(scores: NDArray[np.floating], gold: IntArray, labels: Sequence[str]) -> Figures:
    """Figures in percent of the scores (T, C) of texts against their classes (T,), named `labels`.

    Returns `accuracy`; `macro_f1`, the mean F1 over all classes that occur or were predicted;
    `binary_accuracy` for classes with sides, as in `thinstack.evaluate.accuracy.accuracy`;
    `calibration_error` in percentage points, see `thinstack.evaluate.calibration`. Each is None
    without texts. `texts` and `binary_texts` are the numbers of texts.
    """
    table = confusion(scores.argmax(1), gold, scores.shape[1])
    right, found, there = table.diagonal(), table.sum(0), table.sum(1)
    known = found + there > 0
    f1 = 200.0 * right[known] / (found + there)[known]
    scale = Scale.of(labels)
    binary = np.zeros(0, np.bool_) if scale is None else binary_right(scores, gold, scale)
    return {
        "accuracy": percentage(scores.argmax(1) == gold),
        "macro_f1": float(f1.mean()) if len(f1) else None,
        "binary_accuracy": percentage(binary),
        "calibration_error": calibration_error(scores, gold),
        "texts": len(gold),
        "binary_texts": len(binary),
    }


def confusion(predicted: IntArray, gold: IntArray, classes: int) -> IntArray:
    """How many texts of each class (rows) were taken for each class (columns), (C, C)."""
    table = np.zeros((classes, classes), np.int64)
    np.add.at(table, (gold, predicted), 1)
    return table
