"""How far probabilities are from the shares of right answers, and how a temperature changes
them."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["BINS", "calibration_error", "tempered"]

BINS: Final = 15
"""Bins of equal width, as in the tables of Guo et al. 2017."""


def calibration_error(scores: NDArray[np.floating], gold: NDArray[np.int64]) -> float | None:
    """The expected calibration error, in percentage points, of probabilities (K, C) against the
    classes (K,) of all K cases (Guo et al. 2017, equation 3). None without cases.

        ECE = sum over bins m of |B_m| / K |acc(B_m) - conf(B_m)|

    Bin m of M = `BINS` holds the cases whose greatest probability, conf, lies in
    ((m - 1) / M, m / M]; acc is the share of them that are right.
    """
    if not len(gold):
        return None
    top, right = scores.max(axis=1).astype(np.float64), scores.argmax(axis=1) == gold
    bins = np.clip(np.ceil(top * BINS).astype(np.int64), 1, BINS)
    # |B_m| (acc - conf) is the sum over the bin of right - top.
    return 100.0 * float(np.abs(np.bincount(bins, right - top)).sum()) / len(gold)


def tempered(scores: NDArray[np.floating], temperature: float) -> NDArray[np.float64]:
    """softmax(z / T) for rows (K, C) that are softmax(z), T > 0 (Guo et al. 2017, equation 9). A
    temperature above 1 makes scores less sure, and keeps their order."""
    logs = np.log(np.maximum(scores, np.finfo(np.float32).tiny).astype(np.float64)) / temperature
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    found: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return found
