"""Opens an onnxruntime session on the device that was asked for, or raises an error. It imports
little else of the package, because a process of a model's own starts with it."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from numpy.typing import NDArray

from thinstack._onnxruntime import import_onnxruntime, is_of_onnxruntime
from thinstack.errors import BundleError, DeviceError, InputError
from thinstack.runtime.devices import GPUS, RunningDevice
from thinstack.runtime.ending import end_with_program, stopped_at_end

if TYPE_CHECKING:
    from thinstack.core.config import Device

CPU: Final = "CPUExecutionProvider"
# By default it tries other devices when one fails, and prints that where results are printed. It
# takes errors of signal handlers for such failures.
AS_ASKED: Final = {"enable_fallback": 0}
_SMALL = 1 << 20  # bytes


class OnnxSession:
    """An `onnxruntime.InferenceSession`, whose `run` raises errors of thinstack, and stops when the
    program ends.

    Attributes:
        inputs: the type of each input, by its name.
        outputs: the name of each output.
        metadata: of the file.
        device: what it really runs on.
        warning: of what the user should be warned, as that it has left its GPU; else "".
    """

    warning = ""

    def __init__(self, session: Any, device: RunningDevice = "cpu"):
        self._session, self.device = session, device
        self._options = import_onnxruntime().RunOptions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    @cached_property
    def inputs(self) -> dict[str, str]:
        return {item.name: item.type for item in self._session.get_inputs()}

    @cached_property
    def outputs(self) -> list[str]:
        return [item.name for item in self._session.get_outputs()]

    @cached_property
    def metadata(self) -> dict[str, str]:
        return dict(self._session.get_modelmeta().custom_metadata_map)

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


def session_options(onnxruntime: Any, model: bytes) -> Any:
    """The options of a session for this ONNX file, on any device."""
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
        "optimization.constant_folding_max_output_size_in_bytes", str(max(_SMALL, 4 * len(model)))
    )
    # It would keep a plan of its memory for each shape of inputs, and hardly two batches have one.
    options.enable_mem_pattern = False
    return options


def cpu_session(onnxruntime: Any, model: bytes, source: str) -> OnnxSession:
    """A session on the CPU. Raises BundleError if onnxruntime cannot load the file."""
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
    """A session for an ONNX file. `on_gpu` is the file that a GPU runs instead, if there is one.
    `check_onnx` has let both pass. Raises BundleError, DeviceError and MissingExtraError as
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
    """An `OnnxSession` of an ONNX file, which `source` names in messages; an `IsolatedSession`
    where `isolated`, which runs it in processes of its own.

    `allow_operators`: further operators that an isolated file may have. `gpu`: the bundle's file
    for GPUs, if it has one. `trusted`: whether the model is the user's own, which is not checked.
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
    """The execution providers that onnxruntime was built with, whether or not they work here.
    Raises MissingExtraError without onnxruntime."""
    return list(import_onnxruntime().get_available_providers())
