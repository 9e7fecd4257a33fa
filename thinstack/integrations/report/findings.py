"""The key findings: when the texts changed, and which groups differ."""

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import accumulate, combinations
from typing import Final, NamedTuple, Self

import numpy as np

from thinstack.integrations.report.tally import Figures, Side

_COMPARED: Final[tuple[Side, ...]] = ("negative", "positive")  # the sides whose shares are compared

FALSE: Final = 0.05
"""Maximum false discovery rate of the differences that are reported as significant."""

LEAST_EXPECTED: Final = 5
"""Minimum expected count in every cell for two shares to be compared."""

_BOTH_ENDS: Final = 10.0  # z squared that a second end of a change must add
_LEAST_CAUSE: Final = 0.2  # minimum share of a change explained by one theme or term


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
    return list(values.tolist())


class Difference(NamedTuple):
    """A statistically significant difference between a group and the other groups combined.

    Attributes:
        term: the term that is discussed; None for the texts as a whole.
        others: the groups it is compared with, without those that differ more.
        side: the side whose share differs most significantly.
        here, there: the figures of the group and of the others.
        p, adjusted: the p-value, and the p-value adjusted for the number of comparisons.
        also: the other terms for which the group is better or worse in the same way.
    """

    term: str | None
    group: str
    others: tuple[str, ...]
    side: Side
    here: Figures
    there: Figures
    p: float
    adjusted: float
    also: tuple[str, ...] = ()

    @property
    def better(self) -> bool:
        """Whether the difference is in favor of the group."""
        more = self.here.count(self.side) * self.there.texts
        return (more > self.there.count(self.side) * self.here.texts) == (self.side == "positive")


Course = Mapping[date, Figures]
"""The figures of texts by the first day of each period, in order."""


def differences(
    terms: Mapping[str | None, Mapping[str, Figures]],
) -> tuple[int, tuple[Difference, ...]]:
    """Return the number of shares compared, and the differences between the groups of each term,
    most significant first.

    Each group is compared with the others combined. The group that differs most significantly is
    removed, and the rest are compared again, so that one bad shop does not make the others look
    good. A group that is better or worse for several terms counts as one difference.
    """
    rest = {term: dict(groups) for term, groups in terms.items()}
    surest, tests = list[Difference](), None
    while rest:
        some = [test for term, groups in rest.items() for test in _tests(term, groups)]
        tests = len(some) if tests is None else tests
        best = dict[str | None, Difference]()
        values = adjusted([test.p for test in some] + [1.0] * (tests - len(some)))
        for test, value in zip(some, values, strict=False):
            if value <= FALSE and (test.term not in best or test.p < best[test.term].p):
                best[test.term] = test._replace(adjusted=value)
        surest += best.values()
        rest = {term: rest[term] for term, test in best.items() if len(rest[term]) > 2}
        for term, groups in rest.items():
            del groups[best[term].group]
    # One difference per group and direction: that of all texts, or of the most significant term.
    by_group = dict[tuple[str, bool], Difference]()
    for test in sorted(surest, key=lambda test: (test.term is not None, test.adjusted, test.p)):
        first = by_group.setdefault((test.group, test.better), test)
        if first is not test and test.term is not None:
            by_group[test.group, test.better] = first._replace(also=(*first.also, test.term))
    return tests or 0, tuple(sorted(by_group.values(), key=lambda test: (test.adjusted, test.p)))


def _tests(term: str | None, groups: Mapping[str, Figures]) -> Iterator[Difference]:
    """Compare each group with the others combined; of two groups, the first with the second."""
    total = Figures()
    for figures in groups.values():
        total.merge(figures)
    for name, here in [*groups.items()][: 1 if len(groups) == 2 else None]:
        there, others = total - here, tuple(other for other in groups if other != name)
        for side in _COMPARED if others else ():
            if (z := _compared(here, there, side)) is not None:
                p = probability(z)
                yield Difference(term, name, others, side, here, there, p, p)


def _compared(here: Figures, there: Figures, side: Side) -> float | None:
    return two_shares(here.count(side), here.texts, there.count(side), there.texts)


def _is_sure(here: Figures, there: Figures, side: Side, tries: int = 1) -> bool:
    """Whether two shares differ significantly, corrected for the number of pairs tried."""
    z = _compared(here, there, side)
    return z is not None and probability(z) * tries <= FALSE


