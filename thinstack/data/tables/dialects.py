"""Finds out how a table of separated cells is written: its separator, its header, its spaces. This
is the one place that decides it, for every command and recipe."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import Annotated, Final, NamedTuple

from pydantic import BeforeValidator

from thinstack.data.files.paths import FilePath
from thinstack.data.tables.table_kinds import named_separator
from thinstack.data.tables.table_rows import listed
from thinstack.errors import DataError

_LINES, _CHARACTERS = 200, 1 << 20  # of a table that are looked at before it is read
_LONG: Final = 60
"""Characters of the name of a column; a longer one is likely a text."""

_NUMBER = re.compile(r"[-+]?\d+([.,]\d+)?")

_CHOICES: Final = ("\t", ";", "|", ",")
ONE_COLUMN: Final = "\0"
"""The separator of a table of one column, which no text holds."""

_EXCEL = re.compile(r'"?sep=(.)"?\Z', re.IGNORECASE)


_NAMES: Final = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


def separator_of(text: object) -> object:
    """The character that separates cells: `text` itself, or the one that it names, as "tab" and the
    two characters of an escaped tab do. Raises ValueError for what is not one character."""
    character = _NAMES.get(text, text) if isinstance(text, str) else text
    if isinstance(character, str) and (len(character) != 1 or character in '"\r\n\0'):
        raise ValueError(
            f"expected one character, such as ; or | or tab, found {character!r:.40}; name the "
            "character that stands between two cells"
        )
    return character


Separator = Annotated[str, BeforeValidator(separator_of)]
"""The separator of the cells of a table, as people write it."""


class Dialect(NamedTuple):
    """How the cells of a table are written.

    Attributes:
        separator: the character between two cells.
        header: whether the first row names the columns.
        spaced: whether spaces stand behind separators, which belong to no cell.
        first: the number of lines before the first row: blank ones, and the line `sep=;` of Excel.
    """

    separator: str
    header: bool = True
    spaced: bool = False
    first: int = 0

    @property
    def tabs(self) -> bool:
        """Whether tabs separate the cells. Few writers quote them."""
        return self.separator == "\t"


def sample_of(lines: Iterable[str]) -> list[str]:
    """The first lines of a table, by which its dialect is found. It takes no more than these."""
    sample, size = list[str](), 0
    for line in lines:
        sample.append(line)
        size += len(line)
        if len(sample) == _LINES or size > _CHARACTERS:
            break
    return sample


def find_dialect(
    path: FilePath, lines: Sequence[str], separator: str | None, header: bool | None
) -> Dialect:
    """The dialect of a table with these first lines. A `separator` or a `header` that the user has
    named is taken as it is.

    By default the separator is the one that the ending of the name promises. If the first row does
    not have it, or only another one fits all rows, it is the one that fits most rows. Raises
    DataError for a separator that is not one character.
    """
    try:
        told = None if separator is None else str(separator_of(separator))
    except ValueError as error:
        raise DataError(f"{path}: --sep (in Python separator=): {error}") from None
    rows = list(map(bare, lines))
    first = next((number for number, row in enumerate(rows) if row), len(rows))
    if first < len(rows) and (excel := _EXCEL.match(rows[first])):
        told, first = told or excel[1], first + 1
        first += next((number for number, row in enumerate(rows[first:]) if row), 0)
    rows = [row for row in rows[first:] if row]
    named = named_separator(path)
    found = told or _separator(rows, named)
    return Dialect(found, header is not False, _is_spaced(rows, found), first)


def bare(line: str) -> str:
    """A line without its end."""
    return line.rstrip("\r\n")


def split_line(line: str, dialect: Dialect) -> list[str]:
    """The cells of a line in which a quote mark is text."""
    cells = bare(line).split(dialect.separator)
    return [cell.lstrip(" ") for cell in cells] if dialect.spaced else cells


def split_quoted(line: str, dialect: Dialect) -> tuple[list[str], bool]:
    """The cells of a line; and whether one begins with a quote mark that it does not close, which
    is then text. A cell is quoted if it begins and ends with a quote mark, and those between are
    doubled."""
    found = _cell(dialect.separator, dialect.spaced).findall(bare(line) + dialect.separator)
    cells = [plain or quoted.replace('""', '"') for quoted, plain in found]
    return cells, any(plain[:1] == '"' for _, plain in found)


@cache
def _cell(separator: str, spaced: bool) -> re.Pattern[str]:
    mark, space = re.escape(separator), " *+" if spaced else ""
    return re.compile(rf'{space}(?:"([^"]*+(?:""[^"]*+)*+)"|([^{mark}]*+)){mark}')


def reader(lines: Iterable[str], dialect: Dialect) -> Iterator[list[str]]:
    """The rows of lines with quotes as in RFC 4180. Raises csv.Error at the first other quote."""
    spaced = dialect.spaced
    return csv.reader(lines, delimiter=dialect.separator, skipinitialspace=spaced, strict=True)


def _separator(rows: Sequence[str], named: str | None) -> str:
    if not rows:
        return named or "\t"
    fits = {one: _fit(rows, one) for one in (*_CHOICES, named or "\t")}
    choices = [one for one in _CHOICES if fits[one].width > 1 and fits[one].share >= 0.5]
    if named is not None and fits[named].width > 1:
        choices = [one for one in choices if fits[one].share == 1]
        if fits[named].share == 1 or not choices:
            return named
    return max(choices, key=fits.__getitem__, default=named or "\t")


class _Fit(NamedTuple):
    """How well a separator fits: the share of rows with as many cells as the first, and how many
    these are."""

    share: float
    width: int


def _fit(rows: Sequence[str], separator: str) -> _Fit:
    """The better fit of two: of the rows with quotes read, and of those without quote marks."""
    plain = [row.count(separator) + 1 for row in rows[1:] if '"' not in row]
    quoted: list[int] = []
    with suppress(csv.Error):
        lines = (f"{row}\n" for row in rows)
        cells = csv.reader(lines, delimiter=separator, skipinitialspace=separator != "\t")
        quoted.extend(map(len, cells))
    width = quoted[0] if quoted else rows[0].count(separator) + 1
    shares = [each.count(width) / len(each) for each in (plain, quoted[1:]) if each]
    return _Fit(max(shares, default=1.0), width)


def _is_spaced(rows: Sequence[str], separator: str) -> bool:
    """Whether each separator of the header has a space behind it, or a space stands between a
    separator and the quote mark that opens a cell."""
    if separator in "\t ":
        return False
    header = rows[0].split(separator)[1:] if rows else []
    mark = re.escape(separator)
    opened = re.compile(rf'{mark} +"(?!")|{mark} +""(?=\s*(?:{mark}|\Z))')
    return (bool(header) and all(cell[:1] == " " for cell in header)) or any(
        '"' in row and opened.search(row) for row in rows
    )


def header_names(cells: Sequence[str], sample: Sequence[str], dialect: Dialect) -> list[str]:
    """The names of the columns. `cells`: of the header. `sample`: the lines behind it.

    An empty name comes first if the rows start with one cell more that numbers them, as R writes
    them by default (`write.table`)."""
    names = [name.strip(" ") for name in cells] if dialect.spaced else list(cells)
    rows = _rows(sample, dialect)
    longer = {row[0].strip('"') for row in rows if len(row) == len(names) + 1}
    numbered = len(rows) == len(longer) > 1 and all(map(str.isdecimal, longer))
    return ["", *names] if numbered else names


def check_header(
    path: FilePath,
    line: int,
    names: Sequence[str],
    sample: Sequence[str],
    wanted: Sequence[str],
    dialect: Dialect,
) -> None:
    """Raise DataError where the header is likely a row, which would be lost. A column that is
    `wanted` is then not in it, or other rows of the `sample` have its name as its value."""
    if _numbered(names):
        return
    rows = [row for row in _rows(sample, dialect) if len(row) == len(names) and row != [*names]]
    again = {name for name, *cells in zip(names, *rows, strict=True) if name and name in cells}
    missing = [name for name in wanted if name not in names]
    like_a_row = again or any(
        (len(name) > _LONG and " " in name) or _NUMBER.fullmatch(name) for name in names
    )
    if (missing and like_a_row) or again.intersection(wanted):
        expected = f"the column {missing[0]!r}" if missing else "names of columns"
        raise DataError(
            f"{path}:{line}: expected {expected}, found {listed(names)}, which looks like a row: "
            "if the table has no header, add --no-header (in Python header=False) and name "
            "the columns by their numbers, from 1; if it has one, add --header"
        )


def first_width(sample: Sequence[str], dialect: Dialect) -> int:
    """The number of columns of a table without a header: that of most of its first rows, if any."""
    widths = Counter(map(len, _rows(sample, dialect)))
    return widths.most_common(1)[0][0] if widths else 0


def _rows(sample: Sequence[str], dialect: Dialect) -> list[list[str]]:
    """The rows of a sample that are one line each, and in which nothing is quoted. If there are
    none, those in which cells are quoted."""
    lines = [line for line in sample if bare(line)]
    found = ((line, *split_quoted(line, dialect)) for line in lines)
    rows = [(line, cells) for line, cells, stray in found if not stray]
    return [cells for line, cells in rows if '"' not in line] or [cells for _, cells in rows]


def _numbered(header: Sequence[str]) -> bool:
    """Whether the names are numbers in order, as pandas writes them where there were no names."""
    names = list(header[1:] if header[0] == "" else header)
    return any(names == [str(place + first) for place in range(len(names))] for first in (0, 1))
