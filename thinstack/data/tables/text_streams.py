"""Reads text in a named encoding, line by line, so that bytes that are no text cost only their
line."""

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
    "name the encoding of the file, such as cp1252, latin-1 or utf-16 "
    "(--encoding NAME, in Python encoding=)"
)

_MARKS = {  # those of UTF-32 first: one starts with a mark of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

_UNDECODED = re.compile("[\0\udc80-\udcff]")


@contextmanager
def opened_text(source: FilePath | BinaryIO, encoding: str, *, name: str = "") -> Iterator[TextIO]:
    """A stream of the text of a file, or of an open stream of bytes, without a byte order mark.
    Messages call it `name`. A file may be compressed (`opened_bytes`). Where UTF-8 is asked for and
    the mark of UTF-16 or UTF-32 stands, which no text in UTF-8 starts with, that is read.

    A line ends with a line feed, as `wc -l` counts; a carriage return within a line is text. Only
    where the first bytes have carriage returns and no line feed, as in files of old Macs, does a
    carriage return end a line.

    Bytes that are not in the encoding become lone surrogates, which `undecoded` finds. So the lines
    after them can still be read. Raises DataError for an encoding that is unknown or cannot go on
    after such a byte, and what `opened_bytes` raises.
    """
    name = name or str(source)
    codec = "utf-8-sig" if check_encoding(encoding, name) == "utf-8" else encoding
    try:
        with ExitStack() as stack:
            file: Any = source
            if isinstance(source, str | os.PathLike):
                file = stack.enter_context(opened_bytes(source))
            elif not isinstance(source, io.BufferedReader):  # standard input gives lines at once
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
    except UnicodeError as error:  # Some encodings cannot go on after such a byte.
        raise DataError(f"{name}: not in {encoding}: {error}; {ENCODING_ADVICE}") from None


def check_encoding(encoding: str, name: str) -> str:
    """The name that Python has for an encoding. Raises DataError, led by `name`, for an unknown
    one."""
    try:
        return codecs.lookup(encoding).name
    except (LookupError, ValueError, TypeError):
        raise DataError(f"{name}: unknown encoding {shown(encoding)}") from None


def undecoded(source: FilePath, line: int, text: str, encoding: str) -> DataError | None:
    """The DataError of a row that holds bytes that are not in the encoding, or None."""
    odd = _UNDECODED.search(text)
    if odd is None:
        return None
    byte = ord(odd[0]) & 0xFF
    expected = f"{source}:{line}: expected text in {encoding}, found the byte 0x{byte:02x}"
    if text.count("\0") > len(text) // 3:  # every second byte of English in UTF-16
        order = "utf-16-be" if text.startswith("\0") else "utf-16-le"
        return DataError(f"{expected}; it seems to be in {order}: add --encoding {order}")
    return DataError(f"{expected}; {ENCODING_ADVICE}")


def lines_of(stream: BinaryIO, encoding: str, *, name: str) -> Iterator[str]:
    """The lines of a stream of bytes, without their ends. Raises what `opened_text` raises, and
    DataError for a line that is not in the encoding, with its number."""
    with opened_text(stream, encoding, name=name) as text:
        for number, line in enumerate(text, start=1):
            if problem := undecoded(name, number, line, encoding):
                raise problem
            yield line.rstrip("\r\n")


def paragraphs_of(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The texts between blank lines, each with the number of its first line, from 1. The lines of a
    text stay apart by line feeds."""
    numbered = enumerate(lines, start=1)
    for is_text, group in groupby(numbered, key=lambda pair: bool(pair[1].strip())):
        if is_text:
            numbers, text = zip(*group, strict=True)
            yield numbers[0], "\n".join(text)
