"""Devices, threads, and what is said where onnxruntime is missing."""

import sys

import onnxruntime
import pytest

from thinstack.bundle import Bundle
from thinstack.errors import DeviceError, InputError, MissingExtraError
from thinstack.runtime.predictor import Predictor

NO_CUDA = pytest.mark.skipif(
    "CUDAExecutionProvider" in onnxruntime.get_available_providers(),
    reason="this onnxruntime has CUDA",
)


@NO_CUDA
def test_cuda_that_is_not_there_is_an_error_or_a_warning(last_word: Bundle) -> None:
    with pytest.raises(DeviceError, match=r"CUDA.*thinstack\[gpu\]"):
        Predictor(last_word, device="cuda")
    with pytest.warns(RuntimeWarning, match="runs on the CPU"):
        predictor = Predictor(last_word, device="auto")
    assert predictor.device == "cpu"
    assert predictor.predict([["good"]])[0].scores.shape == (1, 3)


@NO_CUDA
@pytest.mark.filterwarnings("ignore:Specified provider 'CUDAExecutionProvider':UserWarning")
def test_what_the_session_runs_on_counts_and_not_what_is_announced(
    last_word: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    announced = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: announced)
    with pytest.raises(DeviceError, match="started on CPUExecutionProvider instead"):
        Predictor(last_word, device="cuda")
    with pytest.warns(RuntimeWarning, match="runs on the CPU"):
        assert Predictor(last_word, device="auto").device == "cpu"


def test_the_first_provider_is_the_device(
    last_word: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = onnxruntime.InferenceSession

    class Announcing(real):
        def __init__(self, content: bytes, options: object, providers: list[str]):
            super().__init__(content, options, providers=["CPUExecutionProvider"])
            self.asked = providers

        def get_providers(self) -> list[str]:
            return self.asked

    monkeypatch.setattr(onnxruntime, "InferenceSession", Announcing)
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider"])
    found = [Predictor(last_word, device=device).device for device in ("cpu", "cuda", "auto")]
    assert found == ["cpu", "cuda", "cuda"]


def test_devices_and_threads_are_checked(last_word: Bundle) -> None:
    with pytest.raises(DeviceError, match=r"'tpu'.* cpu, cuda, auto"):
        Predictor(last_word, device="tpu")
    for threads in (0, -1, 257, 100_000):
        with pytest.raises(InputError, match=f"{threads}; expected 1 to 256"):
            Predictor(last_word, threads=threads)


def test_threads_reach_the_session(last_word: Bundle) -> None:
    predictor = Predictor(last_word, threads=3)
    assert predictor.threads == 3
    assert predictor._session.get_session_options().intra_op_num_threads == 3


def test_the_session_keeps_no_plan_of_memory_for_each_shape_of_a_batch(last_word: Bundle) -> None:
    assert not Predictor(last_word)._session.get_session_options().enable_mem_pattern


def test_without_onnxruntime_the_pip_command_is_told(
    last_word: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"thinstack\[cpu\]"):
        Predictor(last_word)
