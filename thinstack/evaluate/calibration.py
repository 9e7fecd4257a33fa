"""How good probabilities are: how far they are from the shares of right answers, how likely they
make what is right, and how a temperature changes them."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

BINS: Final = 15
"""Bins of equal width, as in the tables of Guo et al. 2017."""


def calibration_error(scores: NDArray[np.floating], gold: NDArray[np.int64]) -> float | None:
    """The `confidence_error` of probabilities (K, C) against the classes (K,) of all K cases. None
    without cases."""
    if not len(gold):
        return None
    return confidence_error(scores.max(axis=1), scores.argmax(axis=1) == gold)


def confidence_error(confidence: NDArray[np.floating], right: NDArray[np.bool_]) -> float | None:
    """The expected calibration error, in percentage points, of K cases: the greatest probability
    (K,) of each, and whether its class was right (K,) (Guo et al. 2017, equation 3). None without
    cases.

        ECE = sum over bins m of |B_m| / K |acc(B_m) - conf(B_m)|

    Bin m of M = `BINS` holds the cases whose greatest probability, conf, lies in
    ((m - 1) / M, m / M]; acc is the share of them that are right.
    """
    if not len(right):
        return None
    top = confidence.astype(np.float64)
    bins = np.clip(np.ceil(top * BINS).astype(np.int64), 1, BINS)
    # |B_m| (acc - conf) is the sum over the bin of right - top.
    return 100.0 * float(np.abs(np.bincount(bins, right - top)).sum()) / len(right)


def negative_log_likelihood(likelihood: NDArray[np.floating]) -> float | None:
    """The mean of -ln p, in nats, over the probabilities p (K,) that K cases give to what is right.
    None without cases. A p of 0 counts as the least positive normal number of 32 bits."""
    if not len(likelihood):
        return None
    return float(-_logs(likelihood).mean())


def tempered(scores: NDArray[np.floating], temperature: float) -> NDArray[np.float64]:
    """softmax(z / T) for rows (K, C) that are softmax(z), T > 0 (Guo et al. 2017, equation 9). A
    temperature above 1 makes scores less sure, and keeps their order."""
    logs = _logs(scores) / temperature
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    softer: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return softer


def _logs(probabilities: NDArray[np.floating]) -> NDArray[np.float64]:
    least = np.finfo(np.float32).tiny
    logs: NDArray[np.float64] = np.log(np.maximum(probabilities, least).astype(np.float64))
    return logs
