"""Tells a quoted cell of several lines from a quote mark that stands in a text and takes the rows
behind it along."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from thinstack.data.tables.dialects import Dialect, split_line

_MOST: Final = 64
"""Values of a column by which a row is known, at most. A column of more values tells nothing."""

_LEAST: Final = 4
"""Rows without quote marks that a table needs, so that its columns tell something."""

_THOUSANDS = re.compile(r"\d[,|;]\d{3}(?!\d)")
_WITHIN = re.compile(r'[^\t"\r\n]"(?:"")*+[^\t"\r\n]')
_DIGITS = re.compile(r"\d+")


class RowShapes:
    """What the rows of a table look like: how many cells they have, and the values of columns that
    have few of them, such as labels. Numbers count as one value, so ids are such a column too.

    It is made of the rows without quote marks, which are the same in every reading of the table.
    """

    def __init__(self, lines: Iterable[str], dialect: Dialect, width: int):
        self._dialect, self._width = dialect, width
        self._known: dict[int, set[str]] = {}
        counts: list[Counter[str] | None] = [Counter() for _ in range(width)]
        rows = 0
        for line in lines:
            if '"' in line or len(cells := split_line(line, dialect)) != width:
                continue
            rows += 1
            for column, cell in enumerate(cells):
                if (count := counts[column]) is not None:
                    count[_shape(cell)] += 1
                    if len(count) > _MOST:
                        counts[column] = None
        if rows >= _LEAST:
            self._known = {
                column: {one for one, times in count.items() if times > (1 if one else rows / 2)}
                for column, count in enumerate(counts)
                if count is not None and len(count) <= rows / 2
            }

    def is_row(self, line: str) -> bool:
        """Whether a line is a row by itself, if its quote marks are text. It has as many cells as
        the header, and known values in the columns that tell. Cells with quote marks tell nothing.
        A comma before a space is one of prose, and one within a number is too where no column
        tells."""
        cells = split_line(line, self._dialect)
        if len(cells) != self._width:
            return False
        if not self._dialect.tabs and any(cell[:1] == " " for cell in cells[1:]):
            return False
        if not self._known:
            return self._dialect.tabs or not _THOUSANDS.search(line)
        told = [column for column in self._known if '"' not in cells[column]]
        return bool(told) and all(_shape(cells[column]) in self._known[column] for column in told)

    def swallowed(self, lines: Sequence[str]) -> bool:
        """Whether the `lines` of one quoted row are several rows, between two quote marks that
        stand in texts.

        They are if the first and the last line are rows by themselves. Where no column tells,
        because the table is small, there must be other signs: three columns, a row between the two,
        or the same value in both. Between tabs, which texts seldom hold, the number of cells is
        then enough, and where columns tell, a row between the two is. In one column, where every
        line looks like a row, nothing tells.
        """
        if self._width == 1:
            return False
        inner = any('"' not in line and self.is_row(line) for line in lines[1:-1])
        if inner and self._known and self._dialect.tabs:
            return True
        ends = self.is_row(lines[0]) and self.is_row(lines[-1])
        told = inner or bool(self._known) or self._width > 2 or self._dialect.tabs
        return ends and (told or self._alike(lines[0], lines[-1]))

    def _alike(self, first: str, last: str) -> bool:
        """Whether two lines have the same cell, without quote marks, in one column."""
        pairs = zip(split_line(first, self._dialect), split_line(last, self._dialect), strict=True)
        return any(_shape(one) == _shape(other) and '"' not in one for one, other in pairs)

    def holds_rows(self, lines: Sequence[str]) -> bool:
        """Whether the lines of a row that is broken hold other rows, so that reading takes up again
        at the second of them: its first line is a row by itself, or a line within it is."""
        return self.is_row(lines[0]) or any(map(self.is_row, lines[1:-1]))


def quotes_fit(lines: Iterable[str], separator: str, longest: int) -> bool:
    """Whether each quote mark of a table is where RFC 4180 wants it: around a whole cell, or
    doubled in one. A row of more than `longest` characters does not fit."""
    size = 0

    def fed() -> Iterator[str]:
        nonlocal size
        for line in lines:
            size += len(line)
            if size > longest or ('"' in line and _WITHIN.search(line)):
                raise csv.Error
            yield line

    try:
        for _ in csv.reader(fed(), delimiter=separator, strict=True):
            size = 0
    except csv.Error:
        return False
    return True


def _shape(cell: str) -> str:
    return _DIGITS.sub("0", cell)
