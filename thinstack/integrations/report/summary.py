"""Sums up what was collected: aspects in order, quotes of their sides, and what differs."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from thinstack.errors import StoppedError
from thinstack.integrations.report.collect import Collector
from thinstack.integrations.report.entries import Columns, column_name
from thinstack.integrations.report.figures import (
    NAMES,
    AspectFigures,
    Comparison,
    Course,
    Difference,
    Figures,
    Group,
    Period,
    Side,
)
from thinstack.integrations.report.plan import Plan
from thinstack.integrations.report.report import Report
from thinstack.integrations.report.statistics import FALSE, adjusted, two_shares
from thinstack.integrations.report.tally import QUOTES, Quote, Tallies, Tally, TermTally
from thinstack.integrations.report.terms import typical

SAID: Final = 5
"""Phrases of each side that are shown of what is said of an aspect."""

_COMPARED: Final[tuple[Side, ...]] = ("positive", "negative")


class Asked(NamedTuple):
    """What a report is to be about: the table's and the model's name, the columns, the terms, and
    how many texts must speak of an aspect."""

    source: str
    model: str
    columns: Columns = Columns()
    about: tuple[str, ...] = ()
    min_mentions: int = 5


def report_of(asked: Asked, plan: Plan, found: Collector, *, of_mentions: bool = False) -> Report:
    """The report of what was collected, which is used up. `of_mentions`: whether the side of a text
    is that of its mentions."""
    _check_complete(plan, found)
    terms = found.joined()
    order = sorted(terms, key=lambda term: (-terms[term].texts, term))
    if asked.about:
        kept = list(dict.fromkeys(asked.about))
    else:
        kept = [term for term in order if terms[term].texts >= asked.min_mentions]
    return Report(
        source=asked.source,
        model=asked.model,
        about=asked.about,
        rows=plan.rows,
        figures=Figures.of(found.all),
        aspects=tuple(_aspect(term, terms[term], plan) for term in kept),
        rare=len(order) - len(kept),
        without=found.without,
        missed=found.missed,
        min_mentions=asked.min_mentions,
        by=_comparison(asked.columns.by, plan, found.all, {term: terms[term] for term in kept}),
        over=_course(asked.columns.over, plan, found.all),
        unread=found.all_unread(),
        of_mentions=of_mentions,
    )


def _check_complete(plan: Plan, found: Collector) -> None:
    """Raise StoppedError unless each row of the table is a text or one that could not be read."""
    unread = sum(each.rows for each in found.all_unread() if each.kind not in ("group", "date"))
    if plan.rows != found.all.texts + unread:
        raise StoppedError(
            f"expected {plan.rows:,} rows, found {found.all.texts:,} texts and {unread:,} rows "
            "that cannot be read: some are lost, so no report was made. Please report this"
        )


def _aspect(term: str, tally: TermTally, plan: Plan) -> AspectFigures:
    said = {side: typical(tally.said.get(side, {}), SAID) for side in (1, -1)}
    periods = sorted(tally.periods.items())
    return AspectFigures(
        term=term,
        names=tuple(name for name, _ in tally.names.most_common(5)),
        mentions=tally.mentions,
        figures=Figures.of(tally),
        positive=said[1],
        negative=said[-1],
        quotes=tuple(_quotes(tally)),
        groups=_groups(tally, plan),
        periods=tuple(Period(start, Figures.of(each)) for start, each in periods),
    )


def _groups(tallies: Tallies, plan: Plan) -> tuple[Group, ...]:
    names = (name for name in plan.groups if name in tallies.groups)
    return tuple(Group(name, Figures.of(tallies.groups[name])) for name in names)


def _quotes(tally: TermTally) -> list[Quote]:
    """Quotes of the sides, as they share the texts: a side that has a sixth or more has one. The
    side of most texts comes first."""
    counts = {1: tally.positive, -1: tally.negative, 0: tally.neutral}
    order = sorted(counts, key=lambda side: (-counts[side], -side))
    kept = {side: tally.quotes(side) for side in order}
    seats = dict.fromkeys(order, 0)
    for _ in range(QUOTES):  # the highest average, as Sainte-Lague shares out seats
        side = max(
            order,
            key=lambda side: counts[side] / (2 * seats[side] + 1) * (len(kept[side]) > seats[side]),
        )
        seats[side] += len(kept[side]) > seats[side]
    return [quote for side in order for quote in kept[side][: seats[side]]]


def _course(column: Any, plan: Plan, tallies: Tallies) -> Course | None:
    if column is None or plan.calendar is None:
        return None
    starts = plan.calendar.periods()
    periods = (Period(start, Figures.of(tallies.periods.get(start, Tally()))) for start in starts)
    return Course(column_name(column), plan.calendar.unit, tuple(periods))


def _comparison(
    column: Any, plan: Plan, tallies: Tallies, terms: dict[str, TermTally]
) -> Comparison | None:
    if column is None:
        return None
    tests = list(_tests(None, tallies, plan))
    for term, tally in terms.items():
        tests += _tests(term, tally, plan)
    values = adjusted([test.p for test in tests])
    pairs = zip(tests, values, strict=True)
    found = [replace(test, adjusted=value) for test, value in pairs if value <= FALSE]
    found.sort(key=lambda each: (each.adjusted, each.p))
    groups, differences = _groups(tallies, plan), tuple(found)
    name, others = column_name(column), plan.others
    return Comparison(name, groups, others, len(tests), differences, plan.uncounted)


def _tests(term: str | None, tallies: Tallies, plan: Plan) -> Iterator[Difference]:
    """The comparisons of each group with the others together; of two groups, of the first with the
    second. Texts of values that are not told apart are compared with none."""
    known = [name for name in plan.groups if name in tallies.groups]
    if len(known) < 2:
        return
    together = _counts(tallies.groups[name] for name in known)
    for name in known[:1] if len(known) == 2 else known:
        here, there = Figures.of(tallies.groups[name]), together.copy()
        there.subtract(_counts([tallies.groups[name]]))
        others = Figures(there["negative"], there["neutral"], there["positive"], None)
        for side in _COMPARED:
            p = two_shares(here.count(side), here.texts, others.count(side), others.texts)
            if p is not None:
                yield Difference(term, side, name, here, others, p, p)


def _counts(tallies: Iterable[Tally]) -> Counter[Side]:
    """How many texts of all tallies speak for each side."""
    found = Counter[Side](dict.fromkeys(NAMES.values(), 0))
    for tally in tallies:
        figures = Figures.of(tally)
        found.update({side: figures.count(side) for side in NAMES.values()})
    return found
