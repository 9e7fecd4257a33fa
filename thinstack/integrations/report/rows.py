"""The rows of a table as a report reads them: a text, its group and its day, or what is wrong; and
what the text says of terms."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import narwhals as nw
import numpy as np

from thinstack.data.tables.table_rows import (
    Found,
    Record,
    cell_text,
    check_columns,
    is_missing_cell,
    repeats_header,
)
from thinstack.errors import DataError, InputError, escaped, shown
from thinstack.integrations.corpora.inputs import Corpus
from thinstack.integrations.frames import opened_frame, text_cell
from thinstack.integrations.report.dates import cell_of_date, date_of

Kind = Literal["row", "empty", "language", "failed", "group", "date", "stars"]
"""What could not be read: a row, a text that is missing or has no words, one in another language,
one that the model could not score; the group of a text, its date, and its stars."""

PARTS: Final[frozenset[Kind]] = frozenset(("group", "date", "stars"))
"""Kinds of rows whose text counts all the same."""

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

_FRAME_ROWS: Final = 1 << 12
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
    def columns(self) -> list[Any]:
        """The columns that are read, each once."""
        others = (name for name in (self.by, self.over, self.stars) if name is not None)
        return list(dict.fromkeys((self.text, *others)))


def column_name(name: object) -> str:
    """The name of a column as a report writes it; that of several levels on one line."""
    parts = name if isinstance(name, tuple) else (name,)
    return escaped(", ".join(str(part) for part in parts if part != ""))


class Fault(NamedTuple):
    """Why something could not be read; of a group or a date also the cell, "" if it is missing."""

    kind: Kind
    reason: str
    cell: str = ""


class Span(NamedTuple):
    """Characters [start, end) of a sentence."""

    start: int
    end: int


class Mention(NamedTuple):
    """A place where a text speaks of a term.

    Attributes:
        term: the term as it was written, or the pattern that a user has asked for.
        named: whether it is such a pattern.
        side: -1, 0 or 1, what is said of it.
        polarity: the same from -1 to 1.
        sentence: the text of the sentence.
        place, because: where the term stands in the sentence, and the phrase that decides.
        said: the text of that phrase, or None.
        rank: its place among quotes, the lowest first; by default clear sentences come first.
    """

    term: str
    named: bool
    side: int
    polarity: float
    sentence: str
    place: Span
    because: Span | None
    said: str | None
    rank: tuple[int, int] | None = None


def side_of(mentions: Iterable[Mention]) -> int:
    """The side of a text that speaks of a term several times: that of most mentions; 0 where both
    sides have as many."""
    total = sum(mention.side for mention in mentions)
    return (total > 0) - (total < 0)


class TextRow(NamedTuple):
    """A row of a table, and what its text says once it is scored.

    Attributes:
        place: where it is, such as "line 12".
        text: its text; "" if it cannot be read.
        group, day, stars: what stands in these columns, if that can be read.
        faults: what could not be read.
        side, polarity: -1, 0 or 1, what the text says; the same from -1 to 1.
        mentions: the places where it speaks of terms.
    """

    place: str
    text: str
    group: str | None = None
    day: date | None = None
    stars: float | None = None
    faults: tuple[Fault, ...] = ()
    side: int = 0
    polarity: float = 0.0
    mentions: tuple[Mention, ...] = ()

    @property
    def unreadable(self) -> Fault | None:
        """Why its text does not count, or None if it does."""
        return next((fault for fault in self.faults if fault.kind not in PARTS), None)


Source = Callable[[], Iterator[TextRow]]
"""Gives the rows of a table, from the first one at each call."""


def corpus_rows(corpus: Corpus, options: ReportOptions) -> Iterator[TextRow]:
    """The rows of the files of a corpus. Raises DataError for a file that cannot be read, and for
    one without the columns."""
    for name, path in corpus.files.items():
        records = corpus.records(path, options.columns)
        yield from _file_rows(path, records, options, name if corpus.named else "")


def _file_rows(
    path: Path, records: Iterable[Found], options: ReportOptions, name: str
) -> Iterator[TextRow]:
    """The rows of a file. `name`: its name, if there are several."""
    header: list[str] | None = None
    for record in records:
        if isinstance(record, list):
            header = record
            _check_columns(str(path), header, options)
            continue
        problem = record.problem or repeats_header(str(path), header, record)
        place = f"{name}, line {record.line}" if name else f"line {record.line}"
        if problem and (record.problem is None or not record.cells):
            yield TextRow(place, "", faults=(Fault("row", _reason(problem)),))
        else:
            yield _text_row(place, record, options)


def _check_columns(source: str, columns: list[str], options: ReportOptions) -> None:
    """Raise DataError for a table without the columns, and InputError for those of scored rows,
    whose texts may be terms or phrases."""
    if _SCORED.issubset(columns):
        raise InputError(
            f"{source}: contains rows that thinstack has scored, not the texts. Name the table "
            "that was scored"
        )
    check_columns(source, columns, options.columns, options.advice)


def rows_of(frame: Any, options: ReportOptions) -> Source:
    """Gives the rows of a frame, or of a list of texts, which has no other columns. Raises
    InputError for what is neither, and DataError for two columns of one name. The rows raise
    InputError for a cell that is no text, and DataError for a column that is not there."""
    if isinstance(frame, list | tuple):
        return lambda: _listed_rows(frame, options)
    eager = opened_frame(frame)
    return lambda: frame_rows(eager, options)


def _listed_rows(texts: Sequence[Any], options: ReportOptions) -> Iterator[TextRow]:
    for row, cell in enumerate(texts):
        if not (isinstance(cell, str) or is_missing_cell(cell)):
            raise InputError(
                f"row {row}: expected a list of texts, found {shown(cell, 60)}: pass only the "
                "texts, or a frame, such as pandas.DataFrame(rows)"
            )
        yield _text_row(f"row {row}", Record(row, {options.text: cell}), options)


def frame_rows(frame: "nw.DataFrame[Any]", options: ReportOptions) -> Iterator[TextRow]:
    """The rows of a frame. Raises DataError for one without the columns, and InputError for a cell
    in the column of texts that is none."""
    _check_columns("the frame", frame.columns, options)
    names = options.columns
    for start in range(0, len(frame), _FRAME_ROWS):
        part = frame[start : start + _FRAME_ROWS]
        lists = [_cells(part.get_column(name)) for name in names]
        for row, cells in enumerate(zip(*lists, strict=True), start):
            if cells[0] is not None:
                text_cell(frame, options.text, row, cells[0])
            yield _text_row(
                f"row {row}", Record(row, dict(zip(names, cells, strict=True))), options
            )


def _cells(column: "nw.Series[Any]") -> list[Any]:
    """The cells of a column, None for one that is missing; dates that Python cannot hold as
    texts."""
    try:
        cells = column.to_list()
    except (ValueError, OverflowError):
        cells = column.cast(nw.String).to_list()
    pairs = zip(cells, column.is_null().to_list(), strict=True)
    return [None if missing else cell for cell, missing in pairs]


def _text_row(place: str, record: Record, options: ReportOptions) -> TextRow:
    text, group, day, faults = "", None, None, list[Fault]()
    cell = record.cells.get(options.text)
    try:
        text = cell_text(cell)
    except DataError as error:
        fault = Fault("empty", "") if is_missing_cell(cell) else Fault("row", f"the text: {error}")
        faults.append(Fault("row", _reason(record.problem)) if record.problem else fault)
    if options.by is not None:
        cell = record.cells.get(options.by)
        try:
            group = cell_text(cell if isinstance(cell, _READ) else str(cell)).strip()
        except DataError as error:
            faults.append(_fault("group", cell, str(error)))
    if options.over is not None:
        cell = record.cells.get(options.over)
        if (day := date_of(cell, options.dates)) is None:
            faults.append(_fault("date", cell, shown(cell, 60)))
    stars = None
    if options.stars is not None:
        cell = record.cells.get(options.stars)
        if (stars := _stars_of(cell)) is None:
            faults.append(_fault("stars", cell, shown(cell, 60)))
    return TextRow(place, text, group, day, stars, tuple(faults))


def _stars_of(cell: object) -> float | None:
    """The number in a cell, if it is one from 1 to 5."""
    try:
        stars = float(str(cell).strip())
    except ValueError:
        return None
    return stars if 1 <= stars <= 5 else None


def _fault(kind: Kind, cell: object, reason: str) -> Fault:
    if is_missing_cell(cell):
        return Fault(kind, "there is none")
    return Fault(kind, reason, cell_of_date(cell) or reason)


def _reason(error: DataError) -> str:
    """What an error says, without the file and the line, which the place has."""
    return str(error).partition(": ")[2] or str(error)
