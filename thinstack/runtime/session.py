"""Open an onnxruntime session on the requested device, or raise an error. Few imports, because the
worker process of an isolated model starts with this module."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from numpy.typing import NDArray

from thinstack._onnxruntime import import_onnxruntime, is_of_onnxruntime
from thinstack.errors import BundleError, DeviceError, InputError
from thinstack.runtime.devices import GPUS, RunningDevice
from thinstack.runtime.ending import end_with_program, stopped_at_end

if TYPE_CHECKING:
    from thinstack.core.config import Device

CPU: Final = "CPUExecutionProvider"
# By default, onnxruntime tries other devices after a failure and prints that to standard output. It
# also mistakes exceptions from signal handlers for such failures.
AS_ASKED: Final = {"enable_fallback": 0}
_SMALL = 1 << 20  # bytes


class OnnxSession:
    """An `onnxruntime.InferenceSession` whose `run` raises thinstack's errors, and stops when the
    program exits.

    Attributes:
        inputs: {input name: type}.
        outputs: the output names.
        metadata: the metadata of the file.
        device: the device that it actually runs on.
        warning: a warning for the user, for example that the GPU failed; else "".
    """

    warning = ""

    def __init__(self, session: Any, device: RunningDevice = "cpu"):
        self._session, self.device = session, device
        self._options = import_onnxruntime().RunOptions
        self.inputs: dict[str, str] = {item.name: item.type for item in session.get_inputs()}
        self.outputs: list[str] = [item.name for item in session.get_outputs()]
        self.metadata: dict[str, str] = dict(session.get_modelmeta().custom_metadata_map)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def run(self, names: Sequence[str], feeds: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """Return the named outputs. Raises BundleError with onnxruntime's message if it fails.
        Exceptions from signal handlers of the program propagate."""
        options = self._options()
        options.log_severity_level = 4  # it raises the same messages
        try:
            with stopped_at_end(options):
                outputs: list[NDArray[Any]] = self._session.run(names, feeds, options)
        except Exception as error:
            if not is_of_onnxruntime(error):
                raise
            end_with_program()  # the exit of the program stopped the run
            raise BundleError(str(error)) from None
        return outputs


def session_options(onnxruntime: Any, model: bytes) -> Any:
    """Return the session options for an ONNX file, for any device."""
    options = onnxruntime.SessionOptions()
    # Threads share batches, not operators: two threads that synchronize in every small product take
    # 0.9 to 1.1 times as long as one.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Errors only: its warnings concern graph internals that a user cannot fix.
    options.log_severity_level = 3
    # It would also load its own format, which check_onnx does not check.
    options.add_session_config_entry("session.load_model_format", "ONNX")
    # It folds constants while loading a file, and a few bytes can expand to terabytes.
    options.add_session_config_entry(
        "optimization.constant_folding_max_output_size_in_bytes", str(max(_SMALL, 4 * len(model)))
    )
    # It would cache a memory plan for each input shape, and batches rarely share a shape.
    options.enable_mem_pattern = False
    return options


def cpu_session(onnxruntime: Any, model: bytes, source: str) -> OnnxSession:
    """Return a session on the CPU. Raises BundleError if onnxruntime cannot load the file."""
    options = session_options(onnxruntime, model)
    try:
        with stopped_at_end():
            session = onnxruntime.InferenceSession(model, options, [CPU], **AS_ASKED)
    except Exception as error:
        if not is_of_onnxruntime(error):
            raise
        problem = f"onnxruntime {onnxruntime.__version__} cannot load it: {error}"
        raise BundleError(f"{source}: {problem}") from None
    return OnnxSession(session)


def start_session(model: bytes, device: str, source: str, on_gpu: bytes = b"") -> OnnxSession:
    """Return a session for an ONNX file. `on_gpu` is the file for a GPU, if there is one. Both have
    passed `check_onnx`. Raises BundleError, DeviceError and MissingExtraError as
    `thinstack.runtime.session.open_session` does."""
    onnxruntime = import_onnxruntime()
    on_cpu = partial(cpu_session, onnxruntime, model, source)
    auto, problems = device == "auto", []
    for gpu in (gpu for gpu in GPUS if device in (gpu.name, "auto")):
        from thinstack.runtime.gpu_session import ANYWHERE, GpuSession, gpu_session

        session, problem = gpu_session(onnxruntime, gpu, on_gpu or model, real=auto)
        if session is not None:
            return GpuSession(session, gpu, on_cpu, auto=auto)
        if not auto:
            problem = f"device '{device}' does not work here: {problem}. {gpu.needs}"
            raise DeviceError(f"{problem}. {ANYWHERE}")
        problems.append(f"{gpu.title}: {problem}")
    started = on_cpu()
    if problems:
        started.warning = f"no GPU works here ({'; '.join(problems)}); the model runs on the CPU"
    return started


def open_session(
    model: bytes,
    *,
    device: "Device",
    source: str,
    isolated: bool = False,
    allow_operators: Collection[str] = (),
    gpu: bytes = b"",
    trusted: bool = False,
) -> Any:
    """Return an `OnnxSession` of an ONNX file, which messages call `source`; if `isolated`, an
    `IsolatedSession`, which runs it in separate processes.

    `allow_operators`: further operators allowed in an isolated file. `gpu`: the bundle's file for
    GPUs, if there is one. `trusted`: whether the model is the user's own and is not checked.
    `Predictor` describes `device` and the errors. Raises BundleError also if `check_onnx` refuses
    the model or onnxruntime cannot load it.
    """
    devices = ("cpu", *(gpu.name for gpu in GPUS), "auto")
    if device not in devices:
        raise DeviceError(f"unknown device {device!r}; expected one of {', '.join(devices)}")
    if allow_operators and not isolated:
        raise InputError(
            "allow_operators needs a separate process for the model: pass isolated=True"
        )
    files = {source: model}
    if gpu and device != "cpu":
        from thinstack.bundle.gpu_file import joined
        from thinstack.bundle.manifest import GPU_FILE

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
    """Return the execution providers of the onnxruntime build, whether or not they work here.
    Raises MissingExtraError without onnxruntime."""
    return list(import_onnxruntime().get_available_providers())
