"""Run a model in separate processes with memory and time limits. If the model kills its process,
the caller gets an error and keeps running.

This limits resources but is not a sandbox. A model that takes over the process through a bug in
onnxruntime can do whatever the user can.
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
"""Bytes that a model may use, beyond six times its file and onnxruntime's own memory."""
ON_A_GPU: Final = 60
"""Extra seconds of processor time on a GPU, whose libraries are slow to start."""


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
        devices: tuple[RunningDevice, ...] = get_args(RunningDevice)
        running = (device for device in devices if device == description.get("device"))
        self.device: RunningDevice = next(running, "cpu")
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
        """Start a process that loads the model; return it and its description of the model."""
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
        """Return the reply of a process. One that does not reply is ended and later replaced."""
        try:
            return process.ask(request, arrays)
        except BaseException:
            self._drop(process)
            raise

    def _drop(self, process: ModelProcess) -> None:
        process.end()
        self._processes.discard(process)


def _error_of(reply: Message) -> ThinstackError | None:
    """Return the error in a reply, or None."""
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
