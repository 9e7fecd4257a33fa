"""The rows of a table as a report reads them: a text, its group and its day, or what is wrong."""

from collections.abc import Callable, Iterable, Iterator
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
    is_missing,
    repeats_header,
)
from thinstack.errors import DataError, InputError, escaped, shown
from thinstack.integrations.corpora.inputs import Corpus
from thinstack.integrations.frames import text_cell
from thinstack.integrations.report.periods import cell_of_date, date_of

Kind = Literal["row", "empty", "language", "failed", "group", "date"]
"""What could not be read: a row, a text that is missing or has no words, one in another language,
one that the model could not score; the group of a text, and its date."""

REASONS: Final[dict[Kind, str]] = {
    "row": "are no rows that can be read",
    "empty": "have no text",
    "language": "may not be in English",
    "failed": "could not be scored",
    "group": "have no value in the column of groups",
    "date": "have no date that can be read",
}
"""What is said of so many rows, by kind."""

_READ: Final = (str, int, float, Decimal, np.generic, bytes, list, dict, type(None))
"""Types of cells that `cell_text` reads or refuses; others, such as bins, are groups as `str`."""

_FRAME_ROWS: Final = 1 << 12
_ADVICE: Final = "name the columns with --text, --by and --over (in Python text=, by=, over=)"


class Columns(NamedTuple):
    """The columns of the texts, of their groups, and of their dates, of the format `dates`; and of
    their ids, where texts have some. In a frame, a name may be a number, a tuple, or another
    object."""

    text: Any = "text"
    by: Any = None
    over: Any = None
    dates: str | None = None
    id: str | None = None

    @property
    def names(self) -> list[Any]:
        """The columns that are read, each once."""
        others = (name for name in (self.by, self.over, self.id) if name is not None)
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


class Entry(NamedTuple):
    """A row of a table.

    Attributes:
        place: where it is, such as "line 12".
        text: its text; "" if it cannot be read.
        group, day: what stands in the columns of groups and dates, if that can be read.
        faults: what could not be read.
        id: the content of the column of ids; without one, the line, behind the name of its file if
            there are several.
    """

    place: str
    text: str
    group: str | None = None
    day: date | None = None
    faults: tuple[Fault, ...] = ()
    id: str = ""

    @property
    def unreadable(self) -> Fault | None:
        """Why it has no text, or None if it has one."""
        return next((fault for fault in self.faults if fault.kind in ("row", "empty")), None)


Source = Callable[[], Iterator[Entry]]
"""Gives the rows of a table, from the first one at each call."""


def corpus_entries(corpus: Corpus, columns: Columns) -> Iterator[Entry]:
    """The rows of the files of a corpus. Raises DataError for a file that cannot be read, and for
    one without the columns."""
    for name, path in corpus.files.items():
        records = corpus.records(path, columns.names)
        yield from _entries(path, records, columns, name if corpus.named else "")


def _entries(path: Path, records: Iterable[Found], columns: Columns, name: str) -> Iterator[Entry]:
    """The rows of a file. `name`: its name, if there are several."""
    known: list[str] | None = None
    for one in records:
        if isinstance(one, list):
            _check_unscored(str(path), one)
            check_columns(str(path), one, columns.names, _ADVICE)
            known = one
            continue
        problem = one.problem or repeats_header(str(path), known, one)
        place = f"{name}, line {one.line}" if name else f"line {one.line}"
        if problem and (one.problem is None or not one.cells):
            yield Entry(place, "", faults=(Fault("row", _reason(problem)),))
            continue
        own = f"{name}:{one.line}" if name else f"{one.line}"
        id = own if columns.id is None else _id(one, columns.id)
        yield _entry(place, one, columns)._replace(id=id)


def _check_unscored(source: str, columns: Iterable[object]) -> None:
    """Raise InputError for the columns of scored rows, whose texts may be terms or phrases."""
    if {"id", "sentence", "start", "end", "text", "label", "polarity"}.issubset(columns):
        raise InputError(
            f"{source}: holds rows that thinstack has scored, not the texts. Report on the table "
            "that was scored, or score it into a folder (--output aspects --out FOLDER) and report "
            "on that"
        )


def _id(record: Record, column: str) -> str:
    """The id of a row; "" if it cannot be read, and the row was not scored."""
    try:
        return cell_text(record.cells.get(column))
    except DataError:
        return ""


def frame_entries(frame: "nw.DataFrame[Any]", columns: Columns) -> Iterator[Entry]:
    """The rows of a frame. Raises DataError for one without the columns, and InputError for a cell
    in the column of texts that is none."""
    _check_unscored("the frame", frame.columns)
    check_columns("the frame", frame.columns, columns.names, _ADVICE)
    names = columns.names
    for start in range(0, len(frame), _FRAME_ROWS):
        part = frame[start : start + _FRAME_ROWS]
        lists = [_cells(part.get_column(name)) for name in names]
        for row, cells in enumerate(zip(*lists, strict=True), start):
            if cells[0] is not None:
                text_cell(frame, columns.text, row, cells[0])
            yield _entry(f"row {row}", Record(row, dict(zip(names, cells, strict=True))), columns)


def _cells(column: "nw.Series[Any]") -> list[Any]:
    """The cells of a column, None for one that is missing; dates that Python cannot hold as
    texts."""
    try:
        cells = column.to_list()
    except (ValueError, OverflowError):
        cells = column.cast(nw.String).to_list()
    pairs = zip(cells, column.is_null().to_list(), strict=True)
    return [None if missing else cell for cell, missing in pairs]


def _entry(place: str, record: Record, columns: Columns) -> Entry:
    faults = list[Fault]()
    text = _text(record, columns.text, faults)
    group = None if columns.by is None else _group(record.cells.get(columns.by), faults)
    day = None
    if columns.over is not None:
        cell = record.cells.get(columns.over)
        if (day := date_of(cell, columns.dates)) is None:
            faults.append(_fault("date", cell, shown(cell, 60)))
    return Entry(place, text, group, day, tuple(faults))


def _text(record: Record, column: str, faults: list[Fault]) -> str:
    value = record.cells.get(column)
    try:
        return cell_text(value)
    except DataError as error:
        found = Fault("empty", "") if _empty(value) else Fault("row", f"the text: {error}")
        faults.append(Fault("row", _reason(record.problem)) if record.problem else found)
        return ""


def _group(value: object, faults: list[Fault]) -> str | None:
    try:
        return cell_text(value if isinstance(value, _READ) else str(value)).strip()
    except DataError as error:
        faults.append(_fault("group", value, str(error)))
        return None


def _fault(kind: Kind, cell: object, reason: str) -> Fault:
    if _empty(cell):
        return Fault(kind, "there is none")
    return Fault(kind, reason, cell_of_date(cell) or reason)


def _empty(value: object) -> bool:
    if isinstance(value, str):
        return not value.strip() or is_missing(value)
    return value is None or value != value


def _reason(error: DataError) -> str:
    """What an error says, without the file and the line, which the place has."""
    return str(error).partition(": ")[2] or str(error)
