"""Starts an onnxruntime session. It imports nothing else of the package but its errors, because a
process of a model's own starts with it."""

from typing import Any, Literal, NamedTuple

from thinstack.errors import BundleError, DeviceError, needs_extra

__all__ = ["Started", "start_session"]

_SMALL = 1 << 20  # bytes
_CPU, _CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
# By default it rounds what it multiplies to 10 bits (TF32): scores would differ from the CPU's by
# some 1e-3, and trees with them.
_EXACT = {"use_tf32": 0}


class Started(NamedTuple):
    """A session, the device that it really runs on, and what the user should be warned of."""

    session: Any
    device: Literal["cpu", "cuda"]
    warning: str = ""


def start_session(model: bytes, device: str, source: str) -> Started:
    """A session for an ONNX file that `check_onnx` has let pass. Raises BundleError, DeviceError
    and MissingExtraError as `thinstack.runtime.session.open_session` does."""
    with needs_extra("cpu"):
        import onnxruntime
    options = _options(onnxruntime, largest_constant=max(_SMALL, 4 * len(model)))
    warning = ""
    if device != "cpu":
        session, problem = _try_cuda(onnxruntime, model, options)
        if session is not None:
            return Started(session, "cuda")
        if device == "cuda":
            raise DeviceError(
                f"device 'cuda' does not work here: {problem}. It needs an NVIDIA driver, the CUDA "
                "libraries and onnxruntime-gpu (pip uninstall onnxruntime; pip install "
                "onnxruntime-gpu). If pip installed the CUDA libraries, call "
                'onnxruntime.preload_dlls() first. device="cpu" runs anywhere'
            )
        warning = f"CUDA does not work here ({problem}); the model runs on the CPU"
    try:
        session = onnxruntime.InferenceSession(model, options, providers=[_CPU])
    except Exception as error:  # onnxruntime's errors have no base class of their own
        problem = f"onnxruntime {onnxruntime.__version__} cannot load it: {error}"
        raise BundleError(f"{source}: {problem}") from None
    return Started(session, "cpu", warning)


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
