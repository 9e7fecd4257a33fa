"""`Report`: what a table of texts says, as data, as JSON, as CSV and as a page."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from thinstack.integrations.report.figures import (
    AspectFigures,
    Comparison,
    Course,
    Unread,
    attributes,
)
from thinstack.integrations.report.statistics import FALSE, LEVEL
from thinstack.integrations.report.tally import SIDES, Figures

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class Report:
    """What a table of texts says: how many texts, of which side, about what, where and when.

    A notebook shows it as a page. `thinstack.report` makes one of a frame, and `thinstack report`
    one of a file.

    Attributes:
        source: the name of the table.
        model: the name of the model.
        about: the terms that were asked for; none if the model found them.
        rows: how many rows the table has.
        figures: those of the texts that could be read.
        aspects: the terms, those of most texts first.
        rare: how many more terms there are, in fewer than `min_mentions` texts.
        without: texts that speak of no term.
        missed: how many texts more than counted a term may have, where there were very many.
        min_mentions: texts that speak of an aspect that is shown, at least.
        by: the texts by the values of a column, if one was named.
        over: the texts over time, if a column of dates was named.
        unread: what could not be read.
        of_mentions: whether the side of a text is that of most of its mentions of terms, as over
            rows that were scored before; else it is what the model says of the text.
    """

    source: str
    model: str
    about: tuple[str, ...]
    rows: int
    figures: Figures
    aspects: tuple[AspectFigures, ...]
    rare: int
    without: int
    missed: int
    min_mentions: int
    by: Comparison | None
    over: Course | None
    unread: tuple[Unread, ...]
    of_mentions: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The report as data ready for JSON."""
        head = {"kind": "report", "schema_version": SCHEMA}
        return head | attributes(self) | {"level": LEVEL, "false_discovery_rate": FALSE}

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
            names = [_cell(name) for name in (aspect, group, period)]
            writer.writerow([*names, mentions, figures.texts, *figures.counts, *numbers])
        return file.getvalue()

    def _rows(self) -> Iterator[tuple[str, str, str, int | str, Figures]]:
        """Aspect, group, period, mentions and figures of each row of the CSV."""
        yield "", "", "", "", self.figures
        for group in self.by.groups if self.by else ():
            yield "", group.name, "", "", group.figures
        for period in self.over.periods if self.over else ():
            yield "", "", period.start.isoformat(), "", period.figures
        for aspect in self.aspects:
            yield aspect.term, "", "", aspect.mentions, aspect.figures
            for group in aspect.groups:
                yield aspect.term, group.name, "", "", group.figures
            for period in aspect.periods:
                yield aspect.term, "", period.start.isoformat(), "", period.figures

    def html(self) -> str:
        """The report as one HTML page. It needs no other file, no network and no script."""
        from thinstack.integrations.report.page import page

        return page(self)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, for a notebook."""
        style = "width:100%;height:48rem;border:0"
        return f'<iframe title="Report" srcdoc="{escape(self.html())}" style="{style}"></iframe>'

    def __repr__(self) -> str:
        count = len(self.aspects)
        return f"<Report of {self.source}: {self.figures.texts:,} texts, {count:,} aspects>"


_ENDS: Final = ("", "_low", "_high")
_COLUMNS: Final = (
    *("aspect", "group", "period", "mentions", "texts", "negative", "neutral", "positive"),
    *(f"share_{side}{end}" for side in SIDES.values() for end in _ENDS),
    *(f"polarity{end}" for end in _ENDS),
)


def _cell(text: str) -> str:
    """A text in a table that a spreadsheet may open: it must not be read as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
