"""One process writes to a folder at a time. The system lets go of the lock of a dead process."""

import errno
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

from thinstack.errors import InputError

__all__ = ["LOCK", "locked"]

LOCK = ".lock"
"""The file that is locked; it stays, and holds who has locked it last."""

NO_LOCKS: Final = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
"""What file systems without locks say."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which is made if it is not there, and goes again if the block
    fails before it has written anything. Where the file system has no locks, nothing is held.
    Raises InputError where another process holds it, OSError where the folder cannot be written
    to."""
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a+", encoding="utf-8") as file:
        try:
            _take(file)
        except (BlockingIOError, PermissionError):
            file.seek(0)
            raise InputError(
                f"{folder}: another run writes there ({_holder(file)}); wait until it has ended, "
                "or name another folder with --out"
            ) from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
        file.truncate(0)
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        file.write(f"process {os.getpid()} on {socket.gethostname()}, since {now}")
        file.flush()
        try:
            yield
        except BaseException:
            if new:
                _remove(folder)
            raise


def _remove(folder: Path) -> None:
    """Remove a folder in which the lock is all there is."""
    with suppress(OSError):
        if [path.name for path in folder.iterdir()] == [LOCK]:
            (folder / LOCK).unlink()
            folder.rmdir()


def _holder(file: IO[str]) -> str:
    try:
        return file.read(200) or "a process that has just started"
    except OSError:  # Windows locks what is in the file too
        return "a process"


def _take(file: IO[str]) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(file.fileno()).st_nlink == 0:
            raise BlockingIOError("the file that was locked has just been removed")
