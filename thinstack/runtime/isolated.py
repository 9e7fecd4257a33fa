"""Run a model in separate processes with memory and time limits. If the model kills its process,
the caller gets an error and keeps running.

This limits resources but is not a sandbox. A model that takes over the process through a bug in
onnxruntime can do whatever the user can.
"""

import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import cycle
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import Any, BinaryIO, Final, cast, get_args

import numpy as np
from numpy.typing import NDArray

from thinstack.errors import (
    BundleError,
    DeviceError,
    MissingExtraError,
    ThinstackError,
    raised_by_signal_handler,
)
from thinstack.runtime.devices import RunningDevice
from thinstack.runtime.ending import end_with_program
from thinstack.runtime.isolated_worker import Message, read_message, write_message
from thinstack.runtime.pool import usable_cores

MEMORY: Final = 768 << 20
"""Bytes that a model may use, beyond six times its file and onnxruntime's own memory."""
ON_A_GPU: Final = 60
"""Extra seconds of processor time on a GPU, whose libraries are slow to start."""
SECONDS: Final = 3
"""Seconds of processor time for loading a model or running a batch, plus one second for every two
megabytes of the file or every 200 numbers of the batch. The bundled models need a thousandth of
this."""
PATIENCE, GRACE = 10, 30
"""The wall-clock limit is `PATIENCE` times the processor limit, plus `GRACE` seconds, because the
machine may be busy."""
_TICK: Final = 0.2
"""Seconds between two checks of the clock."""

MOST_RECEIVED: Final = 1 << 28
"""Maximum bytes of the scores of a batch."""

TRUSTED: Final = "if you trust the model, isolated=False (--no-isolated) runs it without limits"
_NO_PROCESS = f"cannot start a separate process for the model ({{}}); {TRUSTED}"

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from thinstack.runtime.isolated_worker import main; main(int(sys.argv[2]))"
)
_NEVER: Final = (0, math.inf)


