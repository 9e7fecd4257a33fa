"""Sessions on GPUs that a fake onnxruntime finds: which one is taken, and what fails how."""

import os
import sys
import warnings

import numpy as np
import onnxruntime
import pytest
from fake_gpu import CPU, LOST, PROVIDERS, TOO_LARGE

from thinstack.errors import BundleError, DeviceError
from thinstack.integrations.corpora.inputs import Row
from thinstack.integrations.corpora.scoring import TextScorer
from thinstack.runtime.isolated import ModelProcess
from thinstack.runtime.predictor import Predictor

CUDA, WEBGPU = PROVIDERS.values()
CORES = 2
MANY = [["good", "film"]] * CORES * 128
"""Just enough words for a GPU."""


def refused(bundle, device="webgpu"):
    with pytest.raises(DeviceError) as caught:
        Predictor(bundle, device=device)
    said = str(caught.value)
    assert said.startswith(f"device '{device}' does not work here: ")
    assert said.endswith('device="cpu" runs anywhere')
    return said


def test_a_plugin_is_registered_once_and_only_when_asked_for(last_word, fake):
    fake.plugged = ["CPU", "GPU"]
    assert Predictor(last_word).device == "cpu"
    assert fake.registered == 0
    for _ in range(2):
        assert Predictor(last_word, device="webgpu").device == "webgpu"
    assert fake.registered == 1
    devices, options = fake.asked[-1]
    assert [each.device.type.name for each in devices] == ["GPU"]
    assert options == {}


def test_a_provider_of_onnxruntime_itself_is_taken_by_name(last_word, fake):
    fake.built_in = ["webgpu"]
    assert Predictor(last_word, device="webgpu").device == "webgpu"
    assert fake.asked == [[(WEBGPU, {}), CPU]]
    assert fake.registered == 0


def test_libraries_that_pip_installed_are_loaded_for_cuda_alone(
    last_word, fake, monkeypatch, capsys
):
    def preload():
        sys.stdout.write("Failed to load /nowhere/libcudart.so")
        called.append(True)

    called = []
    monkeypatch.setattr(onnxruntime, "preload_dlls", preload, raising=False)
    fake.built_in = ["webgpu", "cuda"]
    for device, calls in ("webgpu", 0), ("cuda", 1):
        assert Predictor(last_word, device=device).device == device
        assert len(called) == calls
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("built_in", "plugged", "device"),
    [
        (["cuda"], ["GPU"], "cuda"),
        ([], ["GPU"], "webgpu"),
        ([], ["CPU", "GPU"], "webgpu"),
        ([], ["CPU"], "cpu"),
        (["webgpu"], [], "cpu"),
    ],
)
def test_auto_takes_cuda_then_webgpu_on_a_gpu_and_no_program_for_one(
    last_word, fake, built_in, plugged, device
):
    fake.built_in, fake.plugged = built_in, plugged
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert Predictor(last_word, device="auto").device == device
    assert len(warned) == (device == "cpu")
    for each in warned:
        assert "CUDA: the installed onnxruntime has no CUDA provider" in str(each.message)
        assert "WebGPU: onnxruntime finds only a software GPU" in str(each.message)
    if device == "cpu" and plugged:
        assert Predictor(last_word, device="webgpu").device == "webgpu"


def test_what_is_not_installed_is_said(last_word, fake, monkeypatch):
    for _ in range(2):
        said = refused(last_word)
        assert "onnxruntime finds no GPU" in said
        assert "libvulkan1" in said
    assert fake.registered == 1  # twice would end the process
    fake.plugin = False
    said = refused(last_word)
    assert "the package onnxruntime-ep-webgpu is not installed" in said
    assert "pip install onnxruntime-ep-webgpu" in said
    fake.plugin = True
    monkeypatch.delattr(onnxruntime, "register_execution_provider_library")
    assert f"onnxruntime {onnxruntime.__version__} does not support plugins" in refused(last_word)


NO_ADAPTER = "/a/webgpu_context.cc:136 f(x)::<lambda()> adapter.status == Success was false. \
Failed to get a WebGPU adapter: No supported adapters\n\n"


def test_why_no_session_starts_is_said_without_the_places_in_its_code(last_word, fake):
    fake.plugged, fake.starts = ["GPU"], NO_ADAPTER
    assert "here: Failed to get a WebGPU adapter: No supported adapters. It" in refused(last_word)


def on_gpu(problem):
    return lambda provider, feeds: problem if provider != CPU else None


@pytest.mark.parametrize("device", ["cuda", "webgpu"])
def test_a_device_that_is_lost_is_an_error(last_word, fake, device):
    fake.built_in = [device]
    predictor = Predictor(last_word, device=device)
    fake.runs = on_gpu(LOST)
    title = {"cuda": "CUDA", "webgpu": "WebGPU"}[device]
    expected = f"{title} failed during a batch: the device was lost.*buffer.*is lost"
    with pytest.raises(DeviceError, match=expected):
        predictor.predict([["good"]])
    assert predictor.device == device