class Change(NamedTuple):
    """A statistically significant change over time.

    Attributes:
        side: the side whose share changes.
        first, last: the first days of the first and the last period of the change.
        lasts: whether it extends to the last period of all.
        here, there: the figures of these periods, and of the others.
        p: the p-value, adjusted for the number of positions that were tried.
        group: the group that changes most, if it changes more than the others combined: its name,
            and its figures in these periods and in the others.
        alone: whether the other groups do not change.
        cause: the theme or term that accounts for most of it, and the share it accounts for.
    """

    side: Side
    first: date
    last: date
    lasts: bool
    here: Figures
    there: Figures
    p: float
    group: tuple[str, Figures, Figures] | None = None
    alone: bool = False
    cause: tuple[str, float] | None = None

    @property
    def gain(self) -> float:
        """The difference between the share in these periods and in the others."""
        side = self.side
        return self.here.count(side) / self.here.texts - self.there.count(side) / self.there.texts

    @property
    def of_all(self) -> bool:
        """Whether the share of all texts also changes significantly, not only that of the group."""
        return _is_sure(self.here, self.there, self.side)

    def of(self, course: Course) -> Self:
        """Return the same change with the figures of these texts."""
        here, there = Figures(), Figures()
        for start, figures in course.items():
            (here if self.first <= start <= self.last else there).merge(figures)
        return self._replace(here=here, there=there)


def change_of(
    course: Course, groups: Mapping[str, Course], causes: Mapping[str, Course], tries: int = 1
) -> Change | None:
    """Find the most significant change over time, of all texts or of a group, if there is one.

    `course`: the figures of the texts in all periods. `groups`: the same for each group. `causes`:
    for each theme or term, the figures of all texts, which count as neutral if they do not mention
    it. `tries`: the number of courses in which a change is looked for.
    """
    changes = [*_changes([*course], course, tries * (1 + bool(groups)))]
    for one in groups.values():
        changes += _changes([*course], one, tries * 2 * len(groups))
    if not changes:
        return None
    _, change = max(changes, key=lambda pair: pair[0])
    sign = math.copysign(1, change.gain)
    change, best = _with_group(change.of(course), groups, sign), (_LEAST_CAUSE, "")
    # A change in one group that the other groups mask has no cause.
    for name, one in causes.items() if change.of_all else ():
        part = change.of(one)
        if _is_sure(part.here, part.there, change.side, len(causes)):
            best = max(best, (part.gain / change.gain, name))
    return change._replace(cause=best[::-1]) if best[1] else change


def _changes(starts: Sequence[date], course: Course, tries: int) -> list[tuple[float, Change]]:
    """Find the most significant lasting and ended changes of some texts, each after its score;
    changes of the negative share, if that share changes.

    A change begins at a period and lasts to the end, unless an earlier end explains much more. p is
    multiplied by `tries`, by the number of intervals of its kind, lasting or ended, and by the
    number of sides and kinds that were tried (Bonferroni).
    """
    parts, end, changes = [course.get(start, Figures()) for start in starts], len(starts), []
    texts = [0, *accumulate(part.texts for part in parts)]
    for side in _COMPARED:
        counts = [0, *accumulate(part.count(side) for part in parts)]
        scores: dict[bool, list[tuple[float, int, int]]] = {True: [], False: []}
        for first, last in combinations(range(1, end + 1), 2):
            count, of = counts[last] - counts[first], texts[last] - texts[first]
            z = two_shares(count, of, counts[-1] - count, texts[-1] - of) if of else None
            scores[last == end].append((abs(z or 0.0), first, last))
        kinds = len(_COMPARED) * sum(map(bool, scores.values()))
        for lasts, some in scores.items():
            z, first, last = max(some, key=lambda score: score[0], default=(0.0, 1, 1))
            p = probability(z) * kinds * len(some) * tries
            if z and p <= FALSE:
                nothing = Figures(), Figures()
                change = Change(side, starts[first], starts[last - 1], lasts, *nothing, p)
                changes.append((z**2 + _BOTH_ENDS * lasts, change.of(course)))
        if changes:
            break
    return changes


def _with_group(change: Change, groups: Mapping[str, Course], sign: float) -> Change:
    """Add the group that changes most, if it changes more than the others. `sign`: whether the
    share of the side rises or falls."""
    side, best = change.side, (0.0, "")
    parts = {name: change.of(course) for name, course in groups.items()}
    for name, part in parts.items():
        more, of_more = _gain(part.here, part.there, side)
        less, of_less = _gain(change.here - part.here, change.there - part.there, side)
        best = max(best, (sign * (more - less) / math.sqrt(of_more + of_less), name))
    z, name = best
    if not name or probability(z) * len(groups) > FALSE:
        return change
    part = parts[name]
    alone = not _is_sure(change.here - part.here, change.there - part.there, side)
    return change._replace(group=(name, part.here, part.there), alone=alone)


def _gain(here: Figures, there: Figures, side: Side) -> tuple[float, float]:
    """The increase in the share of a side, and its variance (Agresti and Caffo 2000)."""
    gain = variance = 0.0
    for sign, figures in ((1, here), (-1, there)):
        share = (figures.count(side) + 1) / (figures.texts + 2)
        gain, variance = gain + sign * share, variance + share * (1 - share) / (figures.texts + 2)
    return gain, variance
