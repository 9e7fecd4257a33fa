"""Detect the kind of a table by its name or, if the name does not show it, by its first bytes; and
the dialect of separated cells: separator, spaces, header. All commands and recipes use this
module."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import Annotated, Final, NamedTuple

from pydantic import BeforeValidator

from thinstack.data.files.paths import FilePath, file_path
from thinstack.data.files.reading import opened_bytes, without_compression
from thinstack.errors import DataError

TABLE_SUFFIXES: Final = (".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".parquet")
"""Suffixes of table names, case-insensitive. One of `COMPRESSED_SUFFIXES` may follow."""

_NAMED_SEPARATORS: Final = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
SILENT_SUFFIXES: Final = ("", ".txt", ".text", ".data", ".dat")
"""Suffixes that do not show the kind of a file."""

SAMPLE: Final = 1 << 16
"""Characters at the start of a table from which its dialect is detected."""

ONE_COLUMN: Final = "\0"
"""The separator of a one-column table, which no text contains."""

_EXCEL = re.compile(r'"?sep=(.)"?\Z', re.IGNORECASE)
_CHOICES: Final = ("\t", ";", "|", ",")
_NAMES: Final = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


def is_table(path: FilePath) -> bool:
    """Return whether a file name ends like a table's (`TABLE_SUFFIXES`)."""
    return _suffix(path) in TABLE_SUFFIXES


def holds_table(path: FilePath) -> bool:
    """Return whether a file is a table. If its name does not show it, any file is one unless it is
    missing, blank, or begins with a bracketed tree."""
    path = file_path(path)
    if is_table(path) or _suffix(path) not in SILENT_SUFFIXES or not path.is_file():
        return is_table(path)
    start = _start(path)
    return start != b"" and not start.startswith(b"(")


def table_kind(path: FilePath, *, separated: bool = False) -> str:
    """Return the kind of a table: ".parquet", ".json", ".jsonl" or ".csv" for any separator.
    `separated`: whether the user names a separator or a header, which only the last kind has.
    Raises DataError for a file of no kind, or if `separated` contradicts the kind."""
    suffix = _suffix(path)
    if suffix in SILENT_SUFFIXES and not separated:
        start = _start(path)
        if start.startswith(b"PAR1"):
            return ".parquet"
        return ".json" if start.startswith((b"{", b"[")) else ".csv"
    if suffix in (".json", ".jsonl", ".ndjson", ".parquet"):
        if separated:
            problem = "has column names in each row, but no separator or header line"
            mend = "leave --sep and --no-header out"
            raise DataError(f"{path}: a {suffix} file {problem}: {mend}")
        return ".jsonl" if suffix == ".ndjson" else suffix
    if suffix not in _NAMED_SEPARATORS and not separated:
        expected = f"expected a table whose name ends in one of {', '.join(TABLE_SUFFIXES)}"
        how = "save it as CSV, or specify its separator with --sep"
        raise DataError(f"{path}: {expected}, found {suffix!r}; {how}")
    return ".csv"


def _suffix(path: FilePath) -> str:
    return without_compression(path).suffix.lower()


def _start(path: FilePath) -> bytes:
    """Return the first bytes of a file after white space and a byte order mark."""
    with opened_bytes(path) as file:
        return bytes(file.peek(1)).removeprefix(b"\xef\xbb\xbf").lstrip()[:8]


def separator_of(text: object) -> object:
    """Return the character that separates cells: `text` itself or the one that it names, such as
    "tab" or an escaped tab of two characters. Raises ValueError for anything but one character."""
    character = _NAMES.get(text, text) if isinstance(text, str) else text
    if isinstance(character, str) and (len(character) != 1 or character in '"\r\n\0'):
        raise ValueError(
            f"expected one character, such as ; or | or tab, found {character!r:.40}; set "
            "the character between two cells"
        )
    return character


Separator = Annotated[str, BeforeValidator(separator_of)]
"""The cell separator of a table, as people write it."""


