"""The rows of a table as a report reads them: a text, its group and its day, or what is wrong; and
what the text says of terms."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from thinstack.data.tables.cell_text import cell_text, is_missing_cell
from thinstack.data.tables.table_rows import Found, Record, check_columns
from thinstack.errors import DataError, InputError, escaped, shown
from thinstack.integrations.corpora.inputs import Columns, Corpus, Row, rows_of
from thinstack.integrations.frames import frame_cells, opened_frame
from thinstack.integrations.report.dates import cell_of_date, date_of
from thinstack.integrations.report.quotes import Quote, Rank

Kind = Literal["row", "empty", "language", "failed", "group", "date", "stars"]
"""What could not be read: a row, a text that is missing or has no words, one in another language,
one that the model could not score; the group of a text, its date, and its stars."""

REASONS: Final[dict[Kind, str]] = {
    "row": "are no rows that can be read",
    "empty": "have no text",
    "language": "may not be in English",
    "failed": "could not be scored",
    "group": "have no value in the column of groups",
    "date": "have no date that can be read",
    "stars": "have no number of stars from 1 to 5",
}
"""What is said of so many rows, by kind."""

_READ: Final = (str, int, float, Decimal, np.generic, bytes, list, dict, type(None))
"""Types of cells that `cell_text` reads or refuses; others, such as bins, are groups as `str`."""

_SCORED: Final = frozenset(("id", "sentence", "start", "end", "text", "label", "polarity"))


class ReportOptions(NamedTuple):
    """What a report is to be about.

    Attributes:
        source: the name of the table.
        model, finder: the names of the models that read whole texts, and find and judge terms.
        text, by, over, stars: the columns of the texts, of their groups, of their dates and of the
            stars that their authors gave. In a frame, a name may be a number, a tuple, or another
            object.
        dates: the format of the dates; None for the usual ones.
        about: the terms that a user names.
        min_mentions: how many texts must speak of an aspect.
        advice: what a user is told to do about a column that is not there.
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
    advice: str = "name the columns with --text, --by, --over and --stars (in Python text= ...)"

    @property
    def parts(self) -> dict[Kind, Any]:
        """The columns beside that of the texts, by what is read of them."""
        columns: dict[Kind, Any] = {"group": self.by, "date": self.over, "stars": self.stars}
        return {kind: column for kind, column in columns.items() if column is not None}

    @property
    def columns(self) -> list[Any]:
        """The columns that are read, each once."""
        return list(dict.fromkeys((self.text, *self.parts.values())))


def column_name(name: object) -> str | None:
    """The name of a column as a report writes it; that of several levels on one line."""
    if name is None:
        return None
    parts = name if isinstance(name, tuple) else (name,)
    return escaped(", ".join(str(part) for part in parts if part != ""))


class Fault(NamedTuple):
    """Why something could not be read; of a group or a date also the cell, "" if it is missing."""

    kind: Kind
    reason: str
    cell: str = ""


class Example(NamedTuple):
    """Where something could not be read, and why."""

    place: str
    reason: str


class Unread(NamedTuple):
    """What could not be read for one reason: how many rows, and the first of them."""

    kind: Kind
    rows: int
    examples: tuple[Example, ...]


class Mention(NamedTuple):
    """A place where a text speaks of a term.

    Attributes:
        term: the term as it was written, or the pattern that a user has asked for.
        polarity: from -1 to 1, what is said of it.
        quote: the whole sentence, with the term and what decides.
        rank: the place of the quote among others; by default clear sentences come first.
    """

    term: str
    polarity: float
    quote: Quote
    rank: Rank | None = None


class TextRow(NamedTuple):
    """A row of a table, and what its text says once it is scored.

    Attributes:
        place: where it is, such as "line 12".
        text: its text; "" if it cannot be read.
        group, day, stars: what stands in these columns, if that can be read.
        faults: what could not be read of these columns.
        unreadable: why its text does not count, or None if it does.
        side, polarity: -1, 0 or 1, what the text says; the same from -1 to 1.
        mentions: the places where it speaks of terms.
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
"""Gives the rows of a table, from the first one at each call."""


def corpus_rows(corpus: Corpus, options: ReportOptions) -> Iterator[TextRow]:
    """The rows of the files of a corpus. Raises DataError for a file that cannot be read, and for
    one without the columns."""
    for name, path in corpus.files.items():
        place = f"{name}, line " if corpus.named else "line "
        yield from _text_rows(str(path), corpus.records(path, options.columns), options, place)


def frame_source(frame: Any, options: ReportOptions) -> Source:
    """Gives the rows of a frame, or of a list of texts, which has no other columns. Raises
    InputError for what is neither, and DataError for two columns of one name, and for a column that
    is not there. The rows raise InputError for a cell that is no text."""
    if isinstance(frame, list | tuple):
        return lambda: _text_rows("the frame", _listed(frame, options.text), options, "row ")
    eager, names = opened_frame(frame), options.columns
    _check_columns("the frame", eager.columns, options)

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
    """Raise DataError for a table without the columns, and InputError for one of scored rows, whose
    texts may be terms or phrases."""
    if _SCORED.issubset(columns):
        raise InputError(
            f"{source}: contains rows that thinstack has scored, not the texts. Name the table "
            "that was scored"
        )
    wanted = [options.text, *options.parts.values()]
    check_columns(source, columns, wanted, options.advice)


def _text_rows(
    source: str, items: Iterable[Found], options: ReportOptions, place: str
) -> Iterator[TextRow]:
    """The rows of a table of this name. `place`: the start of their places."""
    columns, kinds = Columns(options.text, others=tuple(options.parts.values())), [*options.parts]

    def checked() -> Iterator[Found]:
        for item in items:
            if isinstance(item, list):
                _check_columns(source, item, options)
            yield item

    for row in rows_of(source, checked(), columns, prefix=place, advice=options.advice):
        yield _text_row(row, kinds, options.dates)


def _text_row(row: Row, kinds: Sequence[Kind], dates: str | None) -> TextRow:
    """A row whose other cells are of these kinds. `dates`: their format."""
    place, parts, faults = str(row.id), dict[Kind, Any](), list[Fault]()
    if row.problem and row.problem.kind != "missing":  # whose place leads the message
        reason = row.problem.message.partition(": ")[2] or row.problem.message
        return TextRow(place, "", unreadable=Fault("row", reason))
    if not row.text.strip():
        return TextRow(place, "", unreadable=Fault("empty", ""))
    for kind, cell in zip(kinds, row.cells, strict=True):
        parts[kind] = _part(kind, cell, dates)
        if parts[kind] is None and is_missing_cell(cell):
            faults.append(Fault(kind, "there is none"))
        elif parts[kind] is None:
            faults.append(Fault(kind, reason := shown(cell, 60), cell_of_date(cell) or reason))
    group, day, stars = parts.get("group"), parts.get("date"), parts.get("stars")
    return TextRow(place, row.text, group, day, stars, tuple(faults))


def _part(kind: Kind, cell: object, dates: str | None) -> Any:
    """What a cell says; None if it cannot be read."""
    if kind == "date":
        return date_of(cell, dates)
    with suppress(DataError, ValueError):
        if kind == "stars":
            stars = float(str(cell).strip())
            return stars if 1 <= stars <= 5 else None
        return cell_text(cell if isinstance(cell, _READ) else str(cell)).strip()
    return None
