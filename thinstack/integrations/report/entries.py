"""The rows of a table as a report reads them: a text, its group and its day, or what is wrong."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import narwhals as nw

from thinstack.data.tables.table_rows import (
    Found,
    Record,
    cell_text,
    check_columns,
    is_missing,
    repeats_header,
)
from thinstack.errors import DataError, InputError, shown
from thinstack.integrations.corpora.inputs import Corpus
from thinstack.integrations.report.periods import Calendar, date_of

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

MOST_GROUPS: Final = 50
"""Groups that are told apart, those of the most rows."""

_MOST_NAMES: Final = 100_000  # different groups that are counted to find these
_LONGEST_NAME: Final = 80  # characters of the name of a group
_FRAME_ROWS: Final = 1 << 12
_ADVICE: Final = (
    "name the columns with --text-column, --by and --over (in Python text=, by=, over=)"
)


class Columns(NamedTuple):
    """The columns of the texts, of their groups, and of their dates, of the format `dates`; and of
    their ids, where texts are looked for by them."""

    text: str = "text"
    by: str | None = None
    over: str | None = None
    dates: str | None = None
    id: str | None = None

    @property
    def names(self) -> list[str]:
        """The columns that are read, each once."""
        return list(
            dict.fromkeys(name for name in (self.text, self.by, self.over, self.id) if name)
        )


class Fault(NamedTuple):
    """Why something could not be read."""

    kind: Kind
    reason: str


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
            check_columns(str(path), one, columns.names, _ADVICE)
            known = one
            continue
        problem = one.problem or repeats_header(str(path), known, one)
        place = f"{name}, line {one.line}" if name else f"line {one.line}"
        if problem and (one.problem is None or not one.cells):
            yield Entry(place, "", faults=(Fault("row", _reason(problem)),))
            continue
        own = f"{name}:{one.line}" if name else f"{one.line}"
        yield _entry(place, one, columns)._replace(id=_id(one, columns.id) if columns.id else own)


def _id(record: Record, column: str) -> str:
    """The id of a row; "" if it cannot be read, and the row was not scored."""
    try:
        return cell_text(record.cells.get(column))
    except DataError:
        return ""


def frame_entries(frame: "nw.DataFrame[Any]", columns: Columns) -> Iterator[Entry]:
    """The rows of a frame. Raises DataError for one without the columns."""
    check_columns("the frame", frame.columns, columns.names, _ADVICE)
    names = columns.names
    for start in range(0, len(frame), _FRAME_ROWS):
        part = frame[start : start + _FRAME_ROWS]
        lists = [_cells(part.get_column(name)) for name in names]
        for row, cells in enumerate(zip(*lists, strict=True), start):
            yield _entry(f"row {row}", Record(row, dict(zip(names, cells, strict=True))), columns)


def _cells(column: "nw.Series[Any]") -> list[Any]:
    """The cells of a column, None for one that is missing."""
    pairs = zip(column.to_list(), column.is_null().to_list(), strict=True)
    return [None if missing else cell for cell, missing in pairs]


def _entry(place: str, record: Record, columns: Columns) -> Entry:
    faults = list[Fault]()
    text = _text(record, columns.text, faults)
    group = _group(record.cells.get(columns.by), faults) if columns.by else None
    day = None
    if columns.over:
        cell = record.cells.get(columns.over)
        if (day := date_of(cell, columns.dates)) is None:
            faults.append(Fault("date", "there is none" if _empty(cell) else shown(cell, 60)))
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
        return cell_text(str(value) if isinstance(value, date) else value).strip()[:_LONGEST_NAME]
    except DataError as error:
        faults.append(Fault("group", "there is none" if _empty(value) else str(error)))
        return None


def _empty(value: object) -> bool:
    if isinstance(value, str):
        return not value.strip() or is_missing(value)
    return value is None or value != value


def _reason(error: DataError) -> str:
    """What an error says, without the file and the line, which the place has."""
    return str(error).partition(": ")[2] or str(error)


class Plan(NamedTuple):
    """What is known of a table before its texts are scored.

    Attributes:
        rows: how many it has.
        groups: those that are told apart, of the most rows first.
        others: how many more groups there are.
        calendar: the periods that texts are counted by, if they have dates.
    """

    rows: int
    groups: tuple[str, ...] = ()
    others: int = 0
    calendar: Calendar | None = None


def plan_of(source: Source, columns: Columns, tell: Callable[[int], None]) -> Plan:
    """Reads a table once, and tells the number of its rows as it grows.

    Raises InputError for a table without rows, and for a column without any group or date: it would
    be too late to say so when all texts are scored.
    """
    rows, names, days = 0, Counter[str](), Counter[date]()
    for rows, entry in enumerate(source(), 1):
        if entry.group is not None and (len(names) < _MOST_NAMES or entry.group in names):
            names[entry.group] += 1
        if entry.day is not None:
            days[entry.day] += 1
        if rows % 10_000 == 0:
            tell(rows)
    if not rows:
        raise InputError("expected a table with rows of texts, found no row: nothing to report")
    if columns.by and not names:
        raise InputError(f"expected groups in the column {columns.by!r}, found no value in any row")
    if columns.over and not days:
        raise InputError(_no_dates(source, columns))
    order = sorted(names, key=lambda name: (-names[name], name))
    groups = tuple(order[:MOST_GROUPS])
    return Plan(rows, groups, len(order) - len(groups), Calendar.of(days))


def _no_dates(source: Source, columns: Columns) -> str:
    faults: Sequence[Fault] = next(source()).faults
    found = next((fault.reason for fault in faults if fault.kind == "date"), "none")
    expected = "dates such as 2024-03-09, 9 March 2024 or Mar 9, 2024"
    if columns.dates:
        expected = f"dates of the format {columns.dates!r}"
    return (
        f"expected {expected} in the column {columns.over!r}, found none; in the first row: "
        f"{found}. Say how they are written, such as --dates %d/%m/%Y (in Python dates=)"
    )
