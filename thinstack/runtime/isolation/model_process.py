"""A process that runs a model, as the one that starts it sees it."""

import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, cast

from numpy.typing import NDArray

from thinstack.errors import DeviceError, raised_by_signal_handler
from thinstack.runtime.ending import end_with_program
from thinstack.runtime.isolation.messages import Message, read_message, write_message

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

TRUSTED: Final = "to run a model that you trust without limits, say isolated=False (--no-isolated)"
_NO_PROCESS = f"a process of its own for the model cannot be started ({{}}); {TRUSTED}"

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from thinstack.runtime.isolation.isolated_worker import main; main(int(sys.argv[2]))"
)


class _Limit(NamedTuple):
    """How many seconds an answer may take, and the time of the monotonic clock when they end."""

    seconds: int
    end: float


class ModelProcess:
    """A process that runs a model, as its parent sees it. Raises DeviceError if it cannot be
    started."""

    def __init__(self) -> None:
        if getattr(sys, "frozen", False):  # the program itself would start again, and again
            raise DeviceError(_NO_PROCESS.format("this program is its own Python"))
        top = str(Path(__file__).parents[3])
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
        self._late, self._limit = 0, _Limit(0, math.inf)
        threading.Thread(target=self._watch, daemon=True).start()
        self._greeted()

    def _greeted(self) -> None:
        """Wait for the process to say that it runs. Whatever goes wrong before is no fault of the
        model."""
        answered = False
        try:
            with self._within(GRACE + PATIENCE * SECONDS):
                read_message(cast(BinaryIO, self._process.stdout), most=MOST_RECEIVED)
            answered = True
        except (OSError, EOFError, ValueError) as error:
            if raised_by_signal_handler(error):
                raise
            end_with_program()
            raise DeviceError(_NO_PROCESS.format(f"it {self.how_it_ended(error)}")) from None
        finally:
            if not answered:
                self.end()

    def ask(self, request: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Message:
        """The reply to a request. Raises OSError, EOFError or ValueError if there is none."""
        requests, replies = self._process.stdin, self._process.stdout
        with self._within(GRACE + PATIENCE * int(request["seconds"])):
            write_message(cast(BinaryIO, requests), request, arrays)
            return read_message(cast(BinaryIO, replies), most=MOST_RECEIVED)

    @contextmanager
    def _within(self, seconds: int) -> Iterator[None]:
        """End the process if the block takes so many seconds by the clock."""
        self._limit = _Limit(seconds, time.monotonic() + seconds)
        try:
            yield
        finally:
            self._limit = _Limit(0, math.inf)

    def _watch(self) -> None:
        """The work of a thread that lives as long as the process. A thread for each answer would
        take longer, and a signal handler that raises while Python starts one breaks it."""
        while self._process.poll() is None:
            seconds, end = self._limit
            if time.monotonic() > end:
                self._late = seconds
                self._process.kill()
            time.sleep(_TICK)

    def how_it_ended(self, error: Exception) -> str:
        """How the process ended, in words. `error`: what was wrong with its answer. Raises it if a
        signal handler of the program did."""
        if raised_by_signal_handler(error):
            raise error
        end_with_program()  # which ended the process
        with suppress(subprocess.TimeoutExpired):  # it closed the pipe, and lives
            code = self._process.wait(timeout=1)
            return f"took more than {self._late} seconds" if self._late else _ending(code)
        return f"gave no answer ({error})"

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


def _ending(code: int) -> str:
    try:
        name = signal.Signals(-code).name if code < 0 else ""
    except ValueError:
        name = f"signal {-code}"
    if name == "SIGXCPU":
        return "took more processor time than it may"
    return f"died of {name}" if name else f"ended with exit code {code}"
