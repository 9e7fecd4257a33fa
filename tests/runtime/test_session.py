"""Devices, threads, and what is said where onnxruntime is missing."""

import os
import sys

import onnxruntime
import pytest
from fake_gpu import FakeGpu
from predictions import sentences_of

from thinstack.errors import DeviceError, MissingExtraError
from thinstack.runtime.predictor import Predictor

NO_CUDA = pytest.mark.skipif(
    "CUDAExecutionProvider" in onnxruntime.get_available_providers(),
    reason="this onnxruntime has CUDA",
)


@NO_CUDA
def test_cuda_that_is_not_there_is_an_error_or_a_warning(last_word):
    with pytest.raises(DeviceError, match=r'pip install "onnxruntime-gpu\[cuda,cudnn\]"'):
        Predictor(last_word, device="cuda")
    with pytest.warns(RuntimeWarning, match="runs on the CPU"):
        predictor = Predictor(last_word, device="auto")
    assert predictor.device == "cpu"
    assert predictor.predict([["good"]])[0].node_scores.shape == (1, 3)


@NO_CUDA
@pytest.mark.filterwarnings("ignore:Specified provider 'CUDAExecutionProvider':UserWarning")
def test_what_the_session_runs_on_counts_and_not_what_is_announced(last_word, monkeypatch):
    announced = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: announced)
    with pytest.raises(DeviceError, match="CPUExecutionProvider"):
        Predictor(last_word, device="cuda")
    with pytest.warns(RuntimeWarning, match="runs on the CPU"):
        assert Predictor(last_word, device="auto").device == "cpu"


@pytest.mark.parametrize(("device", "batches", "calls"), [("cpu", 6, 20), ("cuda", 1, 2)])
def test_a_gpu_has_larger_batches(last_word, monkeypatch, device, batches, calls):
    fake = FakeGpu(monkeypatch)
    fake.built_in = ["cuda"]
    predictor = Predictor(last_word, device=device, threads=1)
    predictor.predict([["good", "film"]] * 3000)  # 9,000 nodes
    assert fake.counts.total() == batches
    assert len(list(sentences_of(predictor, ["good"] * 5_000))) == 5_000
    assert fake.counts.total() == batches + calls


def test_an_operator_runs_on_one_thread(last_word):
    predictor = Predictor(last_word, threads=3)
    assert predictor.threads == predictor.pool.threads == 3
    assert predictor._session.get_session_options().intra_op_num_threads == 1
    assert Predictor(last_word).pool.threads == len(os.sched_getaffinity(0))


def test_the_session_keeps_no_plan_of_memory_for_each_shape_of_a_batch(last_word):
    assert not Predictor(last_word)._session.get_session_options().enable_mem_pattern


def test_without_onnxruntime_the_pip_command_is_told(last_word, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match="pip install onnxruntime,"):
        Predictor(last_word)
