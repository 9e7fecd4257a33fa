"""A process that runs a model, as the one that starts it sees it."""

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
"""Seconds of processor time that loading a model, or running a batch, may take. One more is allowed
for each two megabytes of the file, or for each 200 numbers of the batch. Our own models take
a thousandth of that."""
PATIENCE: Final = 10
"""By the clock it may take so many times as long, and `GRACE` seconds more, because others use the
machine too."""
GRACE: Final = 30
_TICK: Final = 0.2
"""Seconds between two looks at the clock."""

MOST_RECEIVED: Final = 1 << 28
"""Bytes of the scores of a batch, at most."""

TRUSTED: Final = "to run a model that you trust without limits, pass isolated=False (--no-isolated)"
_NO_PROCESS = f"a separate process for the model cannot be started ({{}}); {TRUSTED}"

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from thinstack.runtime.isolated_worker import main; main(int(sys.argv[2]))"
)
_NEVER: Final = (0, math.inf)


class _SilentError(Exception):
    """A process gave no answer; the message says how it ended."""


class ModelProcess:
    """A process that runs a model, as its parent sees it. Raises DeviceError if it cannot be
    started."""

    def __init__(self) -> None:
        if getattr(sys, "frozen", False):  # the program itself would start again, and again
            raise DeviceError(_NO_PROCESS.format("this program is its own Python"))
        top = str(Path(__file__).parents[2])
        paths = [*filter(None, sys.path), *([] if top in sys.path else [top])]
        # Isolated from the folder it starts in, and from PYTHONPATH: the paths are those of ours.
        start = [get_executable(), "-I", "-c", _START, json.dumps(paths), str(os.getpid())]
        try:
            self._process = subprocess.Popen(
                start,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},  # each thread takes memory
            )
        except (OSError, TypeError, ValueError) as error:  # no Python is known, or none allowed
            if raised_by_signal_handler(error):
                raise
            raise DeviceError(_NO_PROCESS.format(error)) from None
        # How many seconds an answer may take, and when they end by the monotonic clock.
        self._late, self._limit = 0, _NEVER
        threading.Thread(target=self._watch, daemon=True).start()
        try:
            self._answer(SECONDS)  # that it runs: no model has done anything so far
        except _SilentError as error:
            raise DeviceError(_NO_PROCESS.format(f"it {error}")) from None

    def ask(self, request: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Message:
        """The reply to a request. Raises BundleError if the process dies or talks nonsense, and
        ends it."""
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
        """The next message of the process, to this request, if there is one. Ends the process
        unless it comes in time."""
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
            end_with_program()  # which ended the process
            raise _SilentError(self._how_it_ended(error)) from None
        finally:
            self._limit = _NEVER
            if not answered:  # whatever happened, an answer may still come
                self.end()
        return message

    def _watch(self) -> None:
        """The work of a thread that lives as long as the process. A thread for each answer would
        take longer, and a signal handler that raises while Python starts one breaks it."""
        while self._process.poll() is None:
            seconds, end = self._limit
            if time.monotonic() > end:
                self._late = seconds
                self._process.kill()
            time.sleep(_TICK)

    def _how_it_ended(self, error: Exception) -> str:
        """How the process ended, in words. `error`: what was wrong with its answer."""
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:  # it closed the pipe, and lives
            return f"gave no answer ({error})"
        if self._late:
            return f"took more than {self._late} seconds"
        if code >= 0:
            return f"ended with exit code {code}"
        names = {int(number): number.name for number in signal.Signals}
        name = names.get(-code, f"signal {-code}")
        return "exceeded its limit of processor time" if name == "SIGXCPU" else f"died of {name}"

    def has_ended(self) -> bool:
        """Whether it has ended while it was idle, as the end of the program ends it before what is
        registered for that end, or a system without memory."""
        return self._process.poll() is not None

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not sent to a process that died
                    pipe.close()
