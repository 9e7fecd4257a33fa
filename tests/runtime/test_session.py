"""Devices, threads and other settings, and what is said of wrong ones."""

import os
import sys

import numpy as np
import onnxruntime
import pytest
from bundle_folders import CONFIG
from fake_gpu import FakeGpu
from predictions import sentences_of

from thinstack.core.config import ModelConfig
from thinstack.errors import ConfigError, DeviceError, InputError, MissingExtraError, TreeError
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


def test_an_operator_runs_on_one_thread_and_no_shape_of_a_batch_has_a_plan_of_memory(last_word):
    predictor = Predictor(last_word, threads=np.int64(3))
    assert predictor.threads == predictor.pool.threads == 3
    options = predictor._session.get_session_options()
    assert (options.intra_op_num_threads, options.enable_mem_pattern) == (1, False)
    assert Predictor(last_word).pool.threads == len(os.sched_getaffinity(0))


def test_without_onnxruntime_the_pip_command_is_told(last_word, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match="pip install onnxruntime,"):
        Predictor(last_word)


ODD = {
    "threads": [1.5, True, "2", [], 0, -1, 257, 100_000],
    "abstain": ["0.5", float("nan"), [], 0.0, 1.0],
    "max_words": [1, 0, -5, True, 2.5, None, "400"],
    "classes": [1, 4, 6],
    "device": ["tpu"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in ODD.items() for value in values]
)
def test_odd_settings_of_a_predictor(last_word, name, value):
    with pytest.raises((InputError, DeviceError), match=name) as caught:
        Predictor(last_word, **{name: value})
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("odd", [None, 1.5, [], {}], ids=str)
def test_odd_arguments_of_calls(last_word, odd):
    predictor = Predictor(last_word, threads=1)
    with pytest.raises(InputError, match="tree source"):
        list(sentences_of(predictor, ["good"], source=odd))
    with pytest.raises(InputError, match=r"expected trees or a tree source|need \d+ trees"):
        predictor.predict([["good"]], source=odd)
    with pytest.raises(TreeError, match="tree 0: "):
        predictor.predict_trees([odd])
    with pytest.raises(InputError, match="expected a prediction, found"):
        predictor.why(odd)


def test_labels_are_text_that_can_be_written():
    for labels in (["bad", "\ud800"], ["\udfff", "good"]):
        raw = CONFIG.model_dump(mode="json") | {"labels": labels}
        with pytest.raises(ConfigError, match=r"labels .*'\\ud"):
            ModelConfig.parse(raw, source="test")
