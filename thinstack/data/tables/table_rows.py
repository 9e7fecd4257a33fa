"""Check the rows of a table: each must have a text in every required column."""

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final, NamedTuple, TypedDict, Unpack

from thinstack.data.tables.cell_text import Classes, MissingCellError, cell_text, is_no_class
from thinstack.errors import DataError, shown

COLUMN_ADVICE = "set the columns with --text and --label (in Python text= and label=)"
_NAMED = re.compile(r"\.(jsonl?|ndjson|parquet|spacy)(\.\w+)?$|^(the frame|rows)$")
"""Sources whose rows name their columns, so that a header cannot be missing."""

_ROW_ADVICE = "fix the row, or skip such rows with --skip-bad"

_AROUND: Final = " \t\ufeff"
_MOST, _LONGEST = 50, 60  # maximum columns in a message, and characters of each
_AHEAD: Final = 100  # rows in which a JSON column may first occur
_COMPARED = 1000  # maximum columns compared for a similar name


class TableRow(NamedTuple):
    """A row of a table.

    Attributes:
        line: the line of the file where the row starts, from 1. For parquet and mappings, the row
            number, from 1.
        values: {column: text} for the required columns. No text is blank.
    """

    line: int
    values: dict[str, str]


class Record(NamedTuple):
    """A raw row: its line, the readable cells by column, and an error of the row as a whole, such
    as a wrong number of cells."""

    line: int
    cells: Mapping[str, object]
    problem: DataError | None = None


class RowChecks(TypedDict, total=False):
    """Options for checking the rows of a table.

    Attributes:
        skipped: receives the DataErrors of bad rows, which are then skipped; without it, the first
            one is raised.
        advice: how to name another column; the end of the message about a missing column.
        classes: the class column.
        optional: columns whose cells may be missing, as defined by `cell_text`; such a cell is the
            text "". At least one row must have each of these columns.
    """

    skipped: list[DataError] | None
    advice: str
    classes: Classes | None
    optional: Collection[str]


Found = list[str] | Record
"""An item of a file, in order: its column names (once, before the first record), or a record."""


def with_columns(records: Iterable[Record], wanted: Iterable[str] = ()) -> Iterator[Found]:
    """Iterate over records of rows that name their cells; before the first usable one, yield the
    names in it and in the following ones, up to `_AHEAD`. A column of `wanted` that no cell names,
    such as "data.text", is the cell "text" of the object "data"."""
    first, dotted = True, [name for name in wanted if "." in name]

    def named(record: Record) -> Record:
        for name in dotted:
            value: object = record.cells
            for key in name.split("."):
                value = value.get(key) if isinstance(value, Mapping) else None
            if value is not None:
                record = record._replace(cells={name: value, **record.cells})
        return record

    rest = map(named, records)
    ahead = list(islice(rest, _AHEAD))
    names = dict.fromkeys(name for record in ahead if not record.problem for name in record.cells)
    for record in chain(ahead, rest):
        if first and not record.problem:
            first = False
            yield list(names or record.cells)
        yield record


def checked_rows(
    source: str, items: Iterable[Found], columns: Sequence[str], **checks: Unpack[RowChecks]
) -> Iterator[TableRow]:
    """Iterate over the records of `items` as rows of texts. `source` begins every message.

    A record is bad if `cell_text` rejects a cell, or if it repeats the column names. In the column
    of `classes`, signs such as "-" and "?" also count as missing.

    Raises DataError for a table without one of `columns`, with duplicate column names, or without
    any usable row.
    """
    skipped, advice = checks.get("skipped"), checks.get("advice", COLUMN_ADVICE)
    optional = checks.get("optional", ())
    names: list[str] | None = None
    absent = {*optional}
    good, bad = False, None
    for item in items:
        if isinstance(item, list):
            names = item
            check_columns(source, names, [name for name in columns if name not in optional], advice)
            absent -= {*names}
            continue
        absent -= item.cells.keys()
        problem = item.problem or repeats_header(source, names, item)
        row = problem or _row(source, item, columns, checks)
        if isinstance(row, TableRow):
            good = True
            yield row
        elif skipped is None:
            raise row
        else:
            skipped.append(row)
            bad = bad or row
    if names is not None and absent:
        check_columns(source, names, columns, advice)
    if bad and not good:
        raise DataError(f"{source}: expected a usable row, found only bad ones: {bad}")
    if not good:
        what = "nothing" if names is None else f"only the columns {listed(names)}"
        raise DataError(f"{source}: expected a table with rows, found {what}")


def repeats_header(source: str, names: Sequence[str] | None, record: Record) -> DataError | None:
    """Return the error of a record that repeats the column names, as in concatenated files; None
    for one-column tables, where the name may be a text."""
    if names is None or len(names) < 2:
        return None
    for name in names:
        value = record.cells.get(name)
        if not isinstance(value, str) or value.strip(_AROUND) != name.strip(_AROUND):
            return None
    expected = f"{source}:{record.line}: expected a row, found the header line again"
    return DataError(f"{expected}; remove the line")


def _row(
    source: str, record: Record, columns: Sequence[str], checks: RowChecks
) -> TableRow | DataError:
    values = {}
    for column in columns:
        classes = checks.get("classes")
        classes = classes if classes and classes.column == column else None
        value = record.cells.get(column)
        try:
            values[column] = cell_text(value, classes)
        except DataError as error:
            if column in checks.get("optional", ()) and isinstance(error, MissingCellError):
                values[column] = ""
                continue
            expected = f"expected a text or a number in the column {column!r}"
            mark = isinstance(value, str) and is_no_class(value)
            mend = classes.advice if classes and mark else _ROW_ADVICE
            return DataError(f"{source}:{record.line}: {expected}, {error}; {mend}")
    return TableRow(record.line, values)


def check_columns(source: str, names: list[str], wanted: Iterable[Any], advice: str) -> None:
    """Raise DataError, ending with `advice`, for a table without one of the required columns; also
    for duplicate names, and for a column passed instead of its name. A name may be empty, as for an
    index or after a trailing comma."""
    for column in wanted:
        if hasattr(column, "__len__") and not isinstance(column, str | bytes | tuple):
            kind = type(column).__name__
            raise DataError(f"{source}: expected a column name, found a {kind}; {advice}")
        if column not in names:
            if len(names) == 1 and re.search(rf"\b{re.escape(str(column))}\b", str(names[0])):
                advice = f"specify the separator with --sep, or {advice}"
            if not _NAMED.search(source):
                advice += (
                    ", or if the table has no header, add --no-header (in Python header=False)"
                )
            # column names in pandas may be numbers
            plain = {str(name)[:_LONGEST].strip().casefold(): name for name in names[:_COMPARED]}
            asked = str(column)[:_LONGEST].strip().casefold()
            like = difflib.get_close_matches(asked, plain, n=1, cutoff=0.8)
            near = f" (did you mean {shown(plain[like[0]], _LONGEST)}?)" if like else ""
            expected = f"expected the column {column!r}, found {listed(names)}"
            raise DataError(f"{source}: {expected}{near}; {advice}")
    if twice := [name for name in names if name and names.count(name) > 1]:
        expected = f"expected unique column names, found {shown(twice[0])} twice"
        raise DataError(f"{source}: {expected}; rename one")


def listed(columns: Iterable[object], most: int = _MOST) -> str:
    """Format column names, or other names, for a message."""
    names = list(columns)
    first = ", ".join(shown(name, _LONGEST) for name in names[:most])
    return first + (f" and {len(names) - most:,} more" if len(names) > most else "")
