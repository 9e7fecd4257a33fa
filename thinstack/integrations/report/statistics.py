"""The statistics of a report: intervals of shares and means, and tests of two shares."""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final, NamedTuple

LEVEL: Final = 0.95
"""How sure an interval is."""

FALSE: Final = 0.05
"""The share of differences that are called beyond chance and are chance, at most."""

LEAST_EXPECTED: Final = 5
"""Two shares are compared where every count that chance alone would give is as large as this."""

LEAST_OF_MEAN: Final = 10
"""Numbers of which a mean has an interval."""

_NORMAL: Final = NormalDist()
_Z: Final = _NORMAL.inv_cdf(0.5 + LEVEL / 2)


class Interval(NamedTuple):
    """An estimate, and its interval of 95% confidence, which is None for too few numbers."""

    value: float
    low: float | None
    high: float | None


def wilson(count: int, of: int) -> Interval:
    """The share `count / of` with its score interval (Wilson 1927), for `of` >= 1.

    With p = count / of and the normal quantile z, its ends are

        (p + z² / 2n ± z √(p (1 - p) / n + z² / 4n²)) / (1 + z² / n)
    """
    share, square = count / of, _Z * _Z / of
    middle = share + square / 2
    half = _Z * math.sqrt(share * (1 - share) / of + square / (4 * of))
    low, high = (middle - half) / (1 + square), (middle + half) / (1 + square)
    return Interval(share, max(low, 0.0) if count else 0.0, min(high, 1.0) if count < of else 1.0)


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
    first = (_Z**3 + _Z) / 4
    second = (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96
    return _Z + first / degrees + second / degrees**2


def two_shares(count: int, of: int, other_count: int, of_other: int) -> float | None:
    """How probable it is that two equal shares differ by as much as `count / of` and
    `other_count / of_other` do, either way: the z test with the pooled share, which is Pearson's
    chi-squared test of a table of two rows and columns. None if a count that chance would give is
    below `LEAST_EXPECTED`."""
    hits, total = count + other_count, of + of_other
    smallest = min(of, of_other) * min(hits, total - hits)
    if smallest < LEAST_EXPECTED * total:
        return None
    pooled = hits / total
    spread = math.sqrt(pooled * (1 - pooled) * (1 / of + 1 / of_other))
    z = abs(count / of - other_count / of_other) / spread
    return math.erfc(z / math.sqrt(2))


def adjusted(p_values: Sequence[float]) -> list[float]:
    """The p-values, adjusted for their number (Benjamini and Hochberg 1995).

    Of the tests whose adjusted value is at most q, the share that is chance is at most q on
    average."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__, reverse=True)
    found, least, count = [1.0] * len(p_values), 1.0, len(p_values)
    for rank, place in zip(range(count, 0, -1), order, strict=True):
        least = min(least, p_values[place] * count / rank)
        found[place] = least
    return found
