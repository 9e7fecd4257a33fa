"""Curves: accuracy or correlation in a window that slides over the length or the depth of the
cases."""

import statistics
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproduce.cases import Cases
from reproduce.table import Curve
from thinstack.measure.pair_figures import pearson

LEAST_CASES: Final = 20
"""A window that holds fewer for any seed is left out: its figure would be noise."""


class Point(NamedTuple):
    """The figure at `x` (accuracy in percent): mean and sample standard deviation (0 for one seed)
    over the seeds; `count` is the number of cases of the seed that has the fewest."""

    x: int
    mean: float
    std: float
    count: int  # type: ignore[assignment]  # it hides tuple.count, which nobody calls


def points(cases: Sequence[Cases], curve: Curve) -> list[Point]:
    """The points of a curve, from the cases of each seed: one for every x from 1 to `curve.last`.

    A point takes the cases within `curve.window` of its x; the last one also all beyond (Tai et al.
    2015, Figs. 3 and 4; Zhu et al. 2015, Fig. 4). One is left out where a seed has fewer than
    `LEAST_CASES` cases, or a figure that is undefined.
    """
    found = []
    chosen = [_chosen(seed, curve) for seed in cases]
    for x in range(1, curve.last + 1):
        windows = [_window(where, x, curve) for where, _, _ in chosen]
        count = min((int(window.sum()) for window in windows), default=0)
        if count < LEAST_CASES:
            continue
        figures = [
            _figure(predicted[window], gold[window], curve)
            for (_, predicted, gold), window in zip(chosen, windows, strict=True)
        ]
        known = [figure for figure in figures if figure is not None]
        if len(known) == len(figures):
            std = statistics.stdev(known) if len(known) > 1 else 0.0
            found.append(Point(x, statistics.fmean(known), std, count))
    return found


Values = NDArray[np.floating]


def _chosen(cases: Cases, curve: Curve) -> tuple[Values, Values, Values]:
    """Where on the x axis the cases of a curve lie, what was predicted, and what is right."""
    counts = cases.whole if curve.cases == "whole" else np.ones(len(cases), bool)
    where = cases.words if curve.x == "words" else cases.depth
    return where[counts], cases.predicted[counts], cases.gold[counts]


def _window(where: Values, x: int, curve: Curve) -> NDArray[np.bool_]:
    beyond = where >= x - curve.window
    return beyond if x == curve.last else beyond & (where <= x + curve.window)


def _figure(predicted: Values, gold: Values, curve: Curve) -> float | None:
    if curve.figure == "pearson":
        return pearson(predicted, gold)
    return 100.0 * float((predicted == gold).mean())
