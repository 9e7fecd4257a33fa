"""Writes files that are whole even if their writer is killed: the old file stays until the new one
is on the disk."""

import errno
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from thinstack.data.files.lock import take

PARTIAL: Final = ("{}.", ".partial")
"""How names of files begin and end that are being written, as `staging` takes it."""

_OPEN_FILES: Final = (("dev", "fd"), ("dev", "stdin"), ("dev", "stdout"), ("dev", "stderr"))


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file, text in UTF-8, or leave the old one if that fails. Raises OSError."""
    with replacing(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside `path` to write a file to. If the block ends without an error, that file takes
    the place of the one at `path`, with the rights of that; else it is removed.

    Several processes may write the same file: the last one wins. What a killed one has left is
    removed. A link at `path` is replaced, and what it points to stays. A device or a pipe is
    written to as it is. Raises OSError, which names `path`.
    """
    if is_stream(path):
        yield path
        return
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "expected a file to write, found a folder", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with staging(path, *PARTIAL) as temporary:
            keep_rights(path, temporary, stat.S_IRUSR | stat.S_IWUSR)
            yield temporary
            sync(temporary)
            keep_rights(path, temporary)
            temporary.replace(path)
    except OSError as error:
        if error.errno is not None and error.filename is None:  # as where the disk is full
            error.filename = str(path)
        raise


def keep_rights(old: Path, new: Path, more: int = 0) -> None:
    """Give a file or folder the rights of one that it will replace, if that is there, and `more`.
    A file system without rights is left alone."""
    with suppress(OSError):
        new.chmod(stat.S_IMODE(old.stat().st_mode) & 0o777 | more)


@contextmanager
def staging(path: Path, start: str, end: str, *, folder: bool = False) -> Iterator[Path]:
    """A new, empty file or folder beside `path`, which is removed at the end if it is still there.

    Its name is random between `start`, where {} is the name of `path`, and `end`. While the block
    runs, it is locked. Those that killed processes have left are removed first. Raises OSError.
    """
    remove_leftovers(path, start, end)
    handle = None
    while handle is None:  # where another process took it for a leftover before it was locked
        fresh = path.with_name(f"{start.format(path.name)}{secrets.token_hex(4)}{end}")
        if folder:
            fresh.mkdir()
        else:
            fresh.touch(exist_ok=False)
        try:
            handle = _lock(fresh)
        except OSError:  # without locks nobody takes it for a leftover
            handle = -1
    try:
        yield fresh
    finally:
        if handle >= 0:
            os.close(handle)
        _remove(fresh)


def remove_leftovers(path: Path, start: str, end: str) -> None:
    """Remove what `staging` made beside `path` in processes that were killed."""
    fitting = re.compile(re.escape(start.format(path.name)) + "[0-9a-f]{8}" + re.escape(end))
    try:
        names = os.listdir(path.parent)
    except OSError:
        return
    for leftover in (path.with_name(name) for name in names if fitting.fullmatch(name)):
        with suppress(OSError):
            if (handle := _lock(leftover)) is not None:
                _remove(leftover)
                os.close(handle)


def _lock(path: Path) -> int | None:
    """Open and lock a file or folder, but no link. None where another process has locked or removed
    it. Raises OSError where there are no locks."""
    if sys.platform == "win32":
        raise OSError(errno.ENOSYS, "Windows locks no folder, and replaces no open file")
    # A file is opened for writing, as locks over networks want it.
    handle = os.open(path, os.O_NOFOLLOW | (os.O_RDONLY if path.is_dir() else os.O_RDWR))
    try:
        if take(handle):
            return handle
    except OSError:
        os.close(handle)
        raise
    os.close(handle)
    return None


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def is_stream(path: Path) -> bool:
    """Whether something must be written to as it is: a device, a pipe, what the system calls
    /dev/stdout."""
    parts = path.absolute().parts
    if parts[1:3] in _OPEN_FILES or parts[1:2] == ("proc",):
        return True
    with suppress(OSError):
        mode = path.stat().st_mode
        return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)
    return False


def sync(path: Path) -> None:
    """Wait until a file or folder is on the disk. Raises OSError."""
    folder = path.is_dir()
    if folder and os.name != "posix":  # elsewhere a folder cannot be opened
        return
    handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