class Dialect(NamedTuple):
    """The format of the cells of a table.

    Attributes:
        separator: the character between two cells. Few writers quote cells between tabs.
        spaced: whether separators are followed by spaces, which are not part of the cells.
        first: the number of lines up to and including Excel's line `sep=;`, if there is one.
    """

    separator: str
    spaced: bool = False
    first: int = 0

    def split(self, line: str) -> list[str]:
        """Split a line into cells, with quotation marks as text."""
        cells = bare(line).split(self.separator)
        return [cell.lstrip(" ") for cell in cells] if self.spaced else cells

    def split_quoted(self, line: str) -> tuple[list[str], bool]:
        """Split a line into cells; also return whether a cell begins with a quotation mark that the
        line does not close, which is then text. A quoted cell begins and ends with a quotation
        mark, and those inside are doubled."""
        cells = _cell(self.separator, self.spaced).findall(bare(line) + self.separator)
        texts = [plain or quoted.replace('""', '"') for quoted, plain in cells]
        return texts, any(plain[:1] == '"' for _, plain in cells)

    def header_names(self, cells: Sequence[str], sample: Sequence[str]) -> list[str]:
        """Return the column names. `cells`: the header. `sample`: the first lines of the table.

        An empty name comes first if the rows start with an extra cell that numbers them, as R
        writes them by default (`write.table`). Several empty names are replaced as in pandas."""
        names = [name.strip(" ") for name in cells] if self.spaced else list(cells)
        rows = _rows(sample, self.separator)[1:]
        longer = {row[0] for row in rows if len(row) == len(names) + 1}
        numbered = len(rows) == len(longer) > 1 and all(map(str.isdecimal, longer))
        names = ["", *names] if numbered else names
        several = names.count("") > 1
        return [name or f"Unnamed: {place}" * several for place, name in enumerate(names)]

    def numbers(self, sample: Sequence[str]) -> list[str]:
        """Return the column names "1", "2" and so on of a table without a header, as many as most
        of its first rows have cells."""
        widths = Counter(map(len, _rows(sample, self.separator))).most_common(1)
        return [str(number) for width, _ in widths for number in range(1, width + 1)]


@cache
def _cell(separator: str, spaced: bool) -> re.Pattern[str]:
    mark, space = re.escape(separator), " *+" if spaced else ""
    return re.compile(rf'{space}(?:"([^"]*+(?:""[^"]*+)*+)"|([^{mark}]*+)){mark}')


def find_dialect(path: FilePath, lines: Sequence[str], separator: str | None) -> Dialect:
    """Detect the dialect of a table from its first lines. A `separator` from the user or Excel's
    line is not changed.

    By default, the suffix of the file name decides. If the first row lacks that separator, or only
    another one fits all rows, the one that fits most rows is used. Raises DataError for a separator
    that is not one character.
    """
    try:
        character = None if separator is None else str(separator_of(separator))
    except ValueError as error:
        raise DataError(f"{path}: --sep (in Python separator=): {error}") from None
    rows = [line for line in map(bare, lines) if line]
    first = 0
    if rows and (excel := _EXCEL.match(rows[0])):
        character, first = character or excel[1], [*map(bare, lines)].index(rows.pop(0)) + 1
    character = character or _separator(rows, _NAMED_SEPARATORS.get(_suffix(path)))
    # A space after each separator of the header, or before an opening quotation mark.
    header = rows[0].split(character)[1:] if rows else []
    opened = re.compile(rf'{re.escape(character)} +"(?!"|{re.escape(character)}|$)')
    spaced = bool(header) and all(cell[:1] == " " for cell in header)
    spaced = character not in "\t " and (spaced or any(map(opened.search, rows)))
    return Dialect(character, spaced, first)


def bare(line: str) -> str:
    """Strip the line end."""
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
    """Return how well a separator fits: the share of rows with as many cells as the first, and that
    number. It is the better fit of reading the rows with and without quotes."""
    plain = [row.count(separator) + 1 for row in rows[1:] if '"' not in row]
    quoted = [len(row) for row in _rows(rows, separator)]
    width = quoted[0] if quoted else 0
    shares = [widths.count(width) / len(widths) for widths in (plain, quoted[1:]) if widths]
    return max(shares, default=1.0), width


def _rows(lines: Iterable[str], separator: str) -> list[list[str]]:
    """Return the rows of a sample, as far as they can be parsed, without blank lines."""
    rows = list[list[str]]()
    with suppress(csv.Error):
        ended = (f"{bare(line)}\n" for line in lines)
        spaced = separator not in "\t "
        rows.extend(filter(None, csv.reader(ended, delimiter=separator, skipinitialspace=spaced)))
    return rows
