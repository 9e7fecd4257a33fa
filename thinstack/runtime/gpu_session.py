"""onnxruntime sessions on a GPU."""

import os
import re
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack._onnxruntime import is_of_onnxruntime
from thinstack.bundle.gpu_file import host_nodes
from thinstack.errors import BundleError, DeviceError
from thinstack.runtime.devices import Gpu, pays
from thinstack.runtime.ending import stopped_at_end
from thinstack.runtime.session import AS_ASKED, CPU, OnnxSession, session_options

ANYWHERE: Final = 'device="cpu" runs anywhere'

_TREES: Final = ("lengths", "breaks", "transitions")
"""Inputs that do not have one number per word."""

_MEANINGS = {
    r"\blost\b": "the device was lost, for example because its driver restarted",
    r"memory|buffer": "the batch or the model is larger than the device's buffers",
}
"""Explanations for obscure messages of onnxruntime."""

_INSIDES = re.compile(r"^(.* was false\. |\[ONNXRuntimeError\] : \d+ : \w+ : )", re.DOTALL)
"""Prefixes of messages that name a place or an error code inside onnxruntime."""

_lock = threading.Lock()
_tried_in: list[int] = []  # the process that tried a GPU; a forked child inherits the list
_registered: set[str] = set()  # GPUs whose plugin is registered with onnxruntime


class GpuSession(OnnxSession):
    """An onnxruntime session on a GPU.

    If a run fails, it is repeated on the CPU to identify the cause. If it fails there too, it
    raises a BundleError; otherwise a DeviceError. With `auto`, this run and all later ones use the
    CPU instead. With `auto`, batches too small for a GPU (`pays`) also run on the CPU.

    Args:
        session: the onnxruntime session.
        gpu: the GPU that it runs on.
        on_cpu: starts a session of the same file on the CPU.
        auto: whether the CPU may replace the GPU.
    """

    def __init__(
        self, session: Any, gpu: Gpu, on_cpu: Callable[[], OnnxSession], *, auto: bool = False
    ):
        super().__init__(session, gpu.name)
        self._gpu, self._start, self._auto = gpu, on_cpu, auto
        self._cpu: OnnxSession | None = None
        self._lock = threading.Lock()

    def run(self, names: Sequence[str], feeds: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """Return the named outputs. Raises BundleError if the model fails, and DeviceError if the
        GPU does, which with `auto` is a RuntimeWarning instead."""
        words = min(
            (np.size(feed) for name, feed in feeds.items() if name not in _TREES), default=0
        )
        if self._auto and (self.warning or not pays(words)):
            return self._on_cpu().run(names, feeds)
        try:
            return super().run(names, feeds)
        except BundleError as error:
            reason = _explained(error)
        outputs = self._on_cpu().run(names, feeds)
        problem = f"{self._gpu.title} failed during a batch: {reason}"
        if not self._auto:
            raise DeviceError(f"{problem}. Load the model again, or pass fewer texts; {ANYWHERE}")
        self.device, self.warning = "cpu", f"{problem}; the model now runs on the CPU"
        warnings.warn(self.warning, RuntimeWarning, stacklevel=2)
        return outputs

    def _on_cpu(self) -> OnnxSession:
        with self._lock:
            if self._cpu is None:
                self._cpu = self._start()
            return self._cpu


def gpu_session(onnxruntime: Any, gpu: Gpu, model: bytes, *, real: bool) -> tuple[Any, str]:
    """Return an onnxruntime session of an ONNX file on a GPU and "", or None and the reason.
    `real`: whether to reject a GPU emulated on the CPU."""
    if lack := _lack(onnxruntime, gpu):
        return None, lack
    if _tried_in and os.getpid() not in _tried_in:  # it would wait for its parent's threads
        return None, "a forked process cannot use the GPU of its parent; start processes by spawn"
    _tried_in[:] = [os.getpid()]
    try:
        with _lock, stopped_at_end():
            return _started(onnxruntime, gpu, model, real=real)
    except Exception as error:
        if not is_of_onnxruntime(error):
            raise
        return None, _explained(error)


def _lack(onnxruntime: Any, gpu: Gpu) -> str:
    """Return the missing requirement, or ""."""
    if gpu.provider in onnxruntime.get_available_providers():
        return ""
    if not gpu.plugin:
        return f"the installed onnxruntime has no {gpu.title} provider"
    if not gpu.has_plugin():
        return f"the package {gpu.plugin.replace('_', '-')} is not installed"
    if not hasattr(onnxruntime, "register_execution_provider_library"):
        return f"onnxruntime {onnxruntime.__version__} does not support plugins"
    return ""


def _started(onnxruntime: Any, gpu: Gpu, model: bytes, *, real: bool) -> tuple[Any, str]:
    built_in = gpu.provider in onnxruntime.get_available_providers()
    if not built_in and gpu.name not in _registered:
        # Registering it twice would end the process.
        _registered.add(gpu.name)
        library = import_module(gpu.plugin).get_library_path()
        onnxruntime.register_execution_provider_library(gpu.plugin, library)
    devices = _devices(onnxruntime, gpu)
    if not (devices or built_in):
        return None, "onnxruntime finds no GPU"
    if real and gpu.emulated and not (devices and _is_real(devices[0])):
        return None, "onnxruntime finds only a software GPU that runs on the CPU"
    options, wanted = session_options(onnxruntime, model), None
    settings = dict(gpu.options)
    if gpu.host_nodes and (names := host_nodes(model)):
        settings[gpu.host_nodes] = names
    if any("library_path" in one.ep_metadata for one in devices):  # from a plugin
        options.add_provider_for_devices(devices[:1], settings)
    else:
        wanted = [(gpu.provider, settings), CPU]
    preload = getattr(onnxruntime, "preload_dlls", None)  # onnxruntime 1.21 or later
    if gpu.packaged and built_in and preload:
        with redirect_stdout(StringIO()):  # the session reports missing libraries again
            preload()
    session = onnxruntime.InferenceSession(model, options, wanted, **AS_ASKED)
    if (providers := session.get_providers())[0] == gpu.provider:
        return session, ""
    return None, f"onnxruntime started on {', '.join(providers)} instead"


def _devices(onnxruntime: Any, gpu: Gpu) -> list[Any]:
    """Return the devices of the provider, GPUs first."""
    listed: list[Any] = getattr(onnxruntime, "get_ep_devices", list)()
    usable = (device for device in listed if device.ep_name == gpu.provider)
    return sorted(usable, key=_is_real, reverse=True)


def _is_real(device: Any) -> bool:
    return bool(device.device.type.name == "GPU")


def _explained(error: Exception) -> str:
    """Return an onnxruntime error on one line, without internals, with an explanation if known."""
    message = str(error.args[0]) if error.args else str(error)
    short = " ".join(_INSIDES.sub("", message).split()).rstrip(".")
    meaning = next((text for mark, text in _MEANINGS.items() if re.search(mark, message, re.I)), "")
    return f"{meaning}: {short}" if meaning else short
