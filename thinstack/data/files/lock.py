"""Folder locks for one writing process at a time. The system releases those of dead processes."""

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
"""The lock file. It is not removed, and contains the last owner."""

NO_LOCKS: Final = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
"""Error numbers of file systems without locks."""


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
            mend = f"wait until it ends, or choose another folder with {option}"
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
    """Lock an open file or folder until it is closed. Return False if another process holds the
    lock or has removed the file. Raises OSError on a file system without locks."""
    from filelock import lock_descriptor

    return lock_descriptor(handle, blocking=False) and os.fstat(handle).st_nlink > 0


def _holder(file: IO[str]) -> str:
    try:
        file.seek(0)
        return file.read(200) or "a process that has just started"
    except OSError:  # a Windows lock also protects the content
        return "a process"
