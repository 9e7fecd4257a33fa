"""Names of files, as users and tables give them."""

import os
from pathlib import Path

from thinstack.errors import DataError, shown

__all__ = ["file_path"]


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