class ModelProcess:
    """A process that runs a model, for its parent; it is in `processes` until it ends. Raises
    DeviceError if it cannot be started."""

    def __init__(self, processes: "set[ModelProcess]") -> None:
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
        self._late, self._limit, self._processes = 0, _NEVER, processes
        threading.Thread(target=self._watch, daemon=True).start()
        answer = self._answer(SECONDS)  # the process has started; the model has not run yet
        if isinstance(answer, str):
            raise DeviceError(_NO_PROCESS.format(f"it {answer}"))
        processes.add(self)

    def ask(self, request: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Message:
        """Return the reply. Raises BundleError if the process dies or sends a malformed message,
        and ends it."""
        answer = self._answer(int(request["seconds"]), request, arrays)
        if isinstance(answer, str):
            raise BundleError(
                f"its process {answer}: the model is damaged, malicious, or too large for this "
                f"machine; {TRUSTED}"
            )
        return answer

    def _answer(
        self,
        seconds: int,
        request: Mapping[str, Any] | None = None,
        arrays: Mapping[str, NDArray[Any]] | None = None,
    ) -> Message | str:
        """Return the next message, after sending any request. End a process that is late or does
        not answer, and return how it ended."""
        by_the_clock, message = GRACE + PATIENCE * seconds, None
        self._limit = by_the_clock, time.monotonic() + by_the_clock
        try:
            if request is not None:
                write_message(cast(BinaryIO, self._process.stdin), request, arrays or {})
            message = read_message(cast(BinaryIO, self._process.stdout), most=MOST_RECEIVED)
            return message
        except (OSError, EOFError, ValueError) as error:
            if raised_by_signal_handler(error):
                raise
            end_with_program()  # the exit of the program ended the process
            return self._how_it_ended(error)
        finally:
            self._limit = _NEVER
            if message is None:  # after any exception, an answer may still arrive
                self.end()

    def _watch(self) -> None:
        """Enforce deadlines. One thread per answer would be slower, and an exception from a signal
        handler while Python starts a thread would break it."""
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
            return f"did not answer ({error})"
        if self._late:
            return f"took more than {self._late} seconds"
        if code >= 0:
            return f"ended with exit code {code}"
        names = {int(number): number.name for number in signal.Signals}
        name = names.get(-code, f"signal {-code}")
        return "exceeded its limit of processor time" if name == "SIGXCPU" else f"died of {name}"

    def has_ended(self) -> bool:
        """Return whether the process ended while idle: the program exits, or memory is short."""
        return self._process.poll() is not None

    def end(self) -> None:
        """End the process, even during a run."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # data not sent to a dead process
                    pipe.close()
        self._processes.discard(self)


class IsolatedSession:
    """An `OnnxSession` in separate processes.

    Any number of threads may share it. Each call uses one process exclusively, and threads wait
    for one of at most one process per core. A process ends with the session, or with its parent.

    Args:
        model: the ONNX file, which passed `check_onnx`.
        device: as in `Predictor`. The memory limit is for "cpu" on Linux only, the limit of
            processor time not for Windows, the wall-clock limit for all.
        source: the name of the file in messages.

    Attributes: those of `OnnxSession`; `device` becomes "cpu" if "auto" gives up a failing GPU.

    Raises BundleError if the file cannot be loaded within the limits, DeviceError if no process can
    be started; otherwise DeviceError and MissingExtraError as
    `thinstack.runtime.session.open_session` does.
    """

    def __init__(self, model: bytes, *, device: str, source: str, on_gpu: bytes = b""):
        self._model, self._asked, self._source = model, device, source
        files = {"model": model, "on_gpu": on_gpu}
        self._files = {name: np.frombuffer(file, np.uint8) for name, file in files.items()}
        self._idle: list[ModelProcess] = []
        # Locks: an exception from a signal handler would leave a semaphore acquired for ever.
        self._turns = cycle([threading.Lock() for _ in range(usable_cores())])
        self._lock = threading.Lock()
        self._processes: set[ModelProcess] = set()
        weakref.finalize(self, _end_all, self._processes, os.getpid())
        try:
            process, description = self._started()
        except BundleError as error:
            text = str(error)
            raise BundleError(text if text.startswith(source) else f"{source}: {text}") from None
        self._idle.append(process)
        running: Any = description.get("device")
        self.device: RunningDevice = running if running in get_args(RunningDevice) else "cpu"
        self.warning = str(description.get("warning", ""))
        self.inputs = _texts(description.get("inputs"))
        outputs = description.get("outputs")
        self.outputs = [*map(str, outputs)] if isinstance(outputs, list) else []
        self.metadata = _texts(description.get("metadata"))

    def run(self, names: Sequence[str], feeds: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """Return the named outputs. Raises BundleError if the model fails or exceeds a limit."""
        end_with_program()
        with next(self._turns):
            with self._lock:
                process = self._idle.pop() if self._idle else None
            if process is not None and process.has_ended():  # not caused by the model
                process.end()
                process = None
            if process is None:
                process, _ = self._started()
            numbers = sum(np.size(feed) for feed in feeds.values())
            request = {"outputs": list(names), "seconds": self._seconds(numbers // 200)}
            reply = process.ask(request, feeds)
            self._idle.append(process)
        if error := _error_of(reply):
            raise error
        if missing := [name for name in names if name not in reply.arrays]:
            raise BundleError(f"the model's process returned no {missing[0]}")
        if (warning := reply.data.get("warning")) and self.device != "cpu":
            self.device = self._asked = "cpu"
            warnings.warn(str(warning), RuntimeWarning, stacklevel=2)
        return [reply.arrays[name] for name in names]

    def _started(self) -> tuple[ModelProcess, Mapping[str, Any]]:
        """Return a process that has loaded the model, and its description of the model."""
        try:
            process = ModelProcess(self._processes)
        except DeviceError as problem:
            raise DeviceError(f"{self._source}: {problem}") from None
        request = {
            "device": self._asked,
            "source": self._source,
            "memory": MEMORY + 6 * len(self._model) if self._asked == "cpu" else 0,
            "seconds": self._seconds(len(self._model) >> 21),
        }
        reply = process.ask(request, self._files)
        if error := _error_of(reply):
            process.end()
            raise error
        return process, reply.data

    def _seconds(self, more: int) -> int:
        return SECONDS + more + (ON_A_GPU if self._asked != "cpu" else 0)


def _error_of(reply: Message) -> ThinstackError | None:
    name, arguments = reply.data.get("error"), reply.data.get("arguments")
    if name is None:
        return None
    texts = [str(argument) for argument in arguments] if isinstance(arguments, list) else []
    if name == "MissingExtraError" and len(texts) == 2:
        return MissingExtraError(*texts)
    text = " ".join(texts)
    return DeviceError(text) if name == "DeviceError" else BundleError(text)


def _texts(value: Any) -> dict[str, str]:
    """Return the {name: text} mapping in an untrusted reply."""
    return {str(name): str(text) for name, text in value.items()} if isinstance(value, dict) else {}


def _end_all(processes: set[ModelProcess], owner: int) -> None:
    """End the processes of a session. In a forked child, leave the parent's processes alone."""
    if os.getpid() == owner:
        for process in list(processes):
            process.end()
