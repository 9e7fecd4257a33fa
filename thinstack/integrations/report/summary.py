"""Sums up what was collected: aspects in order, and what differs and changes."""

from datetime import date
from typing import TYPE_CHECKING

from thinstack.errors import StoppedError
from thinstack.integrations.report.collect import Collector
from thinstack.integrations.report.findings import Parts, change_of, differences
from thinstack.integrations.report.plan import Plan
from thinstack.integrations.report.report import Report
from thinstack.integrations.report.rows import PARTS, ReportOptions, column_name
from thinstack.integrations.report.sentences import figures_of
from thinstack.integrations.report.tally import Figures, Tally
from thinstack.integrations.report.terms import asked_name

if TYPE_CHECKING:
    from thinstack.integrations.themes.themes import Themes


def report_of(
    options: ReportOptions,
    plan: Plan,
    collector: Collector,
    suite: tuple[float, int] | None = None,
    themes: "Themes | None" = None,
) -> Report:
    """The report of what was collected, which is used up. `suite`: how many of so many sentences of
    a suite the model has right, in percent."""
    _check_complete(plan, collector)
    whole = _in_order(collector.all, plan)
    tallies = sorted(collector.tallies(), key=lambda tally: (-tally.figures.texts, tally.term))
    least = 0 if options.about else options.min_mentions
    aspects = [_in_order(tally, plan) for tally in tallies if tally.figures.texts >= least]
    if options.about:
        aspects.sort(key=lambda tally: options.about.index(tally.term))
    parts: dict[str | None, Parts] = {None: whole.groups}
    parts |= {tally.term: tally.groups for tally in aspects}
    tests, surest = differences(parts if options.by is not None else {})
    calendar = plan.calendar
    if calendar is not None:
        starts = calendar.periods()
        whole.periods = {start: whole.periods.get(start) or Figures() for start in starts}
    causes = {f"“{asked_name(tally.term)}”": _of_all(tally, whole) for tally in aspects}
    if themes:
        causes = {
            f"the theme “{theme.title}”": figures_of(theme.periods)
            for theme in themes
            if theme.side == "negative"
        }
    return Report(
        source=options.source,
        model=options.model,
        finder=options.finder,
        about=options.about,
        rows=plan.rows,
        whole=whole,
        suite=suite,
        low=collector.low,
        high=collector.high,
        middle=collector.middle,
        aspects=tuple(aspects),
        rare=len(tallies) - len(aspects),
        left_out=dict(collector.left_out.most_common()),
        without=collector.without,
        missed=collector.missed,
        min_mentions=options.min_mentions,
        by=None if options.by is None else column_name(options.by),
        others=plan.others,
        others_uncounted=plan.uncounted,
        tests=tests,
        differences=surest,
        over=None if calendar is None else column_name(options.over),
        unit=None if calendar is None else calendar.unit,
        change=change_of(whole.periods, collector.courses, causes),
        unread=collector.unread(),
        themes=themes,
    )


def _of_all(tally: Tally, whole: Tally) -> dict[date, Figures]:
    """The figures of all texts by period, neutral if they do not speak of a term."""
    figures = dict[date, Figures]()
    for start, of in whole.periods.items():
        part = tally.periods.get(start, Figures())
        figures[start] = Figures(part.negative, part.neutral + (of - part).texts, part.positive)
    return figures


def _check_complete(plan: Plan, collector: Collector) -> None:
    """Raise StoppedError unless each row of the table is a text or one that could not be read."""
    texts, kinds = collector.all.figures.texts, collector.unread()
    unread = sum(part.rows for part in kinds if part.kind not in PARTS)
    if plan.rows != texts + unread:
        raise StoppedError(
            f"expected {plan.rows:,} rows, found {texts:,} texts and {unread:,} unreadable "
            "rows: some are lost, so no report was written. Please report this"
        )


def _in_order(tally: Tally, plan: Plan) -> Tally:
    """The tally with its groups, those of most rows first, and its periods in order."""
    tally.groups = {name: tally.groups[name] for name in plan.groups if name in tally.groups}
    tally.periods = dict(sorted(tally.periods.items()))
    return tally
