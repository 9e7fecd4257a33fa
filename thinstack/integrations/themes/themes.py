"""`Themes`: complaints and praise in the texts of a table, as data, HTML page and per row."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from datetime import date
from html import escape
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

import narwhals as nw
import numpy as np

from thinstack.errors import InputError, shown
from thinstack.integrations.report.dates import Unit
from thinstack.integrations.report.rows import Quote, Unread
from thinstack.integrations.report.sentences import texts, trend
from thinstack.integrations.report.tally import LEVEL, Figures, Interval, Side, plain
from thinstack.integrations.show.marks import visible
from thinstack.integrations.themes.matching import Matches

SCHEMA: Final = 1

TITLES: Final[dict[Side, str]] = {
    "negative": "What people complain about",
    "positive": "What people praise",
}
_BACKENDS: Final = ("pandas", "polars", "pyarrow")
_OF_ROWS: Final = frozenset(("matches", "backend", "text_of"))
_COLUMNS: Final = ("side", "theme", "words", "texts", "share", "share_low", "share_high", "quote")
_INDENT: Final = " " * 16
_GROUPS: Final = 6  # groups per line


class Match(NamedTuple):
    """A theme of a text, with the characters [start, end) of the matching phrase and its similarity
    to the theme."""

    theme: str
    phrase: str
    start: int
    end: int
    similarity: float


class Part(NamedTuple):
    """The texts of a theme in a group or a period.

    Attributes:
        name: the name of the group, or the first day of the period.
        texts: the number of its texts that have the theme.
        of: the number of its texts that were counted.
        share: `texts` as a share of `of`.
    """

    name: str | date
    texts: int
    of: int
    share: Interval

    @property
    def figures(self) -> Figures:
        """Figures of all its texts: negative with the theme, neutral without."""
        return Figures(self.texts, self.of - self.texts)


@dataclass(frozen=True, slots=True)
class Theme:
    """Texts that express the same opinion.

    Attributes:
        title: your name for it; otherwise a clause from one of the texts.
        side: "negative" for complaints, "positive" for praise; None if it may be either.
        words: at most five typical words.
        figures: figures of its texts.
        share: their share of all texts, with a 95% confidence interval.
        quotes: sentences with the phrase that belongs to it (`term`), the most similar first.
        groups, periods: its figures by group and over time.
        examples: examples to name it by in another table (`Themes.names`).
    """

    title: str
    side: Side | None
    words: tuple[str, ...]
    figures: Figures
    share: Interval
    quotes: tuple[Quote, ...]
    groups: tuple[Part, ...]
    periods: tuple[Part, ...]
    examples: tuple[str, ...]


class SideFigures(NamedTuple):
    """The texts that complain, or that praise.

    Attributes:
        side: "negative" or "positive".
        texts: the number of texts.
        share: their share of all texts.
        other: the share that has an opinion on a topic, but no theme that is shown.
        general: the share that only has an opinion without a topic, such as "the worst".
    """

    side: Side
    texts: int
    share: Interval
    other: Interval
    general: Interval


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Themes:
    """The themes of a table of texts: complaints first, then praise, the most frequent first.

    Iterate over it to get each `Theme`; `themes["late"]` returns the theme with that name.
    Notebooks show it as a page.

    Attributes:
        source, model: the names of the table and of the model.
        rows: number of rows of the table.
        counted: number of rows whose texts were counted; reports use an even subsample.
        named: whether you named the themes; otherwise they were found.
        figures: figures of the readable texts.
        themes: the themes that are shown.
        sides: number of texts that complain and praise, and how many of them have no theme.
        by, over, unit: the columns of groups and dates, and the unit of time.
        unread: rows that could not be read.
        products: product names, which do not count as topics.
    """

    source: str
    model: str
    rows: int
    counted: int
    named: bool
    figures: Figures
    themes: tuple[Theme, ...]
    sides: tuple[SideFigures, ...]
    by: str | None
    over: str | None
    unit: Unit | None
    unread: tuple[Unread, ...]
    products: tuple[str, ...]
    matches: Matches
    backend: Any = None
    text_of: Callable[[int], str] | None = None

    def __iter__(self) -> Iterator[Theme]:
        return iter(self.themes)

    def __len__(self) -> int:
        return len(self.themes)

    def __getitem__(self, name: str) -> Theme:
        return {theme.title: theme for theme in self.themes}[name]

    @property
    def labels(self) -> list[str | None]:
        """Return the name of the best theme of each row, or None, in the order of the table. Raises
        InputError if not all rows were counted."""
        self._check_counted()
        labels: list[str | None] = [None] * self.rows
        _, best = np.unique(self.matches["row"], return_index=True)
        for row, theme, *_ in self.matches[best].tolist():
            labels[row] = self.themes[theme].title
        return labels

    def of(self, row: int) -> list[Match]:
        """Return the themes of a row, counted from 0, the best first. Raises InputError for a row
        out of range, for themes of a file, whose texts are not in memory, and if not all rows were
        counted."""
        self._check_counted()
        if not isinstance(row, int | np.integer) or not 0 <= row < self.rows:
            raise InputError(f"expected a row from 0 to {self.rows - 1}, found {shown(row, 60)}")
        if self.text_of is None:
            raise InputError(
                "the texts of a file are not kept in memory: read it into a frame, or write "
                "its rows with thinstack themes --out"
            )
        return self.matches_of(row, self.text_of(int(row)))

    @property
    def texts_counted(self) -> str:
        """The texts that shares refer to, such as "9,980 texts"."""
        count = texts(self.figures.texts)
        if self.counted == self.rows:
            return count
        return f"{count} in {self.counted:,} of the {self.rows:,} rows, evenly spread"

    def _check_counted(self) -> None:
        if self.counted < self.rows:
            raise InputError(
                f"the themes of a report are counted in {self.counted:,} of {self.rows:,} rows: "
                "use thinstack.themes for the themes of each row"
            )

    def matches_of(self, row: int, text: str) -> list[Match]:
        """Return the matches of a row with this text; see `of`."""
        first, behind = np.searchsorted(self.matches["row"], (row, row + 1))
        return [
            Match(self.themes[theme].title, text[start:end], start, end, round(similarity, 4))
            for _, theme, _, similarity, _, start, end in self.matches[first:behind].tolist()
        ]

    def names(self) -> dict[str, list[str]]:
        """Examples by theme. Pass them as `names` to track the same themes in other tables."""
        return {theme.title: list(theme.examples) for theme in self.themes}

    def to_dict(self) -> dict[str, Any]:
        """Return the themes as JSON-serializable data, without the themes of single rows."""
        names = [part.name for part in fields(self) if part.name not in _OF_ROWS]
        data = {name: plain(getattr(self, name)) for name in names}
        return {"kind": "themes", "schema_version": SCHEMA} | data | {"level": LEVEL}

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    def to_frame(self) -> Any:
        """Return a frame with one row per theme, of the library of the input frame, otherwise of
        pandas, polars or pyarrow: `side`, `theme`, `words`, `texts`, `share`, `share_low`,
        `share_high` and `quote`. Raises InputError if none of these is installed."""
        backend: Any = self.backend or next(filter(find_spec, _BACKENDS), None)
        if backend is None:
            raise InputError("to_frame needs a dataframe library: pip install pandas")
        rows = list[tuple[Any, ...]]()
        for theme in self.themes:
            start = theme.side, theme.title, ", ".join(theme.words), theme.figures.texts
            rows.append((*start, *theme.share, theme.quotes[0].text if theme.quotes else None))
        columns = {name: [row[place] for row in rows] for place, name in enumerate(_COLUMNS)}
        return nw.from_dict(columns, backend=backend).to_native()

    def html(self) -> str:
        """Return the themes as a single HTML page without scripts that works offline."""
        from thinstack.integrations.report.page import render

        return render("themes_page.html", themes=self)

    def _repr_html_(self) -> str:
        """Return the page in an iframe, for notebooks."""
        style = "width:100%;height:48rem;border:0"
        return f'<iframe title="Themes" srcdoc="{escape(self.html())}" style="{style}"></iframe>'

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, *, quotes: bool = False) -> Iterator[str]:
        """Yield the themes as lines of text, optionally with their quotes and by group."""
        source = visible(f"{self.source}, by the model {self.model}")
        yield f"Themes of {self.texts_counted} of {source}"
        for figures, themes in self.by_side():
            yield "" if figures is None else f"\n{TITLES[figures.side]}: {rest(figures)}"
            for theme in themes:
                words = f" ({', '.join(theme.words)})" if theme.words else ""
                share = f"{one_decimal(theme.share.value):>6} {theme.figures.texts:>7,}"
                yield f"{share}  {visible(theme.title + words)}"
                yield from self._more(theme) if quotes else ()
            if not themes:
                yield "  no theme is in enough texts"

    def trend(self, theme: Theme) -> str:
        """Describe when a theme became significantly more or less frequent: "14% from Jul 2024 on,
        compared with 2% before". Return "" if there is no significant change."""
        return trend(theme.periods, self.unit, len(self.themes)) if self.unit else ""

    def _more(self, theme: Theme) -> Iterator[str]:
        if change := self.trend(theme):
            yield f"{_INDENT}{change}"
        if self.by is not None:
            shown = [f"{part.name} {one_decimal(part.share.value)}" for part in theme.groups]
            shown[_GROUPS:] = ["..."] * (len(shown) > _GROUPS)
            yield _INDENT + visible(f"by {self.by}: {', '.join(shown)}")
        for quote in theme.quotes:
            yield _INDENT + visible(f"“{quote.text}” ({quote.place})")

    def by_side(self) -> list[tuple[SideFigures | None, list[Theme]]]:
        """Group themes by side, with the figures of the side; a user's themes are one group."""
        if self.named:
            return [(None, list(self.themes))]
        return [
            (one, [some for some in self.themes if some.side == one.side]) for one in self.sides
        ]


def one_decimal(share: float) -> str:
    """Format a share, such as "1.7%"."""
    return f"{100 * share:.1f}%"


def rest(figures: SideFigures) -> str:
    """Describe how many texts take a side, and how many of them have no theme."""
    share, other, general = (one_decimal(one.value) for one in figures[2:])
    return f"{share} of the texts ({other} about other matters, {general} in general)"