def test_no_text_is_at_fault_where_a_device_is_lost(last_word, fake):
    fake.built_in = ["webgpu"]
    predictor = Predictor(last_word, device="webgpu")
    fake.runs, failed = on_gpu(LOST), []
    with pytest.raises(DeviceError, match="was lost"):
        list(predictor.stream(["good"] * 9, on_error=lambda *given: failed.append(given)))
    assert failed == []
    rows = [Row(str(place), "good") for place in range(9)]
    with pytest.raises(DeviceError, match="was lost"):
        TextScorer(predictor, "documents")(rows)


def test_auto_does_a_batch_whose_device_is_lost_on_the_cpu_and_all_that_follow(last_word, fake):
    fake.plugged = ["GPU"]
    predictor = Predictor(last_word, device="auto", threads=3)
    assert (predictor.device, predictor.pool.threads) == ("webgpu", 1)
    fake.runs = on_gpu(LOST)
    with pytest.warns(RuntimeWarning, match="WebGPU failed.* lost.*now runs on the CPU") as warned:
        found = predictor.node_scores(MANY, [np.array([0, 0, 1])] * len(MANY))
    assert len(warned) == 1
    assert fake.counts[WEBGPU] == 1
    wanted = Predictor(last_word).node_scores(MANY[:1], [np.array([0, 0, 1])])
    for each in found:
        np.testing.assert_array_equal(each, wanted[0])
    assert (predictor.device, predictor.pool.threads) == ("cpu", 3)
    words = np.zeros(256 * CORES, np.int32)
    predictor._session.run(["node_scores"], {"token_ids": words, "transitions": words})
    assert fake.counts[WEBGPU] == 1


def test_auto_runs_small_batches_on_the_cpu(last_word, fake):
    fake.plugged = ["GPU"]
    predictor = Predictor(last_word, device="auto")
    for words, gpu in ((256 * CORES - 1, 0), (256 * CORES, 1)):
        fake.counts.clear()
        feeds = {"transitions": np.zeros(2 * words - 1, np.int32), "lengths": np.int32([words])}
        feeds |= {"piece_ids": np.ones(3 * words), "pieces_per_word": np.full(words, 3)}
        fake.runs = lambda *_: "nothing is computed"
        with pytest.raises(BundleError):
            predictor._session.run(["node_scores"], feeds)
        assert (fake.counts[WEBGPU], fake.counts[CPU]) == (gpu, 1)
    assert predictor.device == "webgpu"


@pytest.mark.parametrize("device", ["webgpu", "auto"])
def test_what_fails_on_the_cpu_too_is_a_fault_of_the_model(last_word, fake, device):
    fake.plugged = ["GPU"]
    predictor = Predictor(last_word, device=device)
    fake.runs = lambda provider, feeds: f"Gather on {provider}"
    with pytest.raises(BundleError, match=r"failed on 768 nodes: Gather on CPU"):
        predictor.predict(MANY)
    assert predictor.device == "webgpu"


def test_a_batch_that_is_too_large_for_the_device_is_halved(last_word, fake):
    fake.built_in = ["webgpu"]
    predictor = Predictor(last_word, device="webgpu")
    fake.runs = lambda provider, feeds: (
        TOO_LARGE if provider == WEBGPU and feeds["token_ids"].size > 3 else None
    )
    with pytest.raises(DeviceError, match="larger than the device's buffers: WebGPU validation"):
        predictor.predict([["good"]] * 8)
    assert [each.label for each in predictor.stream(["good"] * 8)] == ["good"] * 8


def test_an_isolated_model_tells_that_it_has_left_the_gpu(last_word, monkeypatch):
    predictor = Predictor(last_word, device="cpu", isolated=True)
    session, ask = predictor._session, ModelProcess.ask

    def told(process, request, arrays):
        reply = ask(process, request, arrays)
        assert reply.data == {"warning": ""}
        return reply._replace(data={"warning": "WebGPU failed"})

    monkeypatch.setattr(ModelProcess, "ask", told)
    assert predictor.predict([["good"]])[0].label == "good"  # no warning: it is on the CPU
    session.device, session._asked = "webgpu", "auto"
    with pytest.warns(RuntimeWarning, match="WebGPU failed"):
        predictor.predict([["good"]])
    assert predictor.device == session._asked == "cpu"
    predictor.predict([["good"]])  # it warns once


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_does_not_wait_for_the_gpu_of_its_parent(last_word, fake):
    fake.plugged = ["GPU"]
    predictor = Predictor(last_word, device="webgpu")
    if (child := os.fork()) == 0:
        try:
            predictor.predict([["good"]])
        except DeviceError as error:
            os._exit("forked process" in str(error) and "spawn" in str(error))
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert predictor.predict([["good"]])[0].label == "good"
