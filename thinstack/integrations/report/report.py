"""`Report`: what a table of texts says, as data, as JSON, as CSV and as a page."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from html import escape
from typing import TYPE_CHECKING, Any, Final

from thinstack.integrations.report.calendar import Unit
from thinstack.integrations.report.collect import Collector
from thinstack.integrations.report.findings import (
    Change,
    Course,
    Difference,
    change_of,
    differences,
)
from thinstack.integrations.report.plan import Plan
from thinstack.integrations.report.rows import ReportOptions, Unread, column_name
from thinstack.integrations.report.sentences import figures_of, in_short
from thinstack.integrations.report.statistics import FALSE, LEVEL, Interval
from thinstack.integrations.report.tally import SIDES, Figures, Tally, plain
from thinstack.integrations.report.terms import asked_name

if TYPE_CHECKING:
    from thinstack.integrations.themes.themes import Themes

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class Report:
    """What a table of texts says: how many texts, of which side, about what, where and when.

    A notebook shows it as a page. `thinstack.report` makes one of a frame, and `thinstack report`
    one of a file.

    Attributes:
        source: the name of the table.
        model: the name of the model that says of which side a text is.
        finder: the name of the model that finds and judges the terms, "" if none does.
        about: the terms that were asked for; none if the model found them.
        rows: how many rows the table has.
        whole: what is counted of the texts that could be read, also by group and by period.
        suite: how many of so many sentences of ten fields the model has right (docs/suite.md,
            `domains`), in percent; None if that is not known.
        low, high, middle: what the model says of the texts with one or two stars, and with four or
            five, and how many texts have other stars.
        aspects: the terms, those of most texts first.
        rare: how many more terms there are, in fewer than `min_mentions` texts.
        left_out: terms that are no topics, such as "use", and how often they are mentioned.
        without: texts that speak of no term.
        missed: how many texts more than counted a term may have, where there were very many.
        min_mentions: texts that speak of an aspect that is shown, at least.
        by: the column of groups, if one was named.
        others: how many groups there are beside those of the most rows, which are told apart.
        others_uncounted: whether there are still more, too many to count.
        tests: how many pairs of shares of groups were compared.
        differences: those beyond chance, the surest first.
        over, unit: the column of dates, if one was named, and how long the periods are.
        change: the surest change over time, if one is more than chance.
        unread: what could not be read.
        themes: what people complain about and praise, if themes were looked for.
    """

    source: str
    model: str
    finder: str
    about: tuple[str, ...]
    rows: int
    whole: Tally
    suite: tuple[float, int] | None
    low: Figures
    high: Figures
    middle: int
    aspects: tuple[Tally, ...]
    rare: int
    left_out: dict[str, int]
    without: int
    missed: int
    min_mentions: int
    by: str | None
    others: int
    others_uncounted: bool
    tests: int
    differences: tuple[Difference, ...]
    over: str | None
    unit: Unit | None
    change: Change | None
    unread: tuple[Unread, ...]
    themes: "Themes | None" = None

    @property
    def figures(self) -> Figures:
        """The figures of the texts that could be read."""
        return self.whole.figures

    @property
    def agreement(self) -> float | None:
        """The share of the texts with one, two, four or five stars that are of the stars' side."""
        rated = self.low.texts + self.high.texts
        return (self.low.negative + self.high.positive) / rated if rated else None

    @property
    def better(self) -> dict[tuple[str | None, str], bool]:
        """Whether a group is better or worse than others, by the term and the name of the group."""
        return {
            (term, one.group): one.better
            for one in self.differences
            for term in (one.term, *one.also)
        }

    @property
    def in_short(self) -> tuple[str, ...]:
        """The sentences that a reader should read first."""
        return tuple(in_short(self))

    def to_dict(self) -> dict[str, Any]:
        """The report as data ready for JSON."""
        head = {"kind": "report", "schema_version": SCHEMA, "in_short": [*self.in_short]}
        data: dict[str, Any] = plain(replace(self, themes=None))
        data["themes"] = None if self.themes is None else self.themes.to_dict()
        whole = {name: part for name, part in data.pop("whole").items() if name in _OF_WHOLE}
        return head | data | whole | {"level": LEVEL, "false_discovery_rate": FALSE}

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    def to_csv(self) -> str:
        """The figures as CSV: a row for the texts as a whole, and for each aspect, group and
        period, and for each aspect in a group or period. A cell that does not apply is empty."""
        file, data = io.StringIO(), self.to_dict()
        writer = csv.DictWriter(file, _COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for part in (data, *data["aspects"]):
            aspect = {"aspect": table_cell(part.get("term", ""))}
            writer.writerow(aspect | _cells(part))
            for name, parts in (("group", part["groups"]), ("period", part["periods"])):
                for one in parts:
                    writer.writerow(aspect | _cells(one) | {name: table_cell(one["name"])})
        return file.getvalue()

    def html(self) -> str:
        """The report as one HTML page. It needs no other file and no network; its script sorts and
        filters, and the page reads whole without it."""
        from thinstack.integrations.report.page import render

        return render("page.html", report=self)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, for a notebook."""
        style = "width:100%;height:48rem;border:0"
        return f'<iframe title="Report" srcdoc="{escape(self.html())}" style="{style}"></iframe>'

    def __repr__(self) -> str:
        count = len(self.aspects)
        return f"<Report of {self.source}: {self.figures.texts:,} texts, {count:,} aspects>"


_OF_WHOLE: Final = frozenset(plain(Tally())) - {"term", "names", "mentions", "said"}
_INTERVALS: Final = (*(f"share_{side}" for side in SIDES.values()), "polarity")
_COLUMNS: Final = (
    *("aspect", "group", "period", "mentions", "texts", "negative", "neutral", "positive"),
    *(f"{name}{end}" for name in _INTERVALS for end in ("", "_low", "_high")),
)


def _cells(figures: dict[str, Any]) -> dict[str, Any]:
    """Figures of JSON as cells of CSV."""
    ends = [(figures[name] or {}).get(end) for name in _INTERVALS for end in Interval._fields]
    cells = ["" if number is None else f"{number + 0:.6g}" for number in ends]
    return figures | dict(zip(_COLUMNS[-len(cells) :], cells, strict=True))


def table_cell(text: str) -> str:
    """A text in a table that a spreadsheet may open: it must not be read as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def report_of(
    options: ReportOptions,
    plan: Plan,
    collector: Collector,
    suite: tuple[float, int] | None = None,
    themes: "Themes | None" = None,
) -> Report:
    """The report of what was collected, which is used up. `suite`: how many of so many sentences of
    a suite the model has right, in percent."""
    whole, calendar = collector.all, plan.calendar
    tallies = collector.tallies()
    if not options.about:
        tallies.sort(key=lambda tally: (-tally.figures.texts, tally.term))
    least = 0 if options.about else options.min_mentions
    aspects = [tally for tally in tallies if tally.figures.texts >= least]
    for start in calendar.periods() if calendar else ():
        whole.periods.setdefault(start, Figures())
    for tally in (whole, *aspects):
        tally.order(plan.groups)
    parts: dict[str | None, dict[str, Figures]] = {None: whole.groups}
    parts |= {tally.term: tally.groups for tally in aspects}
    tests, surest = differences(parts if options.by is not None else {})
    courses = {name: collector.courses[name] for name in whole.groups if name in collector.courses}
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
        by=column_name(options.by),
        others=plan.others,
        others_uncounted=plan.uncounted,
        tests=tests,
        differences=surest,
        over=column_name(options.over),
        unit=None if calendar is None else calendar.unit,
        change=change_of(whole.periods, courses, _causes(aspects, whole, themes)),
        unread=collector.unread(),
        themes=themes,
    )


def _causes(aspects: Sequence[Tally], whole: Tally, themes: "Themes | None") -> dict[str, Course]:
    """What may account for a change: complaints, or without themes terms."""
    if themes:
        return {
            f"the theme “{theme.title}”": figures_of(theme.periods)
            for theme in themes
            if theme.side == "negative"
        }
    return {f"“{asked_name(tally.term)}”": _of_all(tally, whole) for tally in aspects}


def _of_all(tally: Tally, whole: Tally) -> Course:
    """The figures of all texts by period, neutral if they do not speak of a term."""
    figures = dict[date, Figures]()
    for start, of in whole.periods.items():
        part = tally.periods.get(start, Figures())
        figures[start] = Figures(part.negative, part.neutral + (of - part).texts, part.positive)
    return figures
