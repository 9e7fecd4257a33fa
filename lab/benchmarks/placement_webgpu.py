"""Sessions of onnxruntime on WebGPU, by the plugin package `onnxruntime-ep-webgpu`. On a machine
without a GPU, `ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER=1` and a software Vulkan driver stand in."""

import functools
import importlib
from typing import Any, Final

from rich.console import Console
from typer import Exit

from thinstack._onnxruntime import import_onnxruntime
from thinstack.bundle.gpu_file import host_nodes

onnxruntime = import_onnxruntime()

PACKAGE: Final = "onnxruntime-ep-webgpu"
NAME: Final = "WebGpuExecutionProvider"


@functools.cache
def devices() -> list[Any]:
    """The devices that WebGPU offers. Ends the program with exit code 2 where there is none."""
    try:
        package = importlib.import_module(PACKAGE.replace("-", "_"))
    except ImportError:
        problem = f"the package {PACKAGE} is not installed: pip install {PACKAGE}"
    else:
        onnxruntime.register_execution_provider_library(NAME, package.get_library_path())
        if found := [each for each in onnxruntime.get_ep_devices() if each.ep_name == NAME]:
            return found
        problem = (
            "it offers no device; ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER=1 allows a software GPU"
        )
    raise _ended(problem)


def _ended(problem: str) -> Exit:
    Console(stderr=True).print(f"no WebGPU here: {problem}", soft_wrap=True, markup=False)
    return Exit(2)


def webgpu_session(model: bytes, options: Any = None) -> Any:
    """A session on WebGPU that records where nodes are placed; what WebGPU lacks runs on the
    CPU. Ends the program with exit code 2 where there is no adapter."""
    options = options or onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    names = host_nodes(model)
    settings = {"forceCpuNodeNames": names} if names else {}
    options.add_provider_for_devices(devices()[:1], settings)
    try:
        return onnxruntime.InferenceSession(model, options, enable_fallback=0)
    except RuntimeError as error:
        if "WebGPU adapter" not in str(error):
            raise
        problem = "no adapter: install a Vulkan driver, and name its ICD file in VK_DRIVER_FILES"
        raise _ended(problem) from None
