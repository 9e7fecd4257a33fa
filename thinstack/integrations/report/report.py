"""`Report`: what a table of texts says, as data, as JSON, as CSV and as a page."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, Final

from thinstack.integrations.report.calendar import Unit
from thinstack.integrations.report.figures import Unread, plain
from thinstack.integrations.report.findings import Change, Difference
from thinstack.integrations.report.sentences import in_short
from thinstack.integrations.report.statistics import FALSE, LEVEL
from thinstack.integrations.report.tally import SIDES, Figures, Tally

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
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for aspect, group, period, mentions, figures in self._rows():
            intervals = [*map(figures.share, SIDES.values()), figures.polarity]
            ends = [end for interval in intervals for end in interval or (None, None, None)]
            numbers = ["" if end is None else f"{round(end, 6) + 0:.6g}" for end in ends]
            names = [table_cell(name) for name in (aspect, group, period)]
            writer.writerow([*names, mentions, figures.texts, *figures.counts, *numbers])
        return file.getvalue()

    def _rows(self) -> Iterator[tuple[str, str, str, int | str, Figures]]:
        """Aspect, group, period, mentions and figures of each row of the CSV."""
        for tally in (self.whole, *self.aspects):
            yield tally.term, "", "", tally.mentions if tally.term else "", tally.figures
            for name, figures in tally.groups.items():
                yield tally.term, name, "", "", figures
            for start, figures in tally.periods.items():
                yield tally.term, "", start.isoformat(), "", figures

    def html(self) -> str:
        """The report as one HTML page. It needs no other file and no network; its script sorts and
        filters, and the page reads whole without it."""
        from thinstack.integrations.report.page import page

        return page(self)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, for a notebook."""
        style = "width:100%;height:48rem;border:0"
        return f'<iframe title="Report" srcdoc="{escape(self.html())}" style="{style}"></iframe>'

    def __repr__(self) -> str:
        count = len(self.aspects)
        return f"<Report of {self.source}: {self.figures.texts:,} texts, {count:,} aspects>"


_OF_WHOLE: Final = frozenset(plain(Tally())) - {"term", "names", "mentions", "said"}
_ENDS: Final = ("", "_low", "_high")
_COLUMNS: Final = (
    *("aspect", "group", "period", "mentions", "texts", "negative", "neutral", "positive"),
    *(f"share_{side}{end}" for side in SIDES.values() for end in _ENDS),
    *(f"polarity{end}" for end in _ENDS),
)


def table_cell(text: str) -> str:
    """A text in a table that a spreadsheet may open: it must not be read as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
