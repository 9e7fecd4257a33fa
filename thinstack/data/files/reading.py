"""Read files, possibly compressed, as bytes or as text in a named encoding, line by line, so that
invalid bytes affect only their line. The first bytes of a file decide how it is compressed, not its
name, because some programs unpack a file and leave its name."""

import codecs
import io
import lzma
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, Final, TextIO

from thinstack.data.files.paths import FileContent, FilePath, file_path, why_unreadable
from thinstack.errors import DataError, shown

BUFFER: Final = 1 << 16
"""Bytes read at a time, and the maximum that `peek` returns."""

COMPRESSED_SUFFIXES: Final = (".gz", ".bz2", ".xz")

_UNPACKED: Final = {b"\x1f\x8b\x08": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
"""The module that reads a file, by its magic number."""
_BLOCK: Final = (b"1AY&SY", b"\x17rE8P\x90")  # follows "BZh" and a digit, unlike in a text
_REFUSED: Final[dict[bytes, str]] = {
    b"PK\x03\x04": "a zip archive or an Excel workbook: unpack it, or save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: save the sheet as CSV",
    b"version https://git-lfs": "a Git LFS pointer: fetch the file with git lfs pull",
    b"\x28\xb5\x2f\xfd": "a file compressed with zstd: unpack it (zstd -d)",
}

ENCODING_ADVICE = (
    "set the file's encoding, such as cp1252, latin-1 or utf-16 "
    "(--encoding NAME, in Python encoding=)"
)

_MARKS = {  # UTF-32 first: one of its marks starts with a mark of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

_UNDECODED = re.compile("[\0\udc80-\udcff]")


def without_compression(path: FilePath) -> Path:
    """Return a file name without `COMPRESSED_SUFFIXES`: reviews.csv for reviews.csv.gz."""
    name = Path(path)
    return name.with_suffix("") if name.suffix.lower() in COMPRESSED_SUFFIXES else name


@contextmanager
def opened_bytes(path: FilePath) -> "Iterator[io.BufferedReader[Any]]":
    """Open a file as a stream of bytes that is decompressed while it is read. Raises DataError for
    a file that is missing or damaged, or that is another kind of archive."""
    try:
        with ExitStack() as stack:
            file: Any
            if isinstance(path, FileContent):
                file = io.BufferedReader(io.BytesIO(path.content()), BUFFER)
            else:
                file = stack.enter_context(open(file_path(path), "rb", buffering=BUFFER))
            start = file.peek(32)[:32]
            for mark, what in _REFUSED.items():
                if start.startswith(mark):
                    raise DataError(f"{path}: expected text, found {what}")
            for mark, module in _UNPACKED.items():
                if start.startswith(mark) and (module != "bz2" or start[4:10] in _BLOCK):
                    unpacked = import_module(module).open(file)
                    file = stack.enter_context(io.BufferedReader(unpacked, BUFFER))
                    break
            yield file
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {why_unreadable(path, error)}") from None
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        problem = f"expected a compressed file, found a damaged one ({error})"
        raise DataError(f"{path}: {problem}; download or compress it again") from None


@contextmanager
def opened_text(source: FilePath | BinaryIO, encoding: str, *, name: str = "") -> Iterator[TextIO]:
    """Open the text of a file or of a binary stream, without a byte order mark. Messages call it
    `name`. A file may be compressed (`opened_bytes`). A byte order mark of UTF-16 or UTF-32, which
    cannot begin a UTF-8 text, overrides the encoding UTF-8.

    Lines end with a line feed, as `wc -l` counts; a carriage return within a line is text. A
    carriage return ends a line only if the first bytes contain some and no line feed, as in files
    from old Macs.

    Invalid bytes become lone surrogates, which `undecoded` detects, so that later lines can still
    be read. Raises DataError for an encoding that is unknown or cannot resume after such a byte,
    and the errors of `opened_bytes`.
    """
    name = name or str(source)
    codec = "utf-8-sig" if check_encoding(encoding, name) == "utf-8" else encoding
    try:
        with ExitStack() as stack:
            file: Any = source
            if isinstance(source, str | os.PathLike):
                file = stack.enter_context(opened_bytes(source))
            elif not isinstance(source, io.BufferedReader):  # standard input yields lines at once
                file = io.BufferedReader(file, BUFFER)
                stack.callback(file.detach)
            start = file.peek(BUFFER)
            if codec == "utf-8-sig":
                codec = next((_MARKS[mark] for mark in _MARKS if start.startswith(mark)), codec)
            end = "" if b"\r" in start[:-1] and b"\n" not in start else "\n"
            stream = io.TextIOWrapper(file, codec, "surrogateescape", newline=end)
            stack.callback(stream.detach)
            yield stream
    except LookupError:
        raise DataError(f"{name}: unknown encoding {encoding!r}; {ENCODING_ADVICE}") from None
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {error.strerror or error}") from None
    except UnicodeError as error:  # Some encodings cannot resume after such a byte.
        raise DataError(f"{name}: not in {encoding}: {error}; {ENCODING_ADVICE}") from None


def check_encoding(encoding: str, name: str) -> str:
    """Return Python's name for an encoding. Raises DataError, beginning with `name`, for an unknown
    one."""
    try:
        return codecs.lookup(encoding).name
    except (LookupError, ValueError, TypeError):
        raise DataError(f"{name}: unknown encoding {shown(encoding)}") from None


def undecoded(source: FilePath, line: int, text: str, encoding: str) -> DataError | None:
    """Return the DataError of a row with bytes that are invalid in the encoding, or None."""
    odd = _UNDECODED.search(text)
    if odd is None:
        return None
    byte = ord(odd[0]) & 0xFF
    expected = f"{source}:{line}: expected text in {encoding}, found the byte 0x{byte:02x}"
    if text.count("\0") > len(text) // 3:  # half of the bytes of English in UTF-16
        order = "utf-16-be" if text.startswith("\0") else "utf-16-le"
        return DataError(f"{expected}; this looks like {order}: add --encoding {order}")
    return DataError(f"{expected}; {ENCODING_ADVICE}")


def lines_of(stream: BinaryIO, encoding: str, *, name: str) -> Iterator[str]:
    """Iterate over the lines of a binary stream, without line ends. Raises the errors of
    `opened_text`, and DataError, with the line number, for a line that is invalid in the
    encoding."""
    with opened_text(stream, encoding, name=name) as text:
        for number, line in enumerate(text, start=1):
            if problem := undecoded(name, number, line, encoding):
                raise problem
            yield line.rstrip("\r\n")


def paragraphs_of(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Iterate over the texts between blank lines, with the number of their first line, from 1.
    Lines of a text are joined by line feeds."""
    numbered = enumerate(lines, start=1)
    for is_text, group in groupby(numbered, key=lambda pair: bool(pair[1].strip())):
        if is_text:
            numbers, text = zip(*group, strict=True)
            yield numbers[0], "\n".join(text)
