"""A GPU by WebGPU, or a program that pretends to be one (`.ci/jobs/webgpu`)."""

from collections.abc import Callable

import pytest
from last_word_model import last_word_model

from thinstack.errors import ThinstackError
from thinstack.runtime.gpu_session import GpuSession
from thinstack.runtime.session import start_session


@pytest.fixture(scope="session", autouse=True)
def _adapter() -> None:
    """Skip all tests where nothing runs by WebGPU."""
    try:
        start_session(last_word_model("words"), "webgpu", "a small model")
    except ThinstackError as error:
        pytest.skip(f"needs WebGPU, see .ci/jobs/webgpu: {error}")


@pytest.fixture(scope="session")
def on_webgpu() -> Callable[[bytes], GpuSession]:
    """Starts a session on WebGPU for the bytes of an ONNX file. Its `run(names, feeds)` gives the
    outputs."""

    def start(model: bytes) -> GpuSession:
        session = start_session(model, "webgpu", "a model of a test")
        assert session.get_providers()[0] == "WebGpuExecutionProvider"
        return session

    return start
