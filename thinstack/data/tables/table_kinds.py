"""Detect the kind of a table by its name or, if the name does not show it, by its first bytes."""

from typing import Final

from thinstack.data.files.paths import FilePath, file_path
from thinstack.data.files.reading import opened_bytes, without_compression
from thinstack.errors import DataError

TABLE_SUFFIXES: Final = (".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".parquet")
"""Suffixes of table names, case-insensitive. One of `COMPRESSED_SUFFIXES` may follow."""

_NAMED_SEPARATORS: Final = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
SILENT_SUFFIXES: Final = ("", ".txt", ".text", ".data", ".dat")
"""Suffixes that do not show the kind of a file."""


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


def named_separator(path: FilePath) -> str | None:
    """Return the separator implied by the suffix of a table's name."""
    return _NAMED_SEPARATORS.get(_suffix(path))


def _suffix(path: FilePath) -> str:
    return without_compression(path).suffix.lower()


def _start(path: FilePath) -> bytes:
    """Return the first bytes of a file after white space and a byte order mark."""
    with opened_bytes(path) as file:
        return bytes(file.peek(1)).removeprefix(b"\xef\xbb\xbf").lstrip()[:8]
