"""Figures of pairs of sentences, by scipy, and the figure of each task that early stopping looks
at."""

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from thinstack.config import Task

__all__ = ["entailment", "pearson", "relatedness", "selection"]

Figures = dict[str, float | None]

WATCHED: Final[dict[Task, tuple[str, ...]]] = {
    "phrases": ("root_accuracy", "root_binary_accuracy", "phrase_accuracy"),
    "sentences": ("root_accuracy",),
    "relatedness": ("pearson",),
    "entailment": ("accuracy",),
}
"""Figures whose sum chooses the epoch, by task; those of phrases are what `Accuracy.selection` adds
up."""


def relatedness(predicted: NDArray[np.floating], gold: NDArray[np.floating]) -> Figures:
    """Agreement of predicted with gold ratings (P,) (Tai et al. 2015, Table 3).

    Returns `pearson`, `spearman` and `mse` (in ratings squared), each None where it is undefined,
    and `pairs`.
    """
    errors = predicted.astype(np.float64) - gold
    return {
        "pearson": pearson(predicted, gold),
        "spearman": _correlation(stats.spearmanr, predicted, gold),
        "mse": float(np.mean(errors**2)) if len(errors) else None,
        "pairs": len(errors),
    }


def pearson(predicted: NDArray[np.floating], gold: NDArray[np.floating]) -> float | None:
    """Pearson's r of two samples (P,); None where it is undefined: fewer than two pairs, or a
    sample that is constant."""
    return _correlation(stats.pearsonr, predicted, gold)


def _correlation(
    correlate: Callable[..., Any], predicted: NDArray[np.floating], gold: NDArray[np.floating]
) -> float | None:
    if len(gold) < 2:
        return None
    # scipy warns of samples that are constant, or all but: the first is undefined, the second is
    # what an untrained model gives.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = float(correlate(predicted.astype(np.float64), gold.astype(np.float64)).statistic)
    return value if math.isfinite(value) else None


def entailment(predicted: NDArray[np.integer], gold: NDArray[np.integer]) -> Figures:
    """Accuracy in percent of classes of pairs (P,): `accuracy`, None over no pair, and `pairs`."""
    right = predicted == gold
    return {"accuracy": 100.0 * float(right.mean()) if right.size else None, "pairs": len(right)}


def selection(task: Task, figures: Mapping[str, float | None]) -> float:
    """What early stopping looks at, the higher the better; a figure that is undefined counts 0."""
    return sum(figures[name] or 0.0 for name in WATCHED[task])
