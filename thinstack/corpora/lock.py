"""One process writes to a folder at a time. The system lets go of the lock of a dead process."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from thinstack.errors import InputError

__all__ = ["LOCK", "locked"]

LOCK = ".lock"
"""The file that is locked; it stays, and holds who has locked it last."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder. Raises InputError where another process does, OSError where it
    cannot be had."""
    with (folder / LOCK).open("a+", encoding="utf-8") as file:
        try:
            _take(file)
        except (BlockingIOError, PermissionError):
            file.seek(0)
            raise InputError(
                f"{folder}: another run writes there ({_holder(file)}); wait until it has ended, "
                "or name another folder with --out"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        yield


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
