"""Names of files, as users and tables give them."""

import os
import stat
from pathlib import Path

from thinstack.errors import DataError, shown

__all__ = ["file_path", "plain_file"]


def file_path(path: object) -> Path:
    """The path of a file. Raises DataError for what is no path, and for a name that no file has:
    one with a NUL character, or with half of a surrogate pair."""
    try:
        found = Path(path)  # type: ignore[arg-type]
        usable = b"\0" not in os.fsencode(found)
    except (TypeError, UnicodeEncodeError):
        usable = False
    if not usable:
        raise DataError(f"expected the path of a file, found {shown(path)}")
    return found


def plain_file(path: object) -> Path:
    """The path of a file that is to be read. Raises DataError as `file_path` does, and for what is
    there but is no plain file. A folder holds no text, a device may never end, and a pipe waits
    until somebody writes to it. A link counts as what it leads to."""
    found = file_path(path)
    try:
        mode = found.stat().st_mode
    except OSError:  # whoever opens it says why
        return found
    if stat.S_ISREG(mode):
        return found
    what = next((name for is_one, name in _KINDS if is_one(mode)), "something else")
    raise DataError(f"{found}: expected a file, found {what}; {_ADVICE.get(what, _NAME_A_FILE)}")


_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_NAME_A_FILE = "name a plain file"
_ADVICE = {"a pipe": "write what comes out of it to a file, and name that"}
