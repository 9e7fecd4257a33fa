"""`Report`: the opinions in a table of texts as data, JSON, CSV and an HTML page."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from html import escape
from typing import TYPE_CHECKING, Any, Final

from thinstack.data.tables.cell_text import csv_line
from thinstack.integrations.report.collect import Collector, asked_name
from thinstack.integrations.report.dates import Unit
from thinstack.integrations.report.findings import (
    FALSE,
    Change,
    Course,
    Difference,
    change_of,
    differences,
)
from thinstack.integrations.report.plan import Plan
from thinstack.integrations.report.rows import ReportOptions, Unread, column_name
from thinstack.integrations.report.sentences import figures_of, in_short
from thinstack.integrations.report.tally import LEVEL, SIDES, Figures, Interval, Tally, plain

if TYPE_CHECKING:
    from thinstack.integrations.themes.themes import Themes

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class Report:
    """Opinions in a table of texts: counts by polarity, term, group and period.

    Notebooks show it as a page. `thinstack.report` creates one from a frame, and `thinstack report`
    from a file.

    Attributes:
        source: the name of the table.
        model: the name of the model that scores whole texts.
        finder: the name of the model that finds and scores the terms, "" if there is none.
        about: the terms that were requested; empty if the model detected them.
        rows: the number of rows of the table.
        whole: the tally of the texts that could be read, also by group and by period.
        suite: the accuracy of the model on sentences of ten domains (docs/suite.md, `domains`), in
            percent, and the number of sentences; None if unknown.
        low, high, middle: the predictions for texts with one or two stars and with four or five,
            and the number of texts with other ratings.
        aspects: the terms, those in the most texts first.
        rare: the number of other terms, which are in fewer than `min_mentions` texts.
        left_out: terms that are not topics, such as "use", and how often they are mentioned.
        without: the number of texts that mention no term.
        missed: the maximum undercount of a term in texts, if there were too many terms.
        min_mentions: the minimum number of texts that mention a listed aspect.
        by: the column of groups, if any.
        others: the number of groups besides the largest, which are reported separately.
        others_uncounted: whether there are more groups, too many to count.
        tests: the number of pairs of shares of groups that were compared.
        differences: the significant differences, the most significant first.
        over, unit: the column of dates, if any, and the unit of the periods.
        change: the most significant change over time, if any.
        unread: what could not be read.
        themes: complaints and praise, if themes were requested.
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
        """Figures of the texts that could be read."""
        return self.whole.figures

    @property
    def agreement(self) -> float | None:
        """Share of the texts with one, two, four or five stars whose side matches the rating."""
        rated = self.low.texts + self.high.texts
        return (self.low.negative + self.high.positive) / rated if rated else None

    @property
    def better(self) -> dict[tuple[str | None, str], bool]:
        """Whether a group is better or worse than others, by term and name of the group."""
        return {
            (term, one.group): one.better
            for one in self.differences
            for term in (one.term, *one.also)
        }

    @property
    def in_short(self) -> tuple[str, ...]:
        """The key sentences of the report."""
        return tuple(in_short(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON-serializable data."""
        head = {"kind": "report", "schema_version": SCHEMA, "in_short": [*self.in_short]}
        data: dict[str, Any] = plain(replace(self, themes=None))
        data["themes"] = None if self.themes is None else self.themes.to_dict()
        whole = {name: part for name, part in data.pop("whole").items() if name in _OF_WHOLE}
        return head | data | whole | {"level": LEVEL, "false_discovery_rate": FALSE}

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    def to_csv(self) -> str:
        """Return the figures as CSV: one row for all texts, for each aspect, group and period, and
        for each aspect in a group or period. Cells that do not apply are empty."""
        data, rows = self.to_dict(), [dict(zip(_COLUMNS, _COLUMNS, strict=True))]
        for part in (data, *data["aspects"]):
            aspect = {"aspect": table_cell(part.get("term", ""))}
            rows.append(aspect | _cells(part))
            for name, parts in (("group", part["groups"]), ("period", part["periods"])):
                rows += [aspect | _cells(one) | {name: table_cell(one["name"])} for one in parts]
        return "".join(csv_line(map(row.get, _COLUMNS)) for row in rows)

    def html(self) -> str:
        """Return the report as a self-contained HTML page that works offline. Its script only sorts
        and filters; the page is complete without it."""
        from thinstack.integrations.report.page import render

        return render("page.html", report=self)

    def _repr_html_(self) -> str:
        """Return the page in an iframe, for notebooks."""
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
    """Convert figures from JSON to cells of CSV."""
    ends = [(figures[name] or {}).get(end) for name in _INTERVALS for end in Interval._fields]
    cells = ["" if number is None else f"{number + 0:.6g}" for number in ends]
    return figures | dict(zip(_COLUMNS[-len(cells) :], cells, strict=True))


def table_cell(text: str) -> str:
    """Escape a text for a spreadsheet, so that it is not evaluated as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def report_of(
    options: ReportOptions,
    plan: Plan,
    collector: Collector,
    suite: tuple[float, int] | None = None,
    themes: "Themes | None" = None,
) -> Report:
    """Create the report from a collector, which is consumed. `suite`: the accuracy of the model on
    a suite in percent, and the number of sentences."""
    whole, calendar = collector.all, plan.calendar
    tallies = collector.tallies()
    if not options.about:
        tallies.sort(key=lambda tally: (-tally.figures.texts, tally.term))
    least = 0 if options.about else options.min_mentions
    aspects = [tally for tally in tallies if tally.figures.texts >= least]
    for start in calendar.periods() if calendar else ():
        whole.periods.setdefault(start, Figures())
    for tally in (whole, *aspects):
        tally.groups = {name: tally.groups[name] for name in plan.groups if name in tally.groups}
        tally.periods = dict(sorted(tally.periods.items()))
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
    """Return possible causes of a change: complaints, or terms if there are no themes."""
    if themes:
        return {
            f"the theme “{theme.title}”": figures_of(theme.periods)
            for theme in themes
            if theme.side == "negative"
        }
    causes = dict[str, Course]()
    for tally in aspects:  # a text that does not mention a term is neutral
        course = causes[f"“{asked_name(tally.term)}”"] = dict[date, Figures]()
        for start, of in whole.periods.items():
            low, _, high = tally.periods.get(start, Figures()).counts
            course[start] = Figures(low, of.texts - low - high, high)
    return causes
