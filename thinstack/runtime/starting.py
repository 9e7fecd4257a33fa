"""Starts a session on the device that was asked for."""

from functools import partial
from typing import Any, NamedTuple

from thinstack._onnxruntime import import_onnxruntime
from thinstack.errors import DeviceError
from thinstack.runtime.devices import RunningDevice, gpus_for
from thinstack.runtime.onnx_session import cpu_session


class Started(NamedTuple):
    """A session, the device that it really runs on, and what the user should be warned of."""

    session: Any
    device: RunningDevice
    warning: str = ""


def start_session(model: bytes, device: str, source: str, on_gpu: bytes = b"") -> Started:
    """A session for an ONNX file. `on_gpu` is the file that a GPU runs instead, if there is one.
    `check_onnx` has let both pass. Raises BundleError, DeviceError and MissingExtraError as
    `thinstack.runtime.session.open_session` does."""
    onnxruntime = import_onnxruntime()
    on_cpu = partial(cpu_session, onnxruntime, model, source)
    auto, problems = device == "auto", []
    for gpu in gpus_for(device):
        from thinstack.runtime.gpu_session import ANYWHERE, GpuSession, gpu_session

        session, problem = gpu_session(onnxruntime, gpu, on_gpu or model, real=auto)
        if session is not None:
            return Started(GpuSession(session, gpu, on_cpu, auto=auto), gpu.name)
        if not auto:
            problem = f"device '{device}' does not work here: {problem}. {gpu.needs}"
            raise DeviceError(f"{problem}. {ANYWHERE}")
        problems.append(f"{gpu.title}: {problem}")
    found = f"no GPU works here ({'; '.join(problems)}); the model runs on the CPU"
    return Started(on_cpu(), "cpu", found if problems else "")
