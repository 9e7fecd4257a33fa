"""Curves: accuracy or correlation in a window that slides over the length or the depth of the
cases, in groups of cases, or after each epoch of training."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproduce.cases import Cases
from reproduce.shown import Curve
from thinstack.evaluate.accuracy import pearson

LEAST_CASES: Final = 20
"""A window that holds fewer for any seed is left out: its figure would be noise."""


TRACED: Final = {
    ("accuracy", "whole"): ("root_accuracy", "accuracy"),
    ("accuracy", "all"): ("phrase_accuracy",),
    ("pearson", "whole"): ("pearson",),
}
"""The names that a curve's figure has among those of an epoch; which one, the task says."""

Trace = Sequence[Mapping[str, float | None]]
"""The `seconds` of each epoch, and the figures after it."""


class Point(NamedTuple):
    """The figure at `x` (accuracy in percent): mean and sample standard deviation (0 for one seed)
    over the seeds; `count` is the number of cases of the seed that has the fewest."""

    x: float
    mean: float
    std: float
    count: int  # type: ignore[assignment]  # it hides tuple.count, which nobody calls


def points(cases: Sequence[Cases], curve: Curve, traces: Sequence[Trace] = ()) -> list[Point]:
    """The points of a curve, from the cases of each seed: one for every x from 1 to `curve.last`,
    or for every group.

    A point takes the cases within `curve.window` of its x; the last one also all beyond (Tai et al.
    2015, Figs. 3 and 4; Zhu et al. 2015, Fig. 4). One is left out where a seed has fewer than
    `LEAST_CASES` cases, or a figure that is undefined.

    A curve over seconds is made of the `traces` of the seeds, and has a point for each epoch that
    all of them have. Its x is the mean of the seconds to the end of the epoch (Zhu et al., Fig. 3).
    """
    chosen = [_chosen(seed, curve) for seed in cases]
    if curve.x == "seconds":
        return _over_time(traces, curve, min((len(gold) for _, _, gold in chosen), default=0))
    last = curve.last or max((int(where.max()) for where, _, _ in chosen if where.size), default=0)
    found: list[Point] = []
    for x in range(1, last + 1):
        windows = [_window(where, x, curve) for where, _, _ in chosen]
        count = min((int(window.sum()) for window in windows), default=0)
        if count < LEAST_CASES:
            continue
        figures = [
            _figure(predicted[window], gold[window], curve)
            for (_, predicted, gold), window in zip(chosen, windows, strict=True)
        ]
        found += _point(x, figures, count)
    return found


def _over_time(traces: Sequence[Trace], curve: Curve, count: int) -> list[Point]:
    names = TRACED.get((curve.figure, curve.cases), ())
    seconds = [np.cumsum([epoch["seconds"] for epoch in trace]) for trace in traces]
    found: list[Point] = []
    for number, epochs in enumerate(zip(*traces, strict=False)):
        x = statistics.fmean(float(ends[number]) for ends in seconds)
        figures = [next((at[name] for name in names if name in at), None) for at in epochs]
        found += _point(x, figures, count)
    return found


def _point(x: float, figures: Sequence[float | None], count: int) -> list[Point]:
    """The point of the seeds' figures; none where one is undefined."""
    known = [figure for figure in figures if figure is not None]
    if len(known) < len(figures):
        return []
    std = statistics.stdev(known) if len(known) > 1 else 0.0
    return [Point(x, statistics.fmean(known), std, count)]


Values = NDArray[np.floating]


def _chosen(cases: Cases, curve: Curve) -> tuple[Values, Values, Values]:
    """Where on the x axis the cases of a curve lie, what was predicted, and what is right."""
    counts = cases.whole if curve.cases == "whole" else np.ones(len(cases), bool)
    places = {"depth": cases.depth, "class": cases.gold + 1, "negation": cases.negated + 1}
    return places.get(curve.x, cases.words)[counts], cases.predicted[counts], cases.gold[counts]


def _window(where: Values, x: int, curve: Curve) -> NDArray[np.bool_]:
    beyond = where >= x - curve.window
    return beyond if x == curve.last else beyond & (where <= x + curve.window)


def _figure(predicted: Values, gold: Values, curve: Curve) -> float | None:
    if curve.figure == "pearson":
        return pearson(predicted, gold)
    return 100.0 * float((predicted == gold).mean())
