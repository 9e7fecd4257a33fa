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
    sample_of,
    split_line,
    with_row_numbers,
)
from thinstack.data.tables.stray_quotes import RowShapes, quotes_fit
from thinstack.data.tables.table_rows import Found, Record
from thinstack.data.tables.text_streams import opened_text, undecoded
from thinstack.errors import DataError

__all__ = ["separated_records"]

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
        table = _Table(path, encoding, dialect, lines)
        for _ in range(dialect.first):
            lines.take()
        if dialect.header:
            row = table.next_row(width=None)
            if row is None:
                return
            if row.problem:
                raise row.problem
            table.quoted = bare(sample[dialect.first]).startswith('"')
            names = [name.strip(" ") for name in row.cells] if dialect.spaced else row.cells
            names = with_row_numbers(names, sample[dialect.first + 1 :], dialect)
            check_header(path, row.line, names, sample, wanted, dialect, told=header is not None)
        elif (width := first_width(sample[dialect.first :], dialect)) == 0:
            return
        else:
            names = [str(number) for number in range(1, width + 1)]
        yield list(names)
        while (row := table.next_row(len(names))) is not None:
            cells = dict(zip(names, row.cells, strict=True)) if row.cells else {}
            yield Record(row.line, cells, row.problem)
        table.check_all_told()


class _Row(NamedTuple):
    line: int
    cells: Sequence[str]
    problem: DataError | None


class _Lines:
    """The lines of a table, some of which may be put back.

    Attributes:
        number: the number of the line that was taken last.
        read: the number of lines that the file has given.
        again: characters of lines that were put back, less what is allowed for those read.
    """

    def __init__(self, stream: TextIO):
        self._stream, self._back = stream, deque[str]()
        self.number = self.read = self.again = 0

    def take(self) -> str | None:
        """The next line, or None at the end."""
        if self._back:
            line = self._back.popleft()
        elif line := self._stream.readline():
            self.read += 1
            self.again -= _AGAIN * len(line)
        else:
            return None
        self.number += 1
        return line

    def put_back(self, lines: Sequence[str]) -> None:
        self._back.extendleft(reversed(lines))
        self.number -= len(lines)

    def sample(self) -> list[str]:
        """The first lines of the table, which stay to be taken."""
        found = sample_of(iter(self._stream.readline, ""))
        self.read += len(found)
        self._back.extend(found)
        return found


class _Table:
    """The rows of a table of one dialect.

    Attributes:
        quoted: whether the header is in quotes. Who wrote it then quoted the rows too.
    """

    quoted = False

    def __init__(self, path: FilePath, encoding: str, dialect: Dialect, lines: _Lines):
        self._path, self._encoding, self._dialect = path, encoding, dialect
        self._lines, self._told, self._width = lines, dialect.first, 0

    def next_row(self, width: int | None) -> _Row | None:
        """The next row, with `width` cells or a problem; None at the end. The header has any
        width."""
        while (first := self._lines.take()) is not None:
            start = self._lines.number
            self._told += 1
            if not bare(first):
                continue
            self._width = width or 0
            if '"' not in first:
                return self._checked(start, first, split_line(first, self._dialect), width)
            cells, taken = self._quoted(first)
            if self._dialect.tabs:
                return self._of_tabs(start, cells, taken, width)
            return self._of_commas(start, cells, taken, width)
        return None

    def check_all_told(self) -> None:
        """Raise DataError unless every line of the file was in a row, in a problem or blank."""
        if self._told != self._lines.read:
            raise DataError(
                f"{self._path}: expected to tell of all {self._lines.read:,} lines, found "
                f"{self._told:,} told: this is a fault of thinstack; report it with the file"
            )

    @cached_property
    def _shapes(self) -> RowShapes:
        with opened_text(self._path, self._encoding) as stream:
            return RowShapes(stream, self._dialect, self._width)

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

        reader = csv.reader(
            lines(),
            delimiter=self._dialect.separator,
            skipinitialspace=self._dialect.spaced,
            strict=True,
        )
        try:
            return next(reader), taken
        except csv.Error as error:
            return error, taken

    def _of_tabs(
        self, start: int, cells: list[str] | csv.Error, taken: list[str], width: int | None
    ) -> _Row:
        """A row between tabs. It is quoted if all its quote marks fit, it then has as many cells as
        the header, and it takes no other rows along. Otherwise its quote marks are text, as they
        are in all rows of a table where one of them does not fit."""
        fits = isinstance(cells, list) and width in (None, len(cells))
        if fits and width is not None and not self.quoted:
            several = len(taken) > 1
            fits = self._quotes_fit and not (several and self._shapes.swallowed(taken))
        if fits and isinstance(cells, list):
            return self._checked(start, taken[0], cells, width, taken)
        self._resume(taken)
        return self._checked(start, taken[0], split_line(taken[0], self._dialect), width)

    def _of_commas(
        self, start: int, cells: list[str] | csv.Error, taken: list[str], width: int | None
    ) -> _Row:
        """A row between other separators, where quotes are as in RFC 4180."""
        last = start + len(taken) - 1
        if isinstance(cells, list) and (width is None or len(taken) == 1):
            return self._checked(start, taken[0], cells, width, taken)
        if isinstance(cells, list) and len(cells) == width:
            if self.quoted or not self._shapes.swallowed(taken):
                return self._checked(start, taken[0], cells, width, taken)
            self._resume(taken)
            return _Row(start, (), _open_quote(self._path, start, last))
        if width is not None and len(taken) > 1 and self._shapes.holds_rows(taken):
            self._resume(taken)
            if isinstance(cells, list):
                return _Row(start, (), _open_quote(self._path, start, last))
            last = start
        else:
            self._told += len(taken) - 1
        if isinstance(cells, list):
            return self._miscounted(start, cells, width)
        return _Row(start, (), _quoting(self._path, start, last, cells))

    def _resume(self, taken: list[str]) -> None:
        """Take up reading again at the second line that a row has taken."""
        self._lines.put_back(taken[1:])
        self._lines.again += sum(map(len, taken[1:]))

    def _checked(
        self, start: int, line: str, cells: list[str], width: int | None, taken: Sequence[str] = ()
    ) -> _Row:
        self._told += max(len(taken) - 1, 0)
        text = self._dialect.separator.join(cells)
        if problem := undecoded(self._path, start, text, self._encoding):
            return _Row(start, cells if width in (None, len(cells)) else (), problem)
        if width not in (None, len(cells)):
            return self._miscounted(start, cells, width)
        return _Row(start, cells, None)

    def _miscounted(self, start: int, cells: Sequence[str], width: int | None) -> _Row:
        expected = f"expected {width} cells, as the header has"
        if not self._dialect.header:
            expected = f"expected {width} cells, as other rows have"
        mend = f"put cells that hold {self._dialect.separator!r} or line ends in double quotes"
        problem = DataError(f"{self._path}:{start}: {expected}, found {len(cells)}; {mend}")
        return _Row(start, (), problem)


def _open_quote(path: FilePath, line: int, last: int) -> DataError:
    return DataError(
        f"{path}:{line}: expected a quote mark that is closed before the next row, found one that "
        f"takes the rows up to line {last} along; double it and put the cell in quotes, or take it "
        "out"
    )


def _quoting(path: FilePath, line: int, last: int, error: csv.Error) -> DataError:
    where = f"lines {line} to {last}" if last > line else f"line {line}"
    return DataError(
        f"{path}:{line}: expected double quotes around whole cells only, and doubled inside them "
        f'("a ""good"" film"), found others in {where}: {error}'
    )
