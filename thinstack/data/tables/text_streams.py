"""Read text in a named encoding, line by line, so that invalid bytes affect only their line."""

import codecs
import io
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import groupby
from typing import Any, BinaryIO, TextIO

from thinstack.data.files.compressed import BUFFER, opened_bytes
from thinstack.data.files.paths import FilePath
from thinstack.errors import DataError, shown

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
