"""The rows of a table for a report: the text, group and date, faults, and the mentions of terms."""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import Any, Final, Literal, NamedTuple, Self

import numpy as np

from thinstack.data.tables.cell_text import cell_text, is_missing_cell
from thinstack.data.tables.table_rows import Found, Record, check_columns
from thinstack.errors import DataError, InputError, escaped, shown
from thinstack.integrations.corpora.inputs import Columns, Corpus, Row, rows_of
from thinstack.integrations.frames import frame_cells, opened_frame
from thinstack.integrations.report.dates import cell_of_date, date_of

Kind = Literal["row", "empty", "language", "failed", "group", "date", "stars"]
"""Kinds of faults: a bad row; a text that is missing, without words, in another language, or that
the model could not score; an unreadable group, date or rating."""

REASONS: Final[dict[Kind, str]] = {
    "row": "cannot be read",
    "empty": "have no text",
    "language": "may not be in English",
    "failed": "could not be scored",
    "group": "have no value in the group column",
    "date": "have no readable date",
    "stars": "have no rating from 1 to 5 stars",
}
"""Message for a number of rows, by kind."""

_READ: Final = (str, int, float, Decimal, np.generic, bytes, list, dict, type(None))
"""Types of cells that `cell_text` accepts or rejects; others, such as bins, use `str`."""

MOST_CHARACTERS: Final = 280
"""Maximum length of a quote in characters, approximately."""

_WORDS: Final = range(5, 31)  # words of a preferred sentence
_CLEAR: Final = 0.5  # minimum polarity of a quote that is clearly positive or negative
_DOTS: Final = "… "

Rank = tuple[int, int]
"""The rank of a quote; those with the lowest ranks are kept."""

_SCORED: Final = frozenset(("id", "sentence", "start", "end", "text", "label", "polarity"))


class ReportOptions(NamedTuple):
    """The options of a report.

    Attributes:
        source: the name of the table.
        model, finder: the names of the models that score whole texts, and that find and score
            terms.
        text, by, over, stars: the columns of texts, groups, dates and the authors' ratings in
            stars. In a frame, a column name may be a number, a tuple, or another object.
        dates: the date format; None for the default formats.
        about: the terms that a user names.
        min_mentions: the minimum number of texts that mention an aspect.
        advice: the advice in the error for a missing column.
    """

    source: str
    model: str = ""
    text: Any = "text"
    by: Any = None
    over: Any = None
    dates: str | None = None
    about: tuple[str, ...] = ()
    min_mentions: int = 5
    stars: Any = None
    finder: str = ""
    advice: str = "set the columns with --text, --by, --over and --stars (in Python text= ...)"

    @property
    def parts(self) -> dict[Kind, Any]:
        """The columns other than that of the texts, by kind."""
        columns: dict[Kind, Any] = {"group": self.by, "date": self.over, "stars": self.stars}
        return {kind: column for kind, column in columns.items() if column is not None}

    @property
    def columns(self) -> list[Any]:
        """The columns to read, without duplicates."""
        return list(dict.fromkeys((self.text, *self.parts.values())))


def column_name(name: object) -> str | None:
    """Return the name of a column as a report shows it; several levels are joined on one line."""
    if name is None:
        return None
    parts = name if isinstance(name, tuple) else (name,)
    return escaped(", ".join(str(part) for part in parts if part != ""))


class Fault(NamedTuple):
    """Why something could not be read; for a group or a date with the cell, "" if missing."""

    kind: Kind
    reason: str
    cell: str = ""


class Example(NamedTuple):
    """The position of something that could not be read, and why."""

    place: str
    reason: str


class Unread(NamedTuple):
    """The rows that could not be read for one reason: their number and the first of them."""

    kind: Kind
    rows: int
    examples: tuple[Example, ...]


class Span(NamedTuple):
    """The characters [start, end) of a text."""

    start: int
    end: int

    def shifted(self, by: int) -> Self:
        """Return the span moved right by so many characters."""
        return self._replace(start=self.start + by, end=self.end + by)


class Quote(NamedTuple):
    """A quoted text, or the sentence that mentions a term.

    Attributes:
        text: the sentence, or a part of it.
        term, because: the spans of the term and of the phrase that decides, if any.
        side: -1, 0 or 1.
        place: the position of the text in its table, such as "line 12".
    """

    text: str
    term: Span | None
    because: Span | None
    side: int
    place: str

    def rank(self, polarity: float) -> Rank:
        """Rank the quote. Clearly positive or negative texts of a readable length, with a deciding
        phrase, come first; the `lot` orders the others."""
        plain = len(self.text.split(maxsplit=_WORDS.stop)) in _WORDS
        clear = not self.side or abs(polarity) >= _CLEAR
        why = self.side != 0 if self.term is None else self.because is not None
        return 3 - plain - clear - why, self.lot

    @property
    def lot(self) -> int:
        """A pseudo-random number for sampling: a checksum of the text."""
        return zlib.crc32(self.text.encode("utf-8", "surrogatepass"))

    def shortened(self) -> Self:
        """Shorten the quote to about `MOST_CHARACTERS`: a text to its beginning, a sentence to the
        words around the term and, if they fit, the deciding phrase."""
        text, because = self.text, self.because
        if len(text) <= MOST_CHARACTERS:
            return self
        first, last = self.term or (0, 0)
        if because and max(last, because.end) - min(first, because.start) <= MOST_CHARACTERS:
            first, last = min(first, because.start), max(last, because.end)
        else:
            because = None
        room = max(MOST_CHARACTERS - (last - first), 0) // (2 if self.term else 1)
        start = text.find(" ", max(first - room - 1, 0), first) + 1 or first
        end = text.rfind(" ", last, last + room)
        start, end = 0 if first <= room else start, len(text) if last + room >= len(text) else end
        end = last if end < 0 else end
        cut = f"{_DOTS * (start > 0)}{text[start:end]}{_DOTS[::-1] * (end < len(text))}"
        shift = len(_DOTS) * (start > 0) - start
        term, why = (span and span.shifted(shift) for span in (self.term, because))
        return self._replace(text=cut, term=term, because=why)


