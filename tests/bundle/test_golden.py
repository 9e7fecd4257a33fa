"""Bundles as earlier versions wrote them are read, and answer as they did then."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from thinstack.bundle import manifest, open_bundle
from thinstack.bundle.weights import load_model
from thinstack.core import config
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.session import open_session

GOLDEN = Path(__file__).parents[1] / "golden"
KINDS = {"words", "wordpiece-parser", "class-sets", "texts"}
FOLDERS = sorted(GOLDEN.glob("schema-*/*"))


@pytest.fixture(params=FOLDERS, ids=lambda path: f"{path.parent.name}/{path.name}")
def bundle(request):
    return open_bundle(request.param)


def cases(bundle):
    """Inputs, expected outputs and tolerance of each stored case."""
    stored = json.loads(bundle.read("cases.json"))
    assert stored["labels"] == list(bundle.config.labels)
    assert len(stored["cases"]) >= 3
    for case in stored["cases"]:
        yield case["inputs"], case["outputs"], stored["tolerance"]


@pytest.mark.parametrize("number", [manifest.BUNDLE_SCHEMA, config.SCHEMA_VERSION])
def test_every_schema_has_golden_bundles(number):
    assert {path.name for path in (GOLDEN / f"schema-{number}").iterdir()} >= KINDS, (
        "run tests/golden/make.py"
    )


def test_a_golden_bundle_is_whole(bundle):
    source = "balanced" if bundle.path.name == "words" else "self"
    assert bundle.config.tree_source == source
    assert bundle.config.labels == ("bad", "so-so", "schön")
    told = (bundle.manifest.metrics, bundle.manifest.data, bundle.manifest.created)
    assert told == ({"accuracy": 33.5}, "none", "2026-01-01")
    weights = {"onnx/model.onnx", "model.safetensors", "torchscript/model.pt"}
    assert weights | {"cases.json", "vocabulary.txt", "verification.json"} <= set(
        bundle.manifest.files
    )
    sets = bundle.path.name == "class-sets"
    shown = Predictor(bundle).predict([["the", "film", "is", "café"]])[0].labels
    assert shown == (("gut", "schlecht") if sets else bundle.config.labels)


@pytest.mark.parametrize("path", [*FOLDERS, "sentiment"], ids=str)
def test_the_cases_hold_in_onnxruntime(path):
    """Those of the bundled model too."""
    bundle = open_bundle(path)
    session = open_session(bundle.read("onnx/model.onnx"), device="cpu", source="golden")
    for inputs, outputs, tolerance in cases(bundle):
        feeds = {name: np.array(values, np.int32) for name, values in inputs.items()}
        found = session.run(list(outputs), feeds)
        for scores, expected in zip(found, outputs.values(), strict=True):
            np.testing.assert_allclose(scores, np.array(expected), atol=tolerance, rtol=0)


def test_its_cases_hold_in_torch(bundle):
    model = load_model(bundle)
    with torch.no_grad():
        for inputs, outputs, tolerance in cases(bundle):
            found = model({name: torch.tensor(values).long() for name, values in inputs.items()})
            for name, expected in outputs.items():
                scores = found[name].numpy()
                np.testing.assert_allclose(scores, np.array(expected), atol=tolerance, rtol=0)
