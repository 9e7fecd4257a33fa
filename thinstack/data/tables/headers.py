"""Checks the header of a table of separated cells, and counts the columns of a table without
one."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from thinstack.data.tables.dialects import Dialect, bare, split_line
from thinstack.data.tables.table_rows import listed
from thinstack.errors import DataError

__all__ = ["check_header", "first_width", "with_row_numbers"]

_LONG: Final = 60
"""Characters of a name; a longer one is likely a text."""

_NUMBER = re.compile(r"[-+]?\d+([.,]\d+)?")


def check_header(
    path: str | Path,
    line: int,
    header: Sequence[str],
    sample: Sequence[str],
    wanted: Sequence[str],
    dialect: Dialect,
    *,
    told: bool,
) -> None:
    """Raise DataError where the `header` is likely a row, which would be lost.

    A column that is wanted is then not in it, or other rows of the `sample` have its name as its
    value. If the user has `told` that there is a header, nothing is checked."""
    if told or _numbered(header):
        return
    others = [
        row for row in _rows(sample, dialect) if len(row) == len(header) and row != list(header)
    ]
    again = {
        name
        for column, name in enumerate(header)
        if name and any(row[column] == name for row in others)
    }
    missing = [name for name in wanted if name not in header]
    like_a_row = again or any(map(_is_value, header))
    if (missing and like_a_row) or again.intersection(wanted):
        expected = f"the column {missing[0]!r}" if missing else "names of columns"
        raise DataError(
            f"{path}:{line}: expected {expected}, found {listed(header)}, which looks like a row: "
            "if the table has no header, add --no-header (in Python header=False) and name "
            "the columns by their numbers, from 1; if it has one, add --header"
        )


def first_width(sample: Sequence[str], dialect: Dialect) -> int:
    """The number of columns of a table without a header: that of most of its first rows, or 0 for
    an empty table."""
    rows = _rows(sample, dialect) or [split_line(row, dialect) for row in filter(bare, sample)]
    widths = Counter(map(len, rows))
    return widths.most_common(1)[0][0] if widths else 0


def with_row_numbers(
    header: Sequence[str], sample: Sequence[str], dialect: Dialect
) -> Sequence[str]:
    """The header, with an empty name before it if the rows of the `sample` start with one cell more
    that numbers them, as R writes them by default (`write.table`)."""
    rows = _rows(sample, dialect)
    longer = {row[0].strip('"') for row in rows if len(row) == len(header) + 1}
    numbered = len(rows) == len(longer) > 1 and all(map(str.isdecimal, longer))
    return ["", *header] if numbered else header


def _rows(sample: Sequence[str], dialect: Dialect) -> list[list[str]]:
    """The rows of a sample in which nothing is quoted. If there are none, all rows up to the first
    whose quotes do not fit."""
    lines = [line for line in sample if bare(line)]
    plain = [line for line in lines if '"' not in line]
    if plain or dialect.tabs:
        return [split_line(line, dialect) for line in plain or lines]
    found: list[list[str]] = []
    with suppress(csv.Error):
        separator, spaced = dialect.separator, dialect.spaced
        rows = csv.reader(lines, delimiter=separator, skipinitialspace=spaced, strict=True)
        found.extend(rows)
    return found


def _is_value(name: str) -> bool:
    """Whether the name of a column looks like a text or a number."""
    return (len(name) > _LONG and " " in name) or _NUMBER.fullmatch(name) is not None


def _numbered(header: Sequence[str]) -> bool:
    """Whether the names are numbers in order, as pandas writes them where there were no names."""
    names = list(header[1:] if header[0] == "" else header)
    return any(names == [str(place + first) for place in range(len(names))] for first in (0, 1))
