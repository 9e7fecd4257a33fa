"""Runs a model in processes of its own, with limits of memory and time. If it ends one of them, the
process that asked lives on and gets an error.

This bounds what a model uses; it is no sandbox. A model that takes over the process, by a fault of
onnxruntime, can do what its user can.
"""

import os
import threading
import warnings
import weakref
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from thinstack.errors import BundleError, DeviceError, MissingExtraError, ThinstackError
from thinstack.runtime.devices import RunningDevice
from thinstack.runtime.ending import end_with_program
from thinstack.runtime.isolated_worker import Message
from thinstack.runtime.model_process import SECONDS, ModelProcess
from thinstack.runtime.pool import usable_cores

MEMORY: Final = 768 << 20
"""Bytes that a model may take, beyond six times its file and what onnxruntime takes itself."""
ON_A_GPU: Final = 60
"""More seconds of processor time on a GPU, whose libraries take their time to start."""


class IsolatedSession:
    """An `OnnxSession` in processes of its own.

    Any number of threads may share it. Each call has a process for itself, at most one a core, and
    a thread waits for a free one. A process ends with the session, or with the process that asks.

    Args:
        model: the ONNX file, which passed `check_onnx`.
        device: as `Predictor` has it. The limit of memory is for "cpu" alone, on Linux; the limit
            of processor time is not for Windows. The limit by the clock is for all.
        source: names the file in messages.

    Attributes: those of `OnnxSession`; `device` is the CPU once "auto" has left a GPU that failed.

    Raises BundleError if the file cannot be loaded within the limits, DeviceError if no process can
    be started. Else raises DeviceError and MissingExtraError as
    `thinstack.runtime.session.open_session` does.
    """

    def __init__(self, model: bytes, *, device: str, source: str, on_gpu: bytes = b""):
        self._model, self._asked, self._source = model, device, source
        files = {"model": model, "on_gpu": on_gpu}
        self._files = {name: np.frombuffer(file, np.uint8) for name, file in files.items()}
        self._idle: list[ModelProcess] = []
        # Locks, because what a signal handler raises leaves a semaphore of Python taken for ever.
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
        devices: tuple[RunningDevice, ...] = get_args(RunningDevice)
        running = (device for device in devices if device == description.get("device"))
        self.device: RunningDevice = next(running, "cpu")
        self.warning = str(description.get("warning", ""))
        self.inputs = _texts(description.get("inputs"))
        outputs = description.get("outputs")
        self.outputs = [*map(str, outputs)] if isinstance(outputs, list) else []
        self.metadata = _texts(description.get("metadata"))

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
            self._idle.append(process)
        if error := _error_of(reply):
            raise error
        if missing := [name for name in names if name not in reply.arrays]:
            raise BundleError(f"the process of the model gave no {missing[0]}")
        if (warning := reply.data.get("warning")) and self.device != "cpu":
            self.device = self._asked = "cpu"
            warnings.warn(str(warning), RuntimeWarning, stacklevel=2)
        return [reply.arrays[name] for name in names]

    def _started(self) -> tuple[ModelProcess, Mapping[str, Any]]:
        """A process that has loaded the model, and what it says of it."""
        try:
            process = ModelProcess()
        except DeviceError as problem:
            raise DeviceError(f"{self._source}: {problem}") from None
        self._processes.add(process)
        request = {
            "device": self._asked,
            "source": self._source,
            "memory": MEMORY + 6 * len(self._model) if self._asked == "cpu" else 0,
            "seconds": self._seconds(len(self._model) >> 21),
        }
        reply = self._answer(process, request, self._files)
        if error := _error_of(reply):
            self._drop(process)
            raise error
        return process, reply.data

    def _seconds(self, more: int) -> int:
        return SECONDS + more + (ON_A_GPU if self._asked != "cpu" else 0)

    def _answer(
        self, process: ModelProcess, request: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> Message:
        """The reply of a process. One that gives none is ended; the next call starts another."""
        try:
            return process.ask(request, arrays)
        except BaseException:
            self._drop(process)
            raise

    def _drop(self, process: ModelProcess) -> None:
        process.end()
        self._processes.discard(process)


def _error_of(reply: Message) -> ThinstackError | None:
    """The error that a process tells of, if it does."""
    name, arguments = reply.data.get("error"), reply.data.get("arguments")
    if name is None:
        return None
    texts = [str(argument) for argument in arguments] if isinstance(arguments, list) else []
    if name == "MissingExtraError" and len(texts) == 2:
        return MissingExtraError(*texts)
    text = " ".join(texts)
    return DeviceError(text) if name == "DeviceError" else BundleError(text)


def _texts(value: Any) -> dict[str, str]:
    """The texts by name that a process has sent, whatever it has sent."""
    return {str(name): str(text) for name, text in value.items()} if isinstance(value, dict) else {}


def _end_all(processes: set[ModelProcess], owner: int) -> None:
    """End the processes of a session. A forked process leaves those of its parent alone."""
    if os.getpid() == owner:
        for process in list(processes):
            process.end()
