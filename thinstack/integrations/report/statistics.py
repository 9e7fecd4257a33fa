"""The statistics of a report: intervals of shares and means, and tests of two shares."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from thinstack.evaluate.figures import Z, wilson

LEVEL: Final = 0.95
"""How sure an interval is."""

FALSE: Final = 0.05
"""The share of differences that are called beyond chance and are chance, at most."""

LEAST_EXPECTED: Final = 5
"""Two shares are compared where every count that chance alone would give is as large as this."""

LEAST_OF_MEAN: Final = 10
"""Numbers of which a mean has an interval."""


class Interval(NamedTuple):
    """An estimate, and its interval of 95% confidence, which is None for too few numbers."""

    value: float
    low: float | None
    high: float | None


def share_interval(count: int, of: int) -> Interval:
    """The share `count / of` with its score interval (`wilson`), for `of` >= 1."""
    return Interval(count / of, *wilson(count / of, of))


def mean_interval(n: int, mean: float, variance: float) -> Interval:
    """The mean of n numbers of this sample variance, with the interval of Student's t. It has none
    below `LEAST_OF_MEAN` numbers."""
    if n < LEAST_OF_MEAN:
        return Interval(mean, None, None)
    half = _student(n - 1) * math.sqrt(variance / n)
    return Interval(mean, mean - half, mean + half)


def _student(degrees: int) -> float:
    """The quantile of Student's t for the level, by the first terms of its expansion at the normal
    quantile (Fisher and Cornish 1960). Above 8 degrees of freedom it is wrong by less than 0.2%."""
    first = (Z**3 + Z) / 4
    second = (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96
    return Z + first / degrees + second / degrees**2


def two_shares(count: int, of: int, other_count: int, of_other: int) -> float | None:
    """How many standard errors `count / of` lies above `other_count / of_other`: the z test with
    the pooled share, whose square is Pearson's chi-squared of a table of two rows and columns. None
    if a count that chance would give is below `LEAST_EXPECTED`."""
    hits, total = count + other_count, of + of_other
    smallest = min(of, of_other) * min(hits, total - hits)
    if not total or smallest < LEAST_EXPECTED * total:
        return None
    pooled = hits / total
    spread = math.sqrt(pooled * (1 - pooled) * (1 / of + 1 / of_other))
    return (count / of - other_count / of_other) / spread


def probability(z: float) -> float:
    """How probable it is that chance gives so many standard errors or more, either way."""
    return math.erfc(abs(z) / math.sqrt(2))


def adjusted(p_values: Sequence[float]) -> list[float]:
    """The p-values, adjusted for their number (Benjamini and Hochberg 1995).

    Of the tests whose adjusted value is at most q, the share that is chance is at most q on
    average."""
    values, ranks = np.array(p_values), np.arange(len(p_values), 0, -1)
    order = np.argsort(-values)
    values[order] = np.minimum.accumulate(values[order] * len(values) / ranks)
    adjusted: list[float] = values.tolist()
    return adjusted
