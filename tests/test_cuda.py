"""What runs on CUDA gives what it gives on the CPU. Skipped where there is no GPU."""

import copy
import warnings
from functools import partial

import numpy as np
import pytest
import torch
from bundle_folders import GOLDEN
from core.configured import build
from registered_models import cell_models

import thinstack
from thinstack.bundle.weights import load_model
from thinstack.core import transitions as shapes
from thinstack.core.forest import join, without_trees
from thinstack.errors import DeviceError
from thinstack.export.samples import sample_trees

SENTENCES = [["A", "wonderful", "film"], ["Dull"], ["The", "plot", "never", "comes", "alive", "."]]
MODELS = {
    "words": partial(load_model, GOLDEN / "words"),
    "transitions": partial(load_model, GOLDEN / "wordpiece-parser"),
    "distances": partial(build, parser={"name": "distances.v1"}),
}

needs_torch = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="needs a torch with CUDA and an NVIDIA GPU"
)


@pytest.fixture(autouse=True)
def _exact(monkeypatch):
    """cuDNN's LSTM rounds what it multiplies to 10 bits unless told."""
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)


@pytest.fixture
def _no_waits():
    """Torch warns, once, that it does not find all of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.cuda.set_sync_debug_mode("error")
    yield
    torch.cuda.set_sync_debug_mode("default")


def forest_of(model):
    trees = [shapes.left(9), shapes.balanced(20)]
    return join(sample_trees(model, trees, np.random.default_rng(0)))


@pytest.mark.parametrize("source", ["left", "self"])
def test_a_bundle_in_onnxruntime(source):
    try:
        gpu = thinstack.load("sentiment", device="cuda")
    except DeviceError as error:
        pytest.skip(f"needs onnxruntime-gpu and an NVIDIA GPU: {error}")
    cpu = thinstack.load("sentiment").trees_and_scores(SENTENCES, source)
    for here, there in zip(cpu, gpu.trees_and_scores(SENTENCES, source), strict=True):
        np.testing.assert_array_equal(there.transitions, here.transitions)
        # The file for CPUs has 8-bit products.
        np.testing.assert_allclose(there.scores, here.scores, rtol=0, atol=2e-2)
        assert np.abs(there.scores - here.scores).mean() < 2e-3


@needs_torch
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_in_torch(name, own):
    model = MODELS[name]().eval()
    if own and not model.parses:
        pytest.skip("it makes no trees")
    forest = forest_of(model)
    inputs = model.inputs(without_trees(forest) if own else forest)
    with torch.no_grad():
        here = model(inputs)
        model.cuda()
        on_device = {key: values.cuda() for key, values in inputs.items()}
        for there in (model(inputs), model(on_device)):
            for key, values in here.items():
                torch.testing.assert_close(there[key].cpu(), values, rtol=0, atol=1e-4)


@needs_torch
@pytest.mark.parametrize("name", MODELS)
def test_nothing_waits_while_given_trees_are_composed(name, request):
    model = MODELS[name]().eval().cuda()
    inputs = model.inputs(forest_of(model))
    with torch.no_grad():
        model(inputs)  # libraries are loaded
        request.getfixturevalue("_no_waits")
        model(inputs)


@needs_torch
def test_every_registered_model():
    differences = {}
    for name, model, _ in cell_models():
        forest, there = forest_of(model), copy.deepcopy(model).cuda()
        with torch.inference_mode():
            here, moved = model(model.inputs(forest)), there(there.inputs(forest))
        differences[name] = max(float((moved[key].cpu() - here[key]).abs().max()) for key in here)
    assert {name: most for name, most in differences.items() if most >= 1e-4} == {}