class Mention(NamedTuple):
    """A mention of a term in a text.

    Attributes:
        term: the term as written, or the pattern that a user requested.
        polarity: the polarity of the opinion about it, from -1 to 1.
        quote: the whole sentence, with the term and the deciding phrase.
        rank: the rank of the quote; by default clear sentences come first.
    """

    term: str
    polarity: float
    quote: Quote
    rank: Rank | None = None


class TextRow(NamedTuple):
    """A row of a table, and the opinions in its text once it is scored.

    Attributes:
        place: the position of the row, such as "line 12".
        text: its text; "" if it cannot be read.
        group, day, stars: the values of these columns, if they can be read.
        faults: the errors in these columns.
        unreadable: why the text does not count, or None if it does.
        side, polarity: the polarity of the text as -1, 0 or 1, and from -1 to 1.
        mentions: the mentions of terms.
    """

    place: str
    text: str
    group: str | None = None
    day: date | None = None
    stars: float | None = None
    faults: tuple[Fault, ...] = ()
    unreadable: Fault | None = None
    side: int = 0
    polarity: float = 0.0
    mentions: tuple[Mention, ...] = ()


Source = Callable[[], Iterator[TextRow]]
"""A function that returns the rows of a table, from the first at each call."""


def corpus_rows(corpus: Corpus, options: ReportOptions) -> Iterator[TextRow]:
    """Yield the rows of the files of a corpus. Raises DataError for a file that cannot be read, and
    for a missing column."""
    for name, path in corpus.files.items():
        place = f"{name}, line " if corpus.named else "line "
        yield from _text_rows(str(path), corpus.records(path, options.columns), options, place)


def frame_source(frame: Any, options: ReportOptions) -> Source:
    """Return the source of a frame, or of a list of texts, which has no other columns. Raises
    InputError for other types, and DataError for duplicate or missing columns. The rows raise
    InputError for a cell that is not text."""
    if isinstance(frame, list | tuple):
        return lambda: _text_rows("the frame", _listed(frame, options.text), options, "row ")
    eager = opened_frame(frame)
    _check_columns("the frame", eager.columns, options)
    names = options.columns

    def rows() -> Iterator[TextRow]:
        cells = enumerate(frame_cells(eager, names))
        records = (Record(row, dict(zip(names, some, strict=True))) for row, some in cells)
        return _text_rows("the frame", records, options, "row ")

    return rows


def _listed(texts: Sequence[Any], column: Any) -> Iterator[Found]:
    for row, cell in enumerate(texts):
        if not (isinstance(cell, str) or is_missing_cell(cell)):
            raise InputError(
                f"row {row}: expected a list of texts, found {shown(cell, 60)}: pass only the "
                "texts, or a frame, such as pandas.DataFrame(rows)"
            )
        yield Record(row, {column: cell})


def _check_columns(source: str, columns: list[Any], options: ReportOptions) -> None:
    """Raise DataError for a missing column, and InputError for a table of scored rows, whose texts
    may be terms or phrases."""
    if _SCORED.issubset(columns):
        raise InputError(
            f"{source}: contains scores from thinstack, not texts. Pass the table that was scored"
        )
    wanted = [options.text, *options.parts.values()]
    check_columns(source, columns, wanted, options.advice)


def _text_rows(
    source: str, items: Iterable[Found], options: ReportOptions, place: str
) -> Iterator[TextRow]:
    """Yield the rows of the named table. `place`: the prefix of their positions."""
    columns, kinds = Columns(options.text, others=tuple(options.parts.values())), [*options.parts]

    def checked() -> Iterator[Found]:
        for item in items:
            if isinstance(item, list):
                _check_columns(source, item, options)
            yield item

    for row in rows_of(source, checked(), columns, prefix=place, advice=options.advice):
        yield _text_row(row, kinds, options.dates)


def _text_row(row: Row, kinds: Sequence[Kind], dates: str | None) -> TextRow:
    """Convert a row whose other cells are of these kinds. `dates`: the date format."""
    place, parts, faults = str(row.id), dict[Kind, Any](), list[Fault]()
    if row.problem and row.problem.kind != "missing":  # the message begins with the position
        reason = row.problem.message.partition(": ")[2] or row.problem.message
        return TextRow(place, "", unreadable=Fault("row", reason))
    if not row.text.strip():
        return TextRow(place, "", unreadable=Fault("empty", ""))
    for kind, cell in zip(kinds, row.cells, strict=True):
        parts[kind] = _part(kind, cell, dates)
        if parts[kind] is None and is_missing_cell(cell):
            faults.append(Fault(kind, "empty"))
        elif parts[kind] is None:
            faults.append(Fault(kind, reason := shown(cell, 60), cell_of_date(cell) or reason))
    group, day, stars = parts.get("group"), parts.get("date"), parts.get("stars")
    return TextRow(place, row.text, group, day, stars, tuple(faults))


def _part(kind: Kind, cell: object, dates: str | None) -> Any:
    """Parse a cell; None if it cannot be read."""
    if kind == "date":
        return date_of(cell, dates)
    with suppress(DataError, ValueError):
        if kind == "stars":
            stars = float(str(cell).strip())
            return stars if 1 <= stars <= 5 else None
        return cell_text(cell if isinstance(cell, _READ) else str(cell)).strip()
    return None
