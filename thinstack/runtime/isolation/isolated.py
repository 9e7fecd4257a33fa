"""Runs a model in processes of its own, with limits of memory and time. If it ends one of them, the
process that asked lives on and gets an error.

This bounds what a model uses; it is no sandbox. A model that takes over the process, by a fault of
onnxruntime, can do what its user can.
"""

import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import cycle
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from thinstack.errors import (
    BundleError,
    DeviceError,
    MissingExtraError,
    ThinstackError,
    raised_by_signal_handler,
)
from thinstack.runtime.ending import end_with_program
from thinstack.runtime.isolation.messages import Message, read_message, write_message
from thinstack.runtime.pool import usable_cores

__all__ = ["MOST_RECEIVED", "IsolatedSession"]

MEMORY: Final = 768 << 20
"""Bytes that a model may take, beyond six times its file and what onnxruntime takes itself."""
SECONDS: Final = 3
"""Seconds of processor time that loading a model, or running a batch, may take. One more is allowed
for each two megabytes of the file, or for each 200 numbers of the batch. Our own models take
a thousandth of that."""
ON_A_GPU: Final = 60
"""More such seconds on a GPU, whose libraries take their time to start."""
PATIENCE: Final = 10
"""By the clock it may take so many times as long, and `GRACE` seconds more, because others use the
machine too."""
GRACE: Final = 30
_TICK: Final = 0.2
"""Seconds between two looks at the clock."""

MOST_RECEIVED: Final = 1 << 28
"""Bytes of the scores of a batch, at most."""

_TRUSTED = "to run a model that you trust without limits, say isolated=False (--no-isolated)"
_NO_PROCESS = f"a process of its own for the model cannot be started ({{}}); {_TRUSTED}"

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from thinstack.runtime.isolation.isolated_worker import main; main(int(sys.argv[2]))"
)


class _Named(NamedTuple):
    """An input or output, as onnxruntime describes it."""

    name: str
    type: str


class _Meta(NamedTuple):
    custom_metadata_map: dict[str, str]


