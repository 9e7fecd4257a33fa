"""Paths as users and tables write them, and the content of a file that is read once."""

import os
import re
import stat
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeAlias

from thinstack.errors import DataError, InputError, shown

FilePath: TypeAlias = str | os.PathLike[str]
"""The path of a file to read; or a `FileContent`, which is read once."""

_FILES = (
    *(".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".spacy", ".xlsx", ".txt"),
    *(".html", ".svg", ".onnx", ".toml", ".gz", ".zip"),
)
"""Suffixes of file names, which a new folder must not have."""

_SHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+:)/+")

_PIPE = "save its contents to a file and pass that (thinstack predict --input - reads pipes)"


def any_path(path: object) -> Path:
    """Convert a path of a file or folder, which need not exist. "~" is the home folder. Raises
    DataError for a value that is not a path, for a URL, and for an invalid file name with a NUL
    character or a lone surrogate."""
    try:
        place = Path(path)  # type: ignore[arg-type]
        usable = b"\0" not in os.fsencode(place)
    except (TypeError, UnicodeEncodeError):
        usable = False
    if not usable:
        raise DataError(f"expected a file path, found {shown(path)}")
    if _ADDRESS.match(str(place)) and not place.exists():
        where = _ADDRESS.sub(r"\1//", str(place), count=1)  # Path writes it with one slash
        problem = "this is an address, and thinstack does not download files"
        raise DataError(f"{where}: {problem}. Download the file and pass its local path")
    return place.expanduser() if str(place)[0] == "~" and not place.exists() else place


def file_path(path: object) -> Path:
    """Return the path of a file to read; links are resolved.

    Raises DataError as `any_path` does, for a spreadsheet by its name, and for a folder, a pipe, a
    socket or a device: a device may never end, and a pipe blocks until something is written to it.
    A missing file is reported by the code that opens it.
    """
    place = any_path(path)
    if place.suffix.lower() in _SHEETS:
        raise DataError(f"{place}: this is a spreadsheet. Save the sheet as CSV and pass that file")
    try:
        mode = place.stat().st_mode
    except OSError:
        return place
    if stat.S_ISREG(mode):
        return place
    what = "a folder" if stat.S_ISDIR(mode) else "a device"
    what, advice = ("a pipe", _PIPE) if stat.S_ISFIFO(mode) else (what, "pass a file")
    raise DataError(f"{place}: expected a file, found {what}; {advice}")


def check_new_folder(path: Path, option: str, holds: str) -> None:
    """Raise InputError if a missing folder is named like a file, because the user then expects a
    file. The message names `option` and what the folder `holds`."""
    if path.suffix.lower() in _FILES and not path.exists():
        name = path.name.split(".")[0] or "scores"
        raise InputError(
            f"{path}: {option} expects a folder for {holds}, but this name ends in "
            f"{path.suffix} like a file: choose a folder, such as {path.with_name(name)}"
        )


def in_resolved_folder(path: FilePath) -> Path:
    """Return the absolute path of a file in a folder with links resolved. A link at the file itself
    is kept, because its name describes the content and the target may have another name."""
    place = file_path(path)
    return place.parent.resolve() / place.name


def why_unreadable(path: FilePath, error: OSError) -> str:
    """Return the system's reason why a file cannot be read and, for a broken link, its target."""
    reason = error.strerror or str(error)
    if isinstance(error, FileNotFoundError) and os.path.islink(path):
        return f"{reason}; it is a link to {os.readlink(path)}: restore that file, or fix the link"
    return reason


class FileContent(os.PathLike[str]):
    """The bytes of a file, read on first access and then cached.

    It is accepted wherever the path of a table is. `content`: a function that returns the bytes; by
    default it reads the file at `path`, and raises OSError, and DataError as `file_path` does.
    """

    def __init__(self, path: FilePath, content: Callable[[], bytes] | None = None):
        self.path = Path(path)
        self.content = content or cache(lambda: file_path(self.path).read_bytes())

    @classmethod
    def of(cls, path: FilePath) -> "FileContent":
        """Return the content of a file; an existing `FileContent` is returned unchanged."""
        return path if isinstance(path, FileContent) else cls(path)

    def named(self, path: FilePath) -> "FileContent":
        """Return the same bytes with another name for messages."""
        return FileContent(path, self.content)

    def __fspath__(self) -> str:
        return str(self.path)

    __str__ = __fspath__
