"""What comes of an input."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from thinstack.errors import ThinstackError

Use = Callable[[bytes, Path], object]
"""What is done with an input, in a folder of its own. It tells what came of it in a few words, or
raises."""


class TooLongError(BaseException):
    """An input takes too long. No handler of errors takes it for an error of its own."""


class Outcome(NamedTuple):
    """What came of an input: it was answered, refused by a ThinstackError, or is a fault. Inputs of
    one place, where an error was raised or what was given, are alike. Faults have a message."""

    what: Literal["answered", "refused", "fault"]
    place: tuple[str, ...]
    message: str = ""


def outcome(use, content, folder):
    """What comes of an input."""
    try:
        return Outcome("answered", (str(use(content, folder)),))
    except ThinstackError as error:
        return Outcome("refused", _place(error))
    except (Exception, TooLongError) as error:
        return Outcome("fault", _place(error), "".join(traceback.format_exception(error)))


def _place(error):
    """The type of an error, and the lines that it went through."""
    frames = traceback.extract_tb(error.__traceback__)[2:]
    lines = (f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
    return type(error).__name__, *lines
