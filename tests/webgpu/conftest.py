"""Opens ONNX files on WebGPU: on a GPU, or on a software GPU if the environment allows one."""

import pytest


@pytest.fixture(scope="session")
def on_webgpu():
    """Starts a session on WebGPU for the bytes of an ONNX file."""
    plugin = pytest.importorskip("onnxruntime_ep_webgpu", reason="needs onnxruntime-ep-webgpu")
    import onnxruntime

    onnxruntime.register_execution_provider_library("webgpu", plugin.get_library_path())
    name = "WebGpuExecutionProvider"
    devices = [each for each in onnxruntime.get_ep_devices() if each.ep_name == name]
    if not devices:
        pytest.skip("needs an adapter of WebGPU, or ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER=1")

    def start(content):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.add_provider_for_devices(devices[:1], {})
        return onnxruntime.InferenceSession(content, options, enable_fallback=0)

    return start