class IsolatedSession:
    """What a predictor needs of an `onnxruntime.InferenceSession`, run in processes of its own.

    Any number of threads may share it. Each call has a process for itself, at most one a core, and
    a thread waits for a free one. A process ends with the session, or with the process that asks.

    Args:
        model: the ONNX file, which passed `check_onnx`.
        device: as `Predictor` has it. The limit of memory is for "cpu" alone, on Linux; the limit
            of processor time is not for Windows. The limit by the clock is for all.
        source: names the file in messages.

    Attributes:
        device: what it really runs on.
        warning: of what the user should be warned; else "".

    Raises BundleError if the file cannot be loaded within the limits, DeviceError if no process can
    be started. Else raises DeviceError and MissingExtraError as
    `thinstack.runtime.session.open_session` does.
    """

    def __init__(self, model: bytes, *, device: str, source: str):
        self._model, self._asked, self._source = model, device, source
        self._idle: list[_Process] = []
        # Locks, because what a signal handler raises leaves a semaphore of Python taken for ever.
        self._turns = cycle([threading.Lock() for _ in range(usable_cores())])
        self._lock = threading.Lock()
        self._processes: set[_Process] = set()
        weakref.finalize(self, _end_all, self._processes, os.getpid())
        try:
            process, told = self._started()
        except BundleError as error:
            text = str(error)
            raise BundleError(text if text.startswith(source) else f"{source}: {text}") from None
        self._idle.append(process)
        self.device: Literal["cpu", "cuda"] = "cuda" if told.get("device") == "cuda" else "cpu"
        self.warning = str(told.get("warning", ""))
        self._inputs, self._outputs = _named(told.get("inputs")), _named(told.get("outputs"))
        metadata = told.get("metadata")
        known = metadata.items() if isinstance(metadata, dict) else ()
        self._metadata = {str(key): str(value) for key, value in known}
        self._providers = [str(name) for name in told.get("providers", ())]

    def get_inputs(self) -> list[_Named]:
        """Name and type of each input."""
        return self._inputs

    def get_outputs(self) -> list[_Named]:
        """Name and type of each output."""
        return self._outputs

    def get_modelmeta(self) -> _Meta:
        """The metadata of the file."""
        return _Meta(self._metadata)

    def get_providers(self) -> list[str]:
        """The execution providers that it runs on."""
        return self._providers

    def run(self, names: Sequence[str], feeds: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """The outputs of these names. Raises BundleError if the model fails, or breaks a limit."""
        end_with_program()
        with next(self._turns):
            with self._lock:
                process = self._idle.pop() if self._idle else None
            if process is not None and process.has_ended():  # by no fault of the model
                self._drop(process)
                process = None
            if process is None:
                process, _ = self._started()
            numbers = sum(np.size(feed) for feed in feeds.values())
            request = {"outputs": list(names), "seconds": self._seconds(numbers // 200)}
            reply = self._answer(process, request, feeds)
            with self._lock:
                self._idle.append(process)
        if error := _error_of(reply):
            raise error
        if missing := [name for name in names if name not in reply.arrays]:
            raise BundleError(f"the process of the model gave no {missing[0]}")
        return [reply.arrays[name] for name in names]

    def _started(self) -> "tuple[_Process, Mapping[str, Any]]":
        """A process that has loaded the model, and what it tells of it."""
        try:
            process = _Process()
        except DeviceError as problem:
            raise DeviceError(f"{self._source}: {problem}") from None
        self._processes.add(process)
        request = {
            "device": self._asked,
            "source": self._source,
            "memory": MEMORY + 6 * len(self._model) if self._asked == "cpu" else 0,
            "seconds": self._seconds(len(self._model) >> 21),
        }
        reply = self._answer(process, request, {"model": np.frombuffer(self._model, np.uint8)})
        if error := _error_of(reply):
            self._drop(process)
            raise error
        return process, reply.data

    def _seconds(self, more: int) -> int:
        return SECONDS + more + (ON_A_GPU if self._asked != "cpu" else 0)

    def _answer(
        self, process: "_Process", request: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> Message:
        """The reply of a process. One that dies or talks nonsense is ended, which is a
        BundleError; the next call starts another."""
        answered = False
        try:
            reply = process.ask(request, arrays)
            answered = True
        except (OSError, EOFError, ValueError) as error:
            how = process.how_it_ended(error)
            raise BundleError(
                f"its process {how}: the model is damaged, made to do harm, or too large for this "
                f"machine; {_TRUSTED}"
            ) from None
        finally:
            if not answered:  # whatever happened, an answer may still come
                self._drop(process)
        return reply

    def _drop(self, process: "_Process") -> None:
        process.end()
        self._processes.discard(process)


class _Limit(NamedTuple):
    """How many seconds an answer may take, and the time of the monotonic clock when they end."""

    seconds: int
    end: float


class _Process:
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


def _error_of(reply: Message) -> ThinstackError | None:
    """The error that a process tells of, if it does."""
    name, arguments = reply.data.get("error"), reply.data.get("arguments")
    if name is None:
        return None
    told = [str(argument) for argument in arguments] if isinstance(arguments, list) else []
    if name == "MissingExtraError" and len(told) == 2:
        return MissingExtraError(*told)
    text = " ".join(told)
    return DeviceError(text) if name == "DeviceError" else BundleError(text)


def _named(told: Any) -> list[_Named]:
    pairs = told if isinstance(told, list) else []
    return [_Named(*map(str, pair)) for pair in pairs if isinstance(pair, list) and len(pair) == 2]


def _end_all(processes: "set[_Process]", owner: int) -> None:
    """End the processes of a session. A forked process leaves those of its parent alone."""
    if os.getpid() == owner:
        for process in list(processes):
            process.end()
