"""How thinstack imports onnxruntime: without its telemetry. `thinstack` imports this file first.

From 1.29 on, onnxruntime notes an identifier of the device below the user's home, and tells its
maker of programs, models and errors. It also keeps a thread, for which a forked process waits for
ever when it ends. An environment variable decides on all of that when onnxruntime is imported.
"""

import os
import sys
from typing import Any, Final, Literal

from thinstack.errors import needs_extra, raised_in

VARIABLE: Final = "ORT_DISABLE_TELEMETRY"
_OFF: Final = ("1", "true", "yes", "on", "y")
_BUILT_IN: Final = (ArithmeticError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)


def import_onnxruntime() -> Any:
    """The package. Raises MissingExtraError without it."""
    with needs_extra("cpu"):
        import onnxruntime
    return onnxruntime


def telemetry() -> Literal["off", "on", "too late"]:
    """Whether onnxruntime's telemetry is off here, on because the user set the variable so, or
    could not be turned off, because something imported onnxruntime before thinstack."""
    if _TOO_LATE:
        return "too late"
    return "off" if os.environ.get(VARIABLE, "").strip().lower() in _OFF else "on"


def is_of_onnxruntime(error: Exception) -> bool:
    """Whether onnxruntime raised an error: one of its own types, which have no base class of their
    own, or one of Python's in its code. Else it came from what runs in between, such as a signal
    handler of the program."""
    by_type = type(error).__module__.partition(".")[0] == "onnxruntime"
    return by_type or (isinstance(error, _BUILT_IN) and raised_in(error, "onnxruntime"))


_TOO_LATE = "onnxruntime" in sys.modules and not os.environ.get(VARIABLE)
if not os.environ.get(VARIABLE):
    os.environ[VARIABLE] = "1"
