"""Writes files that are whole even if their writer is killed: the old file stays until the new one
is on the disk."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["replacing", "sync", "write_atomically"]


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file, or leave the old one if that fails. Text is written in UTF-8. Raises
    OSError."""
    with replacing(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def replacing(path: Path, *, mark: str = "") -> Iterator[Path]:
    """A path beside `path` to write a file to. If the block ends without an error, that file takes
    the place of the one at `path`; else it is removed.

    `mark` goes into its name, so that two processes can write the same file. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}{mark}.partial")
    try:
        yield temporary
        sync(temporary)
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until a file or folder is on the disk. Raises OSError."""
    folder = path.is_dir()
    if folder and os.name != "posix":  # elsewhere a folder cannot be opened
        return
    handle = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
