"""Reads tables of separated cells row by row. A quote mark that is not closed, or that takes other
rows along, costs its own row only."""

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple, TextIO

from thinstack.data.files.paths import FilePath
from thinstack.data.tables.dialects import (
    Dialect,
    bare,
    check_header,
    find_dialect,
    first_width,
    header_names,
    reader,
    sample_of,
    split_line,
)
from thinstack.data.tables.stray_quotes import RowShapes, quotes_fit
from thinstack.data.tables.table_rows import Found, Record
from thinstack.data.tables.text_streams import opened_text, undecoded
from thinstack.errors import DataError

LONGEST_CELL: Final = 1 << 24
"""Characters. It bounds how far the end of an open quote is looked for."""

_AGAIN: Final = 4
"""Characters that may be read again after quotes that were never closed, for each one read. It
keeps hostile tables from taking quadratic time."""


def separated_records(
    path: FilePath,
    wanted: Sequence[str],
    encoding: str,
    *,
    separator: str | None = None,
    header: bool | None = None,
) -> Iterator[Found]:
    """The columns and the rows of a table of separated cells, as `Table.records` gives them."""
    # This limit holds for the whole process; other code may have set it higher.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    with opened_text(path, encoding) as stream:
        lines = _Lines(stream)
        sample = lines.sample()
        dialect = find_dialect(path, sample, separator, header)
        sample = sample[dialect.first :]
        for _ in range(dialect.first):
            lines.take()
        rows = _Rows(path, encoding, dialect, lines)
        if not dialect.header:
            names = [str(number) for number in range(1, first_width(sample, dialect) + 1)]
        elif row := rows.next():
            if row.problem:
                raise row.problem
            rows.quoted = bare(sample[0]).startswith('"')
            names = header_names(row.cells, sample[1:], dialect)
            if header is None:
                check_header(path, row.line, names, sample, wanted, dialect)
        else:
            names = []
        if not names:
            return
        yield names
        rows.width = len(names)
        while row := rows.next():
            cells = dict(zip(names, row.cells, strict=True)) if row.cells else {}
            yield Record(row.line, cells, row.problem)


class _Row(NamedTuple):
    line: int
    cells: Sequence[str]
    problem: DataError | None = None


class _Lines:
    """The lines of a table, some of which may be put back.

    Attributes:
        number: the number of the line that was taken last.
        again: characters of lines that were put back, less what is allowed for those read.
    """

    def __init__(self, stream: TextIO):
        self._stream, self._back = stream, deque[str]()
        self.number = self.again = 0

    def take(self) -> str | None:
        """The next line, or None at the end."""
        if self._back:
            line = self._back.popleft()
        elif line := self._stream.readline():
            self.again -= _AGAIN * len(line)
        else:
            return None
        self.number += 1
        return line

    def put_back(self, lines: Sequence[str]) -> None:
        self._back.extendleft(reversed(lines))
        self.number -= len(lines)
        self.again += sum(map(len, lines))

    def sample(self) -> list[str]:
        """The first lines of the table, which stay to be taken."""
        lines = sample_of(iter(self._stream.readline, ""))
        self._back.extend(lines)
        return lines


class _Rows:
    """The rows of a table of one dialect.

    Attributes:
        width: the number of cells that a row must have. The header has any number.
        quoted: whether the header is in quotes. Who wrote it then quoted the rows too.
    """

    width: int | None = None
    quoted = False

    def __init__(self, path: FilePath, encoding: str, dialect: Dialect, lines: _Lines):
        self._path, self._encoding = path, encoding
        self._dialect, self._lines = dialect, lines

    def next(self) -> _Row | None:
        """The next row, with `width` cells or a problem; None at the end."""
        while (line := self._lines.take()) is not None and not bare(line):
            pass
        if line is None:
            return None
        start = self._lines.number
        if '"' not in line:
            return self._checked(start, split_line(line, self._dialect))
        cells, taken = self._quoted(line)
        return (self._of_tabs if self._dialect.tabs else self._of_commas)(start, cells, taken)

    @cached_property
    def _shapes(self) -> RowShapes:
        with opened_text(self._path, self._encoding) as stream:
            return RowShapes(stream, self._dialect, self.width or 0)

    @cached_property
    def _quotes_fit(self) -> bool:
        with opened_text(self._path, self._encoding) as stream:
            return quotes_fit(stream, self._dialect.separator, LONGEST_CELL)

    def _quoted(self, first: str) -> tuple[list[str] | csv.Error, list[str]]:
        """The cells of a row with quotes as in RFC 4180, or what is wrong with it; and the lines
        that it takes."""
        taken, most = [first], min(LONGEST_CELL, LONGEST_CELL - self._lines.again)

        def lines() -> Iterator[str]:
            yield first
            size = len(first)
            while size <= most and (line := self._lines.take()) is not None:
                taken.append(line)
                size += len(line)
                yield line

        try:
            return next(reader(lines(), self._dialect)), taken
        except csv.Error as error:
            return error, taken

    def _of_tabs(self, start: int, cells: list[str] | csv.Error, taken: list[str]) -> _Row:
        """A row between tabs. It is quoted if all its quote marks fit, it then has as many cells as
        the header, and it takes no other rows along. Otherwise its quote marks are text, as they
        are in all rows of a table where one of them does not fit."""
        if isinstance(cells, list) and self.width in (None, len(cells)):
            several = len(taken) > 1
            if (
                self.width is None
                or self.quoted
                or (self._quotes_fit and not (several and self._shapes.swallowed(taken)))
            ):
                return self._checked(start, cells)
        self._lines.put_back(taken[1:])
        return self._checked(start, split_line(taken[0], self._dialect))

    def _of_commas(self, start: int, cells: list[str] | csv.Error, taken: list[str]) -> _Row:
        """A row between other separators, where quotes are as in RFC 4180."""
        last = start + len(taken) - 1
        if self.width is None or len(taken) == 1:
            rows_within = False
        elif isinstance(cells, list) and len(cells) == self.width:
            rows_within = not self.quoted and self._shapes.swallowed(taken)
        else:
            rows_within = self._shapes.holds_rows(taken)
        if rows_within:
            self._lines.put_back(taken[1:])
            if isinstance(cells, list):
                return self._bad(
                    start,
                    "expected a quote mark that is closed before the next row, found one that "
                    f"takes the rows up to line {last} along; double it and put the cell in "
                    "quotes, or take it out",
                )
            last = start
        if isinstance(cells, list):
            return self._checked(start, cells)
        where = f"lines {start} to {last}" if last > start else f"line {start}"
        return self._bad(
            start,
            "expected double quotes around whole cells only, and doubled inside them "
            f'("a ""good"" film"), found others in {where}: {cells}',
        )

    def _checked(self, start: int, cells: list[str]) -> _Row:
        fits = self.width in (None, len(cells))
        text = self._dialect.separator.join(cells)
        if problem := undecoded(self._path, start, text, self._encoding):
            return _Row(start, cells if fits else (), problem)
        if fits:
            return _Row(start, cells)
        others = "as the header has" if self._dialect.header else "as other rows have"
        return self._bad(
            start,
            f"expected {self.width} cells, {others}, found {len(cells)}; put cells that hold "
            f"{self._dialect.separator!r} or line ends in double quotes",
        )

    def _bad(self, line: int, problem: str) -> _Row:
        return _Row(line, (), DataError(f"{self._path}:{line}: {problem}"))
