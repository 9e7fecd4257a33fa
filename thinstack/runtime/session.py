"""Opens an onnxruntime session on the device that was asked for, or raises an error."""

import warnings
from collections.abc import Collection
from typing import Any, get_args

from thinstack._onnxruntime import import_onnxruntime
from thinstack.bundle.manifest import GPU_FILE
from thinstack.core.config import Device
from thinstack.errors import DeviceError, InputError
from thinstack.runtime.onnx_session import start_session


def open_session(
    model: bytes,
    *,
    device: Device,
    source: str,
    isolated: bool = False,
    allow_operators: Collection[str] = (),
    gpu: bytes = b"",
    trusted: bool = False,
) -> Any:
    """An `onnxruntime.InferenceSession` for an ONNX file, which has the `device` that it really
    runs on.

    `source` names the file in messages. `isolated`: an
    `thinstack.runtime.isolated.IsolatedSession`, which runs it in processes of its own.
    `allow_operators`: further operators that an isolated file may have. `gpu`: the bundle's file
    for GPUs, if it has one. `trusted`: whether the model is the user's own, which is not checked.
    `Predictor` describes `device` and the errors. Raises BundleError also if `check_onnx` refuses
    the model or onnxruntime cannot load it.
    """
    if device not in get_args(Device):
        devices = ", ".join(get_args(Device))
        raise DeviceError(f"unknown device {device!r}; expected one of {devices}")
    if allow_operators and not isolated:
        raise InputError(
            "allow_operators needs a separate process for the model: pass isolated=True"
        )
    files = {source: model}
    if gpu and device != "cpu":
        from thinstack.bundle.gpu_file import joined

        both = f"{source} and {GPU_FILE}"
        files[both] = gpu = joined(gpu, model, source=both)
    if not trusted:
        from thinstack.bundle.gate.onnx_gate import check_onnx

        for name, file in files.items():
            check_onnx(file, source=name, allow=allow_operators)
    if isolated:
        from thinstack.runtime.isolated import IsolatedSession

        session: Any = IsolatedSession(model, device=device, source=source, on_gpu=gpu)
    else:
        session = start_session(model, device, source, gpu)
    if session.warning:
        warnings.warn(session.warning, RuntimeWarning, stacklevel=4)
    return session


def available_providers() -> list[str]:
    """The execution providers that onnxruntime was built with, whether or not they work here.
    Raises MissingExtraError without onnxruntime."""
    return list(import_onnxruntime().get_available_providers())
