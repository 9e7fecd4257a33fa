"""Figures for pairs of sentences, computed with scipy."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from thinstack.evaluate.figures import Figures, percentage


def relatedness(predicted: NDArray[np.floating], gold: NDArray[np.floating]) -> Figures:
    """Return the agreement of predicted with gold ratings (P,) (Tai et al. 2015, Table 3).

    Returns `pearson`, `spearman` and `mse` (in ratings squared), each None if it is undefined; and
    `pairs`, the number of pairs.
    """
    errors = predicted.astype(np.float64) - gold
    return {
        "pearson": pearson(predicted, gold),
        "spearman": _correlation(stats.spearmanr, predicted, gold),
        "mse": float(np.mean(errors**2)) if len(errors) else None,
        "pairs": len(errors),
    }


def pearson(predicted: NDArray[np.floating], gold: NDArray[np.floating]) -> float | None:
    """Return Pearson's r of two samples (P,); None if it is undefined, because there are fewer than
    two pairs or a sample is constant."""
    return _correlation(stats.pearsonr, predicted, gold)


def _correlation(
    correlate: Callable[..., Any], predicted: NDArray[np.floating], gold: NDArray[np.floating]
) -> float | None:
    if len(gold) < 2:
        return None
    # scipy warns about constant and nearly constant samples: the first are undefined, the second
    # come from an untrained model.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = float(correlate(predicted.astype(np.float64), gold.astype(np.float64)).statistic)
    return value if math.isfinite(value) else None


def entailment(predicted: NDArray[np.integer], gold: NDArray[np.integer]) -> Figures:
    """Return the `accuracy` in percent of the predicted classes of pairs (P,), None without pairs;
    and `pairs`, the number of pairs."""
    right = predicted == gold
    return {"accuracy": percentage(right), "pairs": len(right)}
