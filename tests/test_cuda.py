"""What runs on CUDA gives what it gives on the CPU; skipped where there is no GPU."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

import thinstack
from thinstack.core import transitions as shapes
from thinstack.core.forest import join
from thinstack.export.samples import sample_trees
from thinstack.models import load_model

SENTENCES = [["A", "wonderful", "film"], ["Dull"], ["The", "plot", "never", "comes", "alive", "."]]
GOLDEN = Path(__file__).parent / "golden" / "schema-1"


@pytest.mark.skipif(
    "CUDAExecutionProvider" not in onnxruntime.get_available_providers(),
    reason="needs onnxruntime-gpu and an NVIDIA GPU",
)
@pytest.mark.parametrize("source", ["left", "self"])
def test_a_bundle_in_onnxruntime(source: str) -> None:
    cpu, cuda = (
        thinstack.load("sst", device=device).trees_and_scores(SENTENCES, source)
        for device in ("cpu", "cuda")
    )
    for here, there in zip(cpu, cuda, strict=True):
        np.testing.assert_array_equal(there.transitions, here.transitions)
        np.testing.assert_allclose(there.scores, here.scores, rtol=0, atol=1e-4)


@pytest.mark.skipif(
    not torch.cuda.is_available(), reason="needs a torch with CUDA and an NVIDIA GPU"
)
@pytest.mark.parametrize("name", ["words", "wordpiece-parser"])
def test_a_model_in_torch(name: str) -> None:
    model = load_model(GOLDEN / name)
    forest = join(
        sample_trees(model, [shapes.left(9), shapes.balanced(20)], np.random.default_rng(0))
    )
    with torch.no_grad():
        here = model(model.inputs(forest))
        model.cuda()
        there = model(model.inputs(forest))
    for key, values in here.items():
        torch.testing.assert_close(there[key].cpu(), values, rtol=0, atol=1e-4)
