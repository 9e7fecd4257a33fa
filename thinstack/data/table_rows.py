"""Checks the rows of a table: each gets a text in every column that is wanted."""

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

import numpy as np

from thinstack.errors import DataError, shown

__all__ = [
    "COLUMN_ADVICE",
    "Found",
    "Record",
    "TableRow",
    "cell_text",
    "check_columns",
    "checked_rows",
    "listed",
]

COLUMN_ADVICE = (
    "name the columns with --text-column and --label-column (in Python text= and label=)"
)

_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_MOST, _LONGEST = 50, 60  # columns that a message lists, and characters of each
_COMPARED = 1000  # columns among which one of a like name is looked for
_WHOLE_FLOATS = 2**53  # above it a float is no exact count, and its digits are noise


class TableRow(NamedTuple):
    """A row of a table.

    Attributes:
        line: the line of the file where the row starts, from 1. In parquet and mappings, the number
            of the row, from 1.
        values: the texts of the wanted columns, by name. No text is blank.
    """

    line: int
    values: dict[str, str]


class Record(NamedTuple):
    """A row as its file has it.

    Attributes:
        line: as in `TableRow`.
        cells: the cells that could be read, by column.
        problem: a fault of the row as a whole, such as a wrong number of cells, or None.
    """

    line: int
    cells: Mapping[str, object]
    problem: DataError | None = None


Found = list[str] | Record
"""An item that a file gives, in order: its columns (once, before the first record), or a record."""


def checked_rows(
    source: str,
    found: Iterable[Found],
    columns: Sequence[str],
    *,
    skipped: list[DataError] | None = None,
    advice: str = COLUMN_ADVICE,
) -> Iterator[TableRow]:
    """The records of `found` as rows of texts.

    `source` leads every message. `advice` says how to name another column, and ends the message
    where a column is missing. A list `skipped` takes the DataErrors of bad rows, which are then
    left out; without it the first one is raised.

    Raises DataError for a table without one of `columns`, with two columns of one name, or without
    any row.
    """
    known: list[str] | None = None
    empty = True
    for one in found:
        if isinstance(one, list):
            check_columns(source, one, columns, advice)
            known = one
            continue
        empty = False
        row = one.problem or _row(source, one, columns)
        if isinstance(row, TableRow):
            yield row
        elif skipped is None:
            raise row
        else:
            skipped.append(row)
    if empty:
        what = "nothing" if known is None else f"only the columns {listed(known)}"
        raise DataError(f"{source}: expected a table with rows, found {what}")


def cell_text(value: object) -> str:
    """A cell as text. Text stays as it is. A number is written as a person writes it (3 and 3.0 are
    "3"), a truth value as "true" or "false".

    Raises DataError, without the place, for a cell that is missing: None, NaN or blank text. Also
    for the texts "nan" and "NaN", which stand for a missing number that was turned into text. Also
    for lists and other objects, and for text that cannot be written in UTF-8 or holds a NUL
    character.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return _whole(value)
    if isinstance(value, float | Decimal):
        return _number(value)
    if not isinstance(value, str):
        raise DataError(f"found {_KINDS.get(type(value)) or f'a {type(value).__name__}'}")
    if not value.strip():
        raise DataError("found an empty cell")
    if value in ("nan", "NaN"):
        raise DataError(f"found {value!r}, which stands for a missing value")
    if odd := _NO_TEXT.search(value):
        raise DataError(f"found the character {odd[0]!r}, which is in no text")
    return value


_KINDS = {type(None): "nothing", list: "a list", dict: "an object"}


def _whole(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # more digits than Python prints
        raise DataError("found a number of thousands of digits") from None


def _number(value: float | Decimal) -> str:
    if value.is_nan() if isinstance(value, Decimal) else math.isnan(value):
        raise DataError("found NaN")
    if not math.isfinite(value):
        raise DataError(f"found {value}")
    if value == int(value) and -_WHOLE_FLOATS < value < _WHOLE_FLOATS:
        return str(int(value))
    return format(value.normalize(), "f") if isinstance(value, Decimal) else repr(value)


def _row(source: str, record: Record, columns: Sequence[str]) -> TableRow | DataError:
    values = {}
    for column in columns:
        try:
            values[column] = cell_text(record.cells.get(column))
        except DataError as error:
            expected = f"expected a text or a number in the column {column!r}"
            mend = "mend the row or leave it out"
            return DataError(f"{source}:{record.line}: {expected}, {error}; {mend}")
    return TableRow(record.line, values)


def check_columns(source: str, known: list[str], wanted: Iterable[str], advice: str) -> None:
    """Raise DataError for a table without one of the wanted columns, or with two of one name.

    A column may have an empty name, as an index or a last comma gives it. `advice` ends the message
    where a column is missing.
    """
    if missing := [column for column in wanted if column not in known]:
        expected = f"expected the column {missing[0]!r}, found {listed(known)}"
        expected += _near(missing[0], known)
        raise DataError(f"{source}: {expected}; {advice}")
    if twice := [column for column in known if column and known.count(column) > 1]:
        raise DataError(
            f"{source}: expected columns of different names, found {shown(twice[0])} twice; rename "
            "one"
        )


def listed(columns: Iterable[object]) -> str:
    """The names of columns, for a message."""
    names = list(columns)
    first = ", ".join(shown(name, _LONGEST) for name in names[:_MOST])
    return first + (f" and {len(names) - _MOST:,} more" if len(names) > _MOST else "")


def _near(wanted: str, known: Iterable[str]) -> str:
    """The column whose name is `wanted` but for case, spaces and other signs, or much like it, as a
    part of a message."""
    bare = {_letters(name): name for name in islice(known, _COMPARED)}
    like = difflib.get_close_matches(_letters(wanted), bare, n=1, cutoff=0.8)
    return f" (did you mean {shown(bare[like[0]], _LONGEST)}?)" if like else ""


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name[:_LONGEST].casefold()))
