"""Finds out how a table of separated cells is written: its separator, its spaces, its header. This
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
from thinstack.errors import DataError

SAMPLE: Final = 1 << 16
"""Characters at the start of a table by which its dialect is found."""

ONE_COLUMN: Final = "\0"
"""The separator of a table of one column, which no text holds."""

_EXCEL = re.compile(r'"?sep=(.)"?\Z', re.IGNORECASE)
_CHOICES: Final = ("\t", ";", "|", ",")
_NAMES: Final = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


def separator_of(text: object) -> object:
    """The character that separates cells: `text` itself, or the one that it names, as "tab" and the
    two characters of an escaped tab do. Raises ValueError for what is not one character."""
    character = _NAMES.get(text, text) if isinstance(text, str) else text
    if isinstance(character, str) and (len(character) != 1 or character in '"\r\n\0'):
        raise ValueError(
            f"expected one character, such as ; or | or tab, found {character!r:.40}; name "
            "the character between two cells"
        )
    return character


Separator = Annotated[str, BeforeValidator(separator_of)]
"""The separator of the cells of a table, as people write it."""


class Dialect(NamedTuple):
    """How the cells of a table are written.

    Attributes:
        separator: the character between two cells. Few writers quote cells between tabs.
        spaced: whether spaces stand behind separators, which belong to no cell.
        first: the number of lines up to the line `sep=;` of Excel, where there is one.
    """

    separator: str
    spaced: bool = False
    first: int = 0

    def split(self, line: str) -> list[str]:
        """The cells of a line in which a quote mark is text."""
        cells = bare(line).split(self.separator)
        return [cell.lstrip(" ") for cell in cells] if self.spaced else cells

    def split_quoted(self, line: str) -> tuple[list[str], bool]:
        """The cells of a line; and whether one begins with a quote mark that it does not close,
        which is then text. A cell is quoted if it begins and ends with a quote mark, and those
        between are doubled."""
        cells = _cell(self.separator, self.spaced).findall(bare(line) + self.separator)
        texts = [plain or quoted.replace('""', '"') for quoted, plain in cells]
        return texts, any(plain[:1] == '"' for _, plain in cells)

    def quoted_rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """The rows of lines with quotes as in RFC 4180. Raises csv.Error at the first other
        quote."""
        return csv.reader(
            lines, delimiter=self.separator, strict=True, skipinitialspace=self.spaced
        )

    def header_names(self, cells: Sequence[str], sample: Sequence[str]) -> list[str]:
        """The names of the columns. `cells`: of the header. `sample`: the first lines of the table.

        An empty name comes first if the rows start with one cell more that numbers them, as R
        writes them by default (`write.table`)."""
        names = [name.strip(" ") for name in cells] if self.spaced else list(cells)
        rows = _rows(sample, self.separator)[1:]
        longer = {row[0] for row in rows if len(row) == len(names) + 1}
        numbered = len(rows) == len(longer) > 1 and all(map(str.isdecimal, longer))
        return ["", *names] if numbered else names

    def numbers(self, sample: Sequence[str]) -> list[str]:
        """The names of the columns of a table without a header, "1" and so on. There are as many
        as most of its first rows have cells."""
        widths = Counter(map(len, _rows(sample, self.separator))).most_common(1)
        return [str(number) for width, _ in widths for number in range(1, width + 1)]


@cache
def _cell(separator: str, spaced: bool) -> re.Pattern[str]:
    mark, space = re.escape(separator), " *+" if spaced else ""
    return re.compile(rf'{space}(?:"([^"]*+(?:""[^"]*+)*+)"|([^{mark}]*+)){mark}')


def find_dialect(path: FilePath, lines: Sequence[str], separator: str | None) -> Dialect:
    """The dialect of a table with these first lines. A `separator` that the user has named is taken
    as it is, and one in a line of Excel's.

    By default the separator is the one that the ending of the name promises. If the first row does
    not have it, or only another one fits all rows, it is the one that fits most rows. Raises
    DataError for a separator that is not one character.
    """
    try:
        character = None if separator is None else str(separator_of(separator))
    except ValueError as error:
        raise DataError(f"{path}: --sep (in Python separator=): {error}") from None
    rows = [line for line in map(bare, lines) if line]
    first = 0
    if rows and (excel := _EXCEL.match(rows[0])):
        character, first = character or excel[1], [*map(bare, lines)].index(rows.pop(0)) + 1
    character = character or _separator(rows, named_separator(path))
    # A space behind each separator of the header, or before the quote mark that opens a cell.
    header = rows[0].split(character)[1:] if rows else []
    opened = re.compile(rf'{re.escape(character)} +"(?!")')
    spaced = bool(header) and all(cell[:1] == " " for cell in header)
    spaced = character not in "\t " and (spaced or any(map(opened.search, rows)))
    return Dialect(character, spaced, first)


def bare(line: str) -> str:
    """A line without its end."""
    return line.rstrip("\r\n")


def _separator(rows: Sequence[str], named: str | None) -> str:
    fits = {character: _fit(rows, character) for character in _CHOICES}
    likely = [character for character, (share, width) in fits.items() if width > 1 and share >= 0.5]
    if named is not None and fits[named][1] > 1:
        likely = [character for character in likely if fits[character][0] == 1]
        if named in likely or not likely:
            return named
    return max(likely, key=fits.__getitem__, default=named or "\t")


def _fit(rows: Sequence[str], separator: str) -> tuple[float, int]:
    """How well a separator fits: the share of rows with as many cells as the first, and how many
    these are. It is the better fit of two: of rows with quotes, and of those without."""
    plain = [row.count(separator) + 1 for row in rows[1:] if '"' not in row]
    quoted = [len(row) for row in _rows(rows, separator)]
    width = quoted[0] if quoted else 0
    shares = [widths.count(width) / len(widths) for widths in (plain, quoted[1:]) if widths]
    return max(shares, default=1.0), width


def _rows(lines: Iterable[str], separator: str) -> list[list[str]]:
    """The rows of a sample, as far as they can be read; blank lines are none."""
    rows = list[list[str]]()
    with suppress(csv.Error):
        ended = (f"{bare(line)}\n" for line in lines)
        spaced = separator not in "\t "
        rows.extend(filter(None, csv.reader(ended, delimiter=separator, skipinitialspace=spaced)))
    return rows
