"""Atomic writes: files are complete even if the writer is killed, because the old file stays until
the new one is on disk. Locks of folders for one writing process at a time, which the system
releases if the process dies."""

import errno
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from thinstack.data.files.paths import check_new_folder
from thinstack.errors import InputError

PARTIAL: Final = ("{}.", ".partial")
"""Prefix and suffix of the names of unfinished files, for `staging`."""

LOCK = ".lock"
"""The lock file. It is not removed, and contains the last owner."""

NO_LOCKS: Final = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
"""Error numbers of file systems without locks."""

_OPEN_FILES: Final = (("dev", "fd"), ("dev", "stdin"), ("dev", "stdout"), ("dev", "stderr"))


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file, text in UTF-8, or keep the old one if that fails. Raises OSError."""
    with replacing(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path` to write to. If the block succeeds, the file replaces
    `path` and inherits its permissions; otherwise it is removed.

    Several processes may write the same file: the last one wins. Leftovers of killed processes are
    removed. A link at `path` is replaced, and its target stays. A device or a pipe is written to
    directly. Raises OSError, which names `path`.
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
        if error.errno is not None and error.filename is None:  # for example if the disk is full
            error.filename = str(path)
        raise


def keep_rights(old: Path, new: Path, more: int = 0) -> None:
    """Copy the permissions of a file or folder to its replacement, if it exists, plus the bits
    `more`. Does nothing on a file system without permissions."""
    with suppress(OSError):
        new.chmod(stat.S_IMODE(old.stat().st_mode) & 0o777 | more)


@contextmanager
def staging(path: Path, start: str, end: str, *, folder: bool = False) -> Iterator[Path]:
    """Yield a new, empty file or folder next to `path`, removed at the end if it still exists.

    Its name is random between `start`, where {} is the name of `path`, and `end`. The block holds
    its lock. Leftovers of killed processes are removed first. Raises OSError.
    """
    remove_leftovers(path, start, end)
    handle = None
    while handle is None:  # if another process removed it as a leftover before it was locked
        fresh = path.with_name(f"{start.format(path.name)}{secrets.token_hex(4)}{end}")
        if folder:
            fresh.mkdir()
        else:
            fresh.touch(exist_ok=False)
        try:
            handle = _lock(fresh)
        except OSError:  # without locks, no process removes leftovers
            handle = -1
    try:
        yield fresh
    finally:
        if handle >= 0:
            os.close(handle)
        _remove(fresh)


def remove_leftovers(path: Path, start: str, end: str) -> None:
    """Remove the files of `staging` next to `path` that killed processes left behind."""
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
    """Open and lock a file or folder, but not a link. None if another process has locked or removed
    it. Raises OSError on a file system without locks."""
    if sys.platform == "win32":
        raise OSError(errno.ENOSYS, "Windows locks no folder, and replaces no open file")
    # Open files for writing, because locks on network file systems require it.
    handle = os.open(path, os.O_NOFOLLOW | (os.O_RDONLY if path.is_dir() else os.O_RDWR))
    with ExitStack() as stack:
        stack.callback(os.close, handle)
        if not take(handle):
            return None
        stack.pop_all()
    return handle


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def is_stream(path: Path) -> bool:
    """Return whether a path must be written to directly: a device, a pipe, or the system's name for
    it, such as /dev/stdout."""
    parts = path.absolute().parts
    if parts[1:3] in _OPEN_FILES or parts[1:2] == ("proc",):
        return True
    with suppress(OSError):
        mode = path.stat().st_mode
        return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)
    return False


def sync(path: Path) -> None:
    """Wait until a file or folder is flushed to disk. Raises OSError."""
    folder = path.is_dir()
    if folder and os.name != "posix":  # other systems cannot open a folder
        return
    handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(folder: Path, *, option: str = "--out") -> Iterator[None]:
    """Hold the lock of a folder. A missing folder is created, and removed if the block fails before
    it writes anything. Does nothing on a file system without locks. Raises InputError as
    `check_new_folder` does, if another process holds the lock, and if the folder is not writable;
    the message then suggests another folder for `option`."""
    import socket

    new = not folder.exists()
    check_new_folder(folder, option, "the output")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("a+", encoding="utf-8")
    except OSError as error:
        problem = f"{folder}: cannot write to this folder: {error.strerror}"
        raise InputError(f"{problem}. Choose another with {option}") from None
    with file:
        try:
            free = take(file.fileno())
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            free = True
        if not free:
            holder = "a process"
            with suppress(OSError):  # a Windows lock also protects the content
                file.seek(0)
                holder = file.read(200) or "a process that has just started"
            mend = f"wait until it ends, or choose another folder with {option}"
            raise InputError(f"{folder}: another run writes there ({holder}); {mend}")
        file.truncate(0)
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        file.write(f"process {os.getpid()} on {socket.gethostname()}, since {now}")
        file.flush()
        try:
            yield
        except BaseException:
            with suppress(OSError):
                if new and [path.name for path in folder.iterdir()] == [LOCK]:
                    (folder / LOCK).unlink()
                    folder.rmdir()
            raise


def take(handle: int) -> bool:
    """Lock an open file or folder until it is closed. Return False if another process holds the
    lock or has removed the file. Raises OSError on a file system without locks."""
    from filelock import lock_descriptor

    return lock_descriptor(handle, blocking=False) and os.fstat(handle).st_nlink > 0
