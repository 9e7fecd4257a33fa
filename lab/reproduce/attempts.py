"""Attempts at long work: what goes wrong is a value, so that other work goes on."""

import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from thinstack.data.files.writing import write_atomically
from thinstack.errors import ThinstackError

ERROR = "error.txt"
"""The file that has the traceback of an error that thinstack did not raise itself."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no result."""

    reason: str


KILLED = Failure("its process was killed, or one beside it; called again, it goes on")


def attempted(work: Callable[[], Result], folder: Path) -> Result | Failure:
    """What `work` returns, with any error as a value; `ERROR` is left in the folder of the work."""
    try:
        return work()
    except ThinstackError as error:
        return Failure(str(error))
    except Exception as error:
        path = folder / ERROR
        with suppress(OSError):
            write_atomically(path, traceback.format_exc())
        return Failure(f"{type(error).__name__}: {error} (more in {path})")
