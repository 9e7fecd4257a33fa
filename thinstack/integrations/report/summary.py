"""Sums up what was collected: aspects in order, quotes of their sides, and what differs."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from thinstack.errors import StoppedError
from thinstack.integrations.report.collect import Collector
from thinstack.integrations.report.figures import (
    AspectFigures,
    Comparison,
    Course,
    Difference,
    Group,
    Period,
)
from thinstack.integrations.report.plan import Plan
from thinstack.integrations.report.report import Report
from thinstack.integrations.report.rows import ReportOptions, column_name
from thinstack.integrations.report.statistics import FALSE, adjusted, two_shares
from thinstack.integrations.report.tally import QUOTES, SIDES, Figures, Quote, Side, Tally
from thinstack.integrations.report.terms import typical

SAID: Final = 5
"""Phrases of each side that are shown of what is said of an aspect."""

_COMPARED: Final[tuple[Side, ...]] = ("positive", "negative")


def report_of(
    options: ReportOptions, plan: Plan, collector: Collector, *, of_mentions: bool = False
) -> Report:
    """The report of what was collected, which is used up. `of_mentions`: whether the side of a text
    is that of its mentions."""
    _check_complete(plan, collector)
    tallies = collector.by_name()
    order = sorted(tallies, key=lambda term: (-tallies[term].figures.texts, term))
    frequent = [term for term in order if tallies[term].figures.texts >= options.min_mentions]
    terms = list(dict.fromkeys(options.about)) or frequent
    aspects = tuple(_aspect(term, tallies[term], plan) for term in terms)
    comparison = None
    if options.by is not None:
        groups: dict[str | None, tuple[Group, ...]] = {None: _groups(collector.all, plan)}
        groups |= {aspect.term: aspect.groups for aspect in aspects}
        comparison = _comparison(options.by, plan, groups)
    return Report(
        source=options.source,
        model=options.model,
        about=options.about,
        rows=plan.rows,
        figures=collector.all.figures,
        aspects=aspects,
        rare=len(order) - len(terms),
        without=collector.without,
        missed=collector.missed,
        min_mentions=options.min_mentions,
        by=comparison,
        over=_course(options.over, plan, collector.all),
        unread=collector.unread(),
        of_mentions=of_mentions,
    )


def _check_complete(plan: Plan, collector: Collector) -> None:
    """Raise StoppedError unless each row of the table is a text or one that could not be read."""
    texts, kinds = collector.all.figures.texts, collector.unread()
    unread = sum(part.rows for part in kinds if part.kind not in ("group", "date"))
    if plan.rows != texts + unread:
        raise StoppedError(
            f"expected {plan.rows:,} rows, found {texts:,} texts and {unread:,} rows that cannot "
            "be read: some are lost, so no report was made. Please report this"
        )


def _aspect(term: str, tally: Tally, plan: Plan) -> AspectFigures:
    periods = sorted(tally.periods.items())
    return AspectFigures(
        term=term,
        names=tuple(name for name, _ in tally.names.most_common(5)),
        mentions=tally.mentions,
        figures=tally.figures,
        said={SIDES[side]: typical(tally.said.get(side, {}), SAID) for side in (1, -1)},
        quotes=tuple(_quotes(tally)),
        groups=_groups(tally, plan),
        periods=tuple(Period(*period) for period in periods),
    )


def _groups(tally: Tally, plan: Plan) -> tuple[Group, ...]:
    names = (name for name in plan.groups if name in tally.groups)
    return tuple(Group(name, tally.groups[name]) for name in names)


def _quotes(tally: Tally) -> list[Quote]:
    """Quotes of the sides, as they share the texts: a side that has a sixth or more has one. The
    side of most texts comes first."""
    counts = dict(zip(SIDES, tally.figures.counts, strict=True))
    order = sorted(counts, key=lambda side: (-counts[side], -side))
    quotes = {side: tally.quotes(side) for side in order}
    seats = dict.fromkeys(order, 0)

    def claim(side: int) -> float:
        """The highest average, as Sainte-Lague shares out seats; 0 without another quote."""
        return counts[side] / (2 * seats[side] + 1) * (len(quotes[side]) > seats[side])

    for _ in range(QUOTES):
        side = max(order, key=claim)
        seats[side] += len(quotes[side]) > seats[side]
    return [quote for side in order for quote in quotes[side][: seats[side]]]


def _course(column: Any, plan: Plan, tally: Tally) -> Course | None:
    if column is None or plan.calendar is None:
        return None
    starts = plan.calendar.periods()
    periods = (Period(start, tally.periods.get(start, Figures())) for start in starts)
    return Course(column_name(column), plan.calendar.unit, tuple(periods))


def _comparison(
    column: Any, plan: Plan, groups: Mapping[str | None, tuple[Group, ...]]
) -> Comparison:
    """The groups of all texts (None) and of each term, compared."""
    tests = [test for term, some in groups.items() for test in _tests(term, some)]
    values = adjusted([test.p for test in tests])
    pairs = zip(tests, values, strict=True)
    differences = [replace(test, adjusted=value) for test, value in pairs if value <= FALSE]
    differences.sort(key=lambda difference: (difference.adjusted, difference.p))
    name = column_name(column)
    return Comparison(
        name, groups[None], plan.others, len(tests), tuple(differences), plan.uncounted
    )


def _tests(term: str | None, groups: tuple[Group, ...]) -> Iterator[Difference]:
    """The comparisons of each group with the others together; of two groups, of the first with the
    second. Texts of values that are not told apart are compared with none."""
    if len(groups) < 2:
        return
    for name, here in groups[:1] if len(groups) == 2 else groups:
        there = Figures()
        for other, figures in groups:
            if other != name:
                there.merge(figures)
        for side in _COMPARED:
            p = two_shares(here.count(side), here.texts, there.count(side), there.texts)
            if p is not None:
                yield Difference(term, side, name, here, there, p, p)
