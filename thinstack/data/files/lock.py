"""One process writes to a folder at a time. The system lets go of the lock of a dead process."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

from thinstack.data.files.paths import check_new_folder
from thinstack.errors import InputError

LOCK = ".lock"
"""The file that is locked; it stays, and holds who has locked it last."""

NO_LOCKS: Final = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
"""What file systems without locks say."""


@contextmanager
def locked(folder: Path, *, option: str = "--out") -> Iterator[None]:
    """Hold the lock of a folder, which is made if it is not there, and goes again if the block
    fails before it has written anything. Where the file system has no locks, nothing is held.
    Raises InputError as `check_new_folder` does, and where another process holds it, or where
    it cannot be written to, which advises to name another folder with `option`."""
    import socket

    new = not folder.exists()
    check_new_folder(folder, option, "all that is written")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("a+", encoding="utf-8")
    except OSError as error:
        problem = f"{folder}: cannot write to this folder: {error.strerror}"
        raise InputError(f"{problem}. Name another one with {option}") from None
    with file:
        try:
            free = take(file.fileno())
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            free = True
        if not free:
            mend = f"wait until it has ended, or name another folder with {option}"
            raise InputError(f"{folder}: another run writes there ({_holder(file)}); {mend}")
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
    """Lock an open file or folder until it is closed. False where another process holds the lock,
    or has removed the file. Raises OSError where the file system has no locks."""
    from filelock import lock_descriptor

    return lock_descriptor(handle, blocking=False) and os.fstat(handle).st_nlink > 0


def _holder(file: IO[str]) -> str:
    try:
        file.seek(0)
        return file.read(200) or "a process that has just started"
    except OSError:  # Windows locks what is in the file too
        return "a process"
