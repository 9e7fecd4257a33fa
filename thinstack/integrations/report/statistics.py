"""The statistics of a report: intervals of shares and means, and tests of two shares."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from thinstack.evaluate.figures import Z, wilson

LEVEL: Final = 0.95
"""Confidence level of intervals."""

FALSE: Final = 0.05
"""Maximum false discovery rate of the differences that are reported as significant."""

LEAST_EXPECTED: Final = 5
"""Minimum expected count in every cell for two shares to be compared."""

LEAST_OF_MEAN: Final = 10
"""Minimum sample size for the confidence interval of a mean."""


class Interval(NamedTuple):
    """An estimate and its 95% confidence interval, which is None for too small a sample."""

    value: float
    low: float | None
    high: float | None


def share_interval(count: int, of: int) -> Interval:
    """Return the share `count / of` with its score interval (`wilson`), for `of` >= 1."""
    return Interval(count / of, *wilson(count / of, of))


def mean_interval(n: int, mean: float, variance: float) -> Interval:
    """Return the mean of n numbers with this sample variance and its Student's t interval, which is
    None below `LEAST_OF_MEAN` numbers."""
    if n < LEAST_OF_MEAN:
        return Interval(mean, None, None)
    # The first terms of the expansion of t's quantile at the normal quantile (Fisher and Cornish
    # 1960). The error is below 0.2% above 8 degrees of freedom.
    first, second = (Z**3 + Z) / 4, (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96
    student = Z + first / (n - 1) + second / (n - 1) ** 2
    half = student * math.sqrt(variance / n)
    return Interval(mean, mean - half, mean + half)


def two_shares(count: int, of: int, other_count: int, of_other: int) -> float | None:
    """Return how many standard errors `count / of` is above `other_count / of_other`: the z test
    with the pooled share, whose square is Pearson's chi-squared of a 2x2 table. None if an expected
    count is below `LEAST_EXPECTED`."""
    hits, total = count + other_count, of + of_other
    smallest = min(of, of_other) * min(hits, total - hits)
    if not total or smallest < LEAST_EXPECTED * total:
        return None
    pooled = hits / total
    spread = math.sqrt(pooled * (1 - pooled) * (1 / of + 1 / of_other))
    return (count / of - other_count / of_other) / spread


def probability(z: float) -> float:
    """Return the two-sided p-value of a z score."""
    return math.erfc(abs(z) / math.sqrt(2))


def adjusted(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number (Benjamini and Hochberg 1995).

    Of the tests with an adjusted value of at most q, the expected share by chance is at most q.
    """
    values, ranks = np.array(p_values), np.arange(len(p_values), 0, -1)
    order = np.argsort(-values)
    values[order] = np.minimum.accumulate(values[order] * len(values) / ranks)
    adjusted: list[float] = values.tolist()
    return adjusted
