"""Open files that may be compressed with gzip, bzip2 or xz. The first bytes of a file decide, not
its name, because some programs unpack a file and leave its name."""

import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from thinstack.data.files.paths import FileContent, FilePath, file_path, why_unreadable
from thinstack.errors import DataError

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
