"""Starts and runs an onnxruntime session. It imports little else of the package, because a process
of a model's own starts with it."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import NDArray

from thinstack._onnxruntime import import_onnxruntime, is_of_onnxruntime
from thinstack.errors import BundleError, DeviceError
from thinstack.runtime.ending import end_with_program, stopped_at_end

_SMALL = 1 << 20  # bytes
_CPU, _CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
# By default it rounds what it multiplies to 10 bits (TF32): scores would differ from the CPU's by
# some 1e-3, and trees with them.
_EXACT = {"use_tf32": 0}
# By default it tries other devices when one fails, and prints that where results are printed. It
# takes errors of signal handlers for such failures.
_AS_ASKED = {"enable_fallback": 0}


class OnnxSession:
    """An `onnxruntime.InferenceSession`, whose `run` raises errors of thinstack, and stops when the
    program ends."""

    def __init__(self, session: Any):
        self._session = session
        self._options = import_onnxruntime().RunOptions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def run(self, names: Sequence[str], feeds: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """The outputs of these names. Raises BundleError with what onnxruntime says, if it fails.
        What a signal handler of the program raises goes through."""
        options = self._options()
        options.log_severity_level = 4  # it raises what it would print
        try:
            with stopped_at_end(options):
                outputs: list[NDArray[Any]] = self._session.run(names, feeds, options)
        except Exception as error:
            if not is_of_onnxruntime(error):
                raise
            end_with_program()  # which stopped the run
            raise BundleError(str(error)) from None
        return outputs


class Started(NamedTuple):
    """A session, the device that it really runs on, and what the user should be warned of."""

    session: Any
    device: Literal["cpu", "cuda"]
    warning: str = ""


def start_session(model: bytes, device: str, source: str) -> Started:
    """A session for an ONNX file that `check_onnx` has let pass. Raises BundleError, DeviceError
    and MissingExtraError as `thinstack.runtime.session.open_session` does."""
    onnxruntime = import_onnxruntime()
    options = _options(onnxruntime, largest_constant=max(_SMALL, 4 * len(model)))
    warning = ""
    if device != "cpu":
        session, problem = _try_cuda(onnxruntime, model, options)
        if session is not None:
            return Started(OnnxSession(session), "cuda")
        if device == "cuda":
            raise DeviceError(
                f"device 'cuda' does not work here: {problem}. It needs an NVIDIA driver, the CUDA "
                "libraries and onnxruntime-gpu (pip uninstall onnxruntime; pip install "
                "onnxruntime-gpu). If pip installed the CUDA libraries, call "
                'onnxruntime.preload_dlls() first. device="cpu" runs anywhere'
            )
        warning = f"CUDA does not work here ({problem}); the model runs on the CPU"
    try:
        with stopped_at_end():
            session = onnxruntime.InferenceSession(model, options, [_CPU], **_AS_ASKED)
    except Exception as error:
        if not is_of_onnxruntime(error):
            raise
        problem = f"onnxruntime {onnxruntime.__version__} cannot load it: {error}"
        raise BundleError(f"{source}: {problem}") from None
    return Started(OnnxSession(session), "cpu", warning)


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
        with stopped_at_end():
            wanted = [(_CUDA, _EXACT), _CPU]
            session = onnxruntime.InferenceSession(model, options, wanted, **_AS_ASKED)
    except Exception as error:
        if not is_of_onnxruntime(error):
            raise
        return None, str(error)
    if (providers := session.get_providers())[0] == _CUDA:
        return session, ""
    return None, f"onnxruntime started on {', '.join(providers)} instead"
