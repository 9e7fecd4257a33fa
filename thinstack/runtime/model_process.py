"""The parent's side of a process that runs a model."""

import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from numpy.typing import NDArray

from thinstack.errors import BundleError, DeviceError, raised_by_signal_handler
from thinstack.runtime.ending import end_with_program
from thinstack.runtime.isolated_worker import Message, read_message, write_message

SECONDS: Final = 3
"""Seconds of processor time for loading a model or running a batch, plus one second for every two
megabytes of the file or every 200 numbers of the batch. The bundled models need a thousandth of
this."""
PATIENCE: Final = 10
"""The wall-clock limit is this many times the processor limit, plus `GRACE` seconds, because the
machine may be busy."""
GRACE: Final = 30
_TICK: Final = 0.2
"""Seconds between two checks of the clock."""

MOST_RECEIVED: Final = 1 << 28
"""Maximum bytes of the scores of a batch."""

TRUSTED: Final = "to run a model that you trust without limits, pass isolated=False (--no-isolated)"
_NO_PROCESS = f"a separate process for the model cannot be started ({{}}); {TRUSTED}"

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from thinstack.runtime.isolated_worker import main; main(int(sys.argv[2]))"
)
_NEVER: Final = (0, math.inf)


class _SilentError(Exception):
    """A process did not answer; the message says how it ended."""


class ModelProcess:
    """The parent's handle of a process that runs a model. Raises DeviceError if it cannot be
    started."""

    def __init__(self) -> None:
        if getattr(sys, "frozen", False):  # the executable would start the program recursively
            raise DeviceError(_NO_PROCESS.format("this program is its own Python"))
        top = str(Path(__file__).parents[2])
        paths = [*filter(None, sys.path), *([] if top in sys.path else [top])]
        # Isolated from the working directory and PYTHONPATH: the paths are those of this process.
        start = [get_executable(), "-I", "-c", _START, json.dumps(paths), str(os.getpid())]
        try:
            self._process = subprocess.Popen(
                start,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},  # each thread allocates memory
            )
        except (OSError, TypeError, ValueError) as error:  # no usable Python executable
            if raised_by_signal_handler(error):
                raise
            raise DeviceError(_NO_PROCESS.format(error)) from None
        # The time limit of an answer in seconds, and its deadline by the monotonic clock.
        self._late, self._limit = 0, _NEVER
        threading.Thread(target=self._watch, daemon=True).start()
        try:
            self._answer(SECONDS)  # the process has started; the model has not run yet
        except _SilentError as error:
            raise DeviceError(_NO_PROCESS.format(f"it {error}")) from None

    def ask(self, request: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Message:
        """Return the reply to a request. Raises BundleError if the process dies or sends a
        malformed message, and ends it."""
        try:
            return self._answer(int(request["seconds"]), request, arrays)
        except _SilentError as error:
            raise BundleError(
                f"its process {error}: the model is damaged, malicious, or too large for this "
                f"machine; {TRUSTED}"
            ) from None

    def _answer(
        self,
        seconds: int,
        request: Mapping[str, Any] | None = None,
        arrays: Mapping[str, NDArray[Any]] | None = None,
    ) -> Message:
        """Return the next message of the process, after sending it the request, if any. End the
        process if the message is late."""
        by_the_clock, answered = GRACE + PATIENCE * seconds, False
        self._limit = by_the_clock, time.monotonic() + by_the_clock
        try:
            if request is not None:
                write_message(cast(BinaryIO, self._process.stdin), request, arrays or {})
            message = read_message(cast(BinaryIO, self._process.stdout), most=MOST_RECEIVED)
            answered = True
        except (OSError, EOFError, ValueError) as error:
            if raised_by_signal_handler(error):
                raise
            end_with_program()  # the exit of the program ended the process
            raise _SilentError(self._how_it_ended(error)) from None
        finally:
            self._limit = _NEVER
            if not answered:  # after any exception, an answer may still arrive
                self.end()
        return message

    def _watch(self) -> None:
        """Enforce deadlines, in one thread per process. One thread per answer would be slower, and
        an exception from a signal handler while Python starts a thread would break it."""
        while self._process.poll() is None:
            seconds, end = self._limit
            if time.monotonic() > end:
                self._late = seconds
                self._process.kill()
            time.sleep(_TICK)

    def _how_it_ended(self, error: Exception) -> str:
        """Describe how the process ended. `error`: the problem with its answer."""
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:  # it closed the pipe but is still alive
            return f"gave no answer ({error})"
        if self._late:
            return f"took more than {self._late} seconds"
        if code >= 0:
            return f"ended with exit code {code}"
        names = {int(number): number.name for number in signal.Signals}
        name = names.get(-code, f"signal {-code}")
        return "exceeded its limit of processor time" if name == "SIGXCPU" else f"died of {name}"

    def has_ended(self) -> bool:
        """Return whether the process ended while idle, as it does at the exit of the program, or if
        the system is out of memory."""
        return self._process.poll() is not None

    def end(self) -> None:
        """End the process, even during a run."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # data not sent to a dead process
                    pipe.close()
