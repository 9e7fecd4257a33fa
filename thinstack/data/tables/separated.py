"""Read tables of separated cells row by row. Whether a cell is quoted does not depend on other
cells, and an unclosed quotation mark does not affect other rows."""

import csv
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Final, TypeAlias

from thinstack.data.files.paths import FilePath
from thinstack.data.files.reading import opened_text, undecoded
from thinstack.data.tables.dialects import ONE_COLUMN, SAMPLE, Dialect, bare, find_dialect
from thinstack.data.tables.table_rows import Found, Record
from thinstack.errors import DataError

LONGEST_CELL: Final = 1 << 24
"""Characters. It limits the search for the end of an open quote."""


def separated_records(
    path: FilePath, encoding: str, *, separator: str | None = None, header: bool | None = None
) -> Iterator[Found]:
    """Iterate over the columns and rows of a table of separated cells, as `Table.records` does."""
    # The limit is global to the process; other code may have set it higher.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    with opened_text(path, encoding) as stream:
        sample = stream.readlines(SAMPLE)
        dialect = find_dialect(path, sample, separator)
        rows = _Rows(path, encoding, dialect, chain(sample, stream))
        sample = sample[dialect.first :]
        if header is False:
            names = dialect.numbers(sample)
        else:
            _, cells, problem = rows.next() or (0, [], None)
            if problem:
                raise problem
            names = dialect.header_names(cells, sample) if cells else []
        if not names:
            return
        yield names
        rows.width = len(names)
        if rows.width == 1:  # no separator
            rows.dialect, rows.stray_is_text = dialect._replace(separator=ONE_COLUMN), True
        while row := rows.next():
            line, cells, problem = row
            yield Record(line, dict(zip(names, cells, strict=True)) if cells else {}, problem)


_Row: TypeAlias = tuple[int, Sequence[str], DataError | None]
"""The line where a row starts, its cells, and its error."""


class _Rows:
    """The rows of a table in one dialect, with any number of cells until `width` is set."""

    def __init__(self, path: FilePath, encoding: str, dialect: Dialect, lines: Iterator[str]):
        self._path, self._encoding, self.dialect = path, encoding, dialect
        self._lines, self._put_back = lines, deque[str]()
        self._line = 0  # number of the last line read
        self.width: int | None = None
        self.stray_is_text = self._tabs = dialect.separator == "\t"
        self._unclosed_before = 0  # a quote that opens before this line is known to be unclosed
        self._warned = False
        for _ in range(dialect.first):
            self._take()

    def next(self) -> _Row | None:
        """Return the next row, with the required number of cells or an error; None at the end."""
        while (line := self._take()) and not bare(line):
            pass
        if not line:
            return None
        start = self._line
        if '"' not in line:
            return self._checked(start, self.dialect.split(line))
        cells, stray = self.dialect.split_quoted(line)
        if stray:
            return self._over_lines(start, line, cells)
        if self.stray_is_text and not self._fits(cells):
            plain = self.dialect.split(line)
            cells = self._with_marks(start, plain) if self._fits(plain) else cells
        return self._checked(start, cells)

    def _take(self) -> str:
        """Read the next line; "" at the end."""
        line = self._put_back.popleft() if self._put_back else next(self._lines, "")
        self._line += bool(line)
        return line

    def _over_lines(self, start: int, line: str, cells: list[str]) -> _Row:
        """Return the row of a line with an unclosed quote. The cell ends on a later line if the row
        then conforms to RFC 4180 and has the right number of cells, and if most of its lines are
        not rows themselves. Otherwise the quotation mark is stray, and the next row starts on the
        next line. `cells`: those of the line with the mark as text."""
        joined, taken = self._joined(line)
        last = self._line
        if joined and self._fits(joined) and not self._are_rows(taken):
            return self._checked(start, joined)
        self._unclosed_before = max(last, self._unclosed_before)
        # A last line with paired marks does not close the quote, and may be a row.
        even = taken[-1].count('"') % 2 == 0
        if self.stray_is_text or any(map(self._is_row, taken if even else taken[:-1])):
            self._put_back.extendleft(reversed(taken[1:]))
            self._line = start
            if self.stray_is_text:
                return self._checked(start, self._with_marks(start, cells))
        elif joined:
            return self._checked(start, joined)
        where = f"lines {start} to {last}: " if last > start else ""
        problem = (
            f"{where}a cell starts with a quotation mark that is not closed at its end. Put "
            'the cell in quotation marks and double those inside ("a ""good"" film"), or '
            "remove the mark"
        )
        return start, (), DataError(f"{self._path}:{start}: {problem}")

    def _joined(self, first: str) -> tuple[list[str] | None, list[str]]:
        """Return the cells of a row quoted as in RFC 4180, or None; and its lines.

        A failed search covers those from all lines it passed, at whose ends a quote was open. Thus
        every line is searched once."""
        taken = [first]
        if self._line < self._unclosed_before:
            return None, taken

        def lines() -> Iterator[str]:
            yield first
            size = len(first)
            while size <= LONGEST_CELL and (line := self._take()):
                taken.append(line)
                size += len(line)
                yield line

        separator, spaced, _ = self.dialect
        with suppress(csv.Error):  # at a quotation mark that does not conform to RFC 4180
            rows = csv.reader(lines(), delimiter=separator, strict=True, skipinitialspace=spaced)
            return next(rows), taken
        return None, taken

    def _are_rows(self, lines: Sequence[str]) -> bool:
        """Return whether the lines of a quoted row are rows themselves, between two stray marks:
        two of them if tab-separated, as texts rarely contain tabs, else most of them. In one
        column, any line could be one; with tabs, where few writers quote, it counts as one."""
        if self.width is None or len(lines) == 1:
            return False
        if self.width == 1:
            return self._tabs
        return sum(map(self._is_row, lines)) > (1 if self._tabs else len(lines) / 2)

    def _is_row(self, line: str) -> bool:
        """Return whether a line alone has the right number of cells. A comma before a space or at
        the end of a line is part of prose."""
        cells, _ = self.dialect.split_quoted(line)
        if not self._fits(cells) or self._tabs:
            return self._fits(cells)
        spaced = any(cell[:1] == " " for cell in cells[1:])
        return not (spaced or bare(line).endswith(self.dialect.separator))

    def _with_marks(self, line: int, cells: list[str]) -> list[str]:
        """Return cells with quotation marks as text, and warn about the first of a table."""
        if self._fits(cells) and not self._warned:
            self._warned = True
            warnings.warn(
                f"{self._path}:{line}: a cell starts with a quotation mark that is not closed "
                "at its end. Such marks are kept as text, here and in later rows",
                stacklevel=2,
            )
        return cells

    def _fits(self, cells: Sequence[str]) -> bool:
        return self.width in (None, len(cells))

    def _checked(self, start: int, cells: list[str]) -> _Row:
        fits, separator = self._fits(cells), self.dialect.separator
        text = separator.join(cells)
        if problem := undecoded(self._path, start, text, self._encoding):
            return start, cells if fits else (), problem
        if fits:
            return start, cells, None
        expected = f"expected {self.width} cells, as in other rows, found {len(cells)}"
        mend = f"double-quote cells that contain {separator!r} or line ends"
        return start, (), DataError(f"{self._path}:{start}: {expected}; {mend}")
