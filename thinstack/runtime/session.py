"""Opens an onnxruntime session on the device that was asked for, or raises an error."""

import warnings
from typing import Any, Literal, get_args

from thinstack.bundle.onnx_gate import check_onnx
from thinstack.config import Device
from thinstack.errors import BundleError, DeviceError, needs_extra

__all__ = ["available_providers", "open_session"]

_SMALL = 1 << 20  # bytes
_CPU, _CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
# By default it rounds what it multiplies to 10 bits (TF32): scores would differ from the CPU's by
# some 1e-3, and trees with them.
_EXACT = {"use_tf32": 0}


def open_session(
    model: bytes, *, device: Device, source: str
) -> tuple[Any, Literal["cpu", "cuda"]]:
    """An `onnxruntime.InferenceSession` for an ONNX file, and the device that it really runs on.

    `source` names the file in messages. `Predictor` describes `device` and the errors. Raises
    BundleError also if `check_onnx` refuses the model or onnxruntime cannot load it.
    """
    if device not in get_args(Device):
        known = ", ".join(get_args(Device))
        raise DeviceError(f"unknown device {device!r}; expected one of {known}")
    with needs_extra("cpu"):
        import onnxruntime
    check_onnx(model, source=source)
    options = _options(onnxruntime, largest_constant=max(_SMALL, 4 * len(model)))
    if device != "cpu":
        session, problem = _try_cuda(onnxruntime, model, options)
        if session is not None:
            return session, "cuda"
        if device == "cuda":
            raise DeviceError(
                f"device 'cuda' does not work here: {problem}. It needs an NVIDIA driver, the CUDA "
                "libraries and onnxruntime-gpu (pip uninstall onnxruntime; pip install "
                "onnxruntime-gpu). If pip installed the CUDA libraries, call "
                'onnxruntime.preload_dlls() first. device="cpu" runs anywhere'
            )
        problem = f"CUDA does not work here ({problem}); the model runs on the CPU"
        warnings.warn(problem, RuntimeWarning, stacklevel=4)
    try:
        return onnxruntime.InferenceSession(model, options, providers=[_CPU]), "cpu"
    except Exception as error:  # onnxruntime's errors have no base class of their own
        problem = f"onnxruntime {onnxruntime.__version__} cannot load it: {error}"
        raise BundleError(f"{source}: {problem}") from None


def available_providers() -> list[str]:
    """The execution providers that onnxruntime was built with, whether or not they work here.
    Raises MissingExtraError without onnxruntime."""
    with needs_extra("cpu"):
        import onnxruntime
    return list(onnxruntime.get_available_providers())


def _options(onnxruntime: Any, *, largest_constant: int) -> Any:
    options = onnxruntime.SessionOptions()
    # Threads share batches, not operators: two threads that wait for each other in every small
    # product take 0.9 to 1.1 of the time of one.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Errors only: its warnings are of the insides of graphs, nothing that a user could mend.
    options.log_severity_level = 3
    # It would also take its own format, which check_onnx knows nothing of.
    options.add_session_config_entry("session.load_model_format", "ONNX")
    # It computes constants while it loads a file, and a few bytes can stand for terabytes.
    options.add_session_config_entry(
        "optimization.constant_folding_max_output_size_in_bytes", str(largest_constant)
    )
    # It would keep a plan of its memory for each shape of inputs, and hardly two batches have one.
    options.enable_mem_pattern = False
    return options


def _try_cuda(onnxruntime: Any, model: bytes, options: Any) -> tuple[Any, str]:
    """A session on CUDA, or None and why not: onnxruntime itself only logs that it falls back."""
    if _CUDA not in onnxruntime.get_available_providers():
        return None, "the installed onnxruntime has no CUDA provider"
    try:
        session = onnxruntime.InferenceSession(model, options, providers=[(_CUDA, _EXACT), _CPU])
    except Exception as error:  # onnxruntime's errors have no base class of their own
        return None, str(error)
    if (providers := session.get_providers())[0] == _CUDA:
        return session, ""
    return None, f"onnxruntime started on {', '.join(providers)} instead"
