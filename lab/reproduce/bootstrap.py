"""How far chance takes the difference of two rows: a paired bootstrap over examples and seeds."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from reproduce.cases import Cases
from reproduce.measures import Figure

DRAWS: Final = 2000
LEVEL: Final = 95
"""Percent of the draws that lie in an interval."""


def interval(
    first: Sequence[Cases], second: Sequence[Cases], figure: Figure, draws: int = DRAWS
) -> tuple[float, float] | None:
    """Between which values the middle 95% of `draws` lie, each the figure of `first` less that of
    `second` (Efron & Tibshirani 1993, 13.3: percentiles).

    A draw takes as many examples as there are, with replacement, and both rows answer the same
    ones; it takes as many seeds of each row as there are, too. With one seed, only the examples
    are drawn. Few seeds spread too little when they are drawn: two by half of their variance, five
    by a fifth. The draws are the same each time. None where the rows were not measured on the same
    examples, on fewer than two, or where the figure is undefined.
    """
    rows = [[seed.only(seed.whole) for seed in seeds] for seeds in (first, second)]
    if not same_cases(*rows) or len(rows[0][0]) < 2:
        return None
    random = np.random.default_rng(0)
    count, differences = len(rows[0][0]), []
    for _ in range(draws):
        examples = random.integers(count, size=count)
        means = []
        for seeds in rows:
            drawn = random.integers(len(seeds), size=len(seeds)).tolist()
            known = {number: figure(seeds[number].only(examples)) for number in set(drawn)}
            values = [value for number in drawn if (value := known[number]) is not None]
            if len(values) < len(drawn):
                return None
            means.append(np.mean(values))
        differences.append(means[0] - means[1])
    beyond = (100 - LEVEL) / 2
    low, high = np.percentile(differences, (beyond, 100 - beyond))
    return float(low), float(high)


def same_cases(first: Sequence[Cases], second: Sequence[Cases]) -> bool:
    """Whether both rows have seeds, and all were asked about the same cases."""
    seeds = [*first, *second]
    return bool(first and second) and all(
        np.array_equal(seeds[0].gold, seed.gold) for seed in seeds
    )
