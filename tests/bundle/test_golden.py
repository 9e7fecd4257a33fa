"""Bundles as earlier versions wrote them are read, and answer as they did then."""

import io
import json
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pytest
import torch

from thinstack.bundle import manifest, open_bundle
from thinstack.bundle.weights import load_model
from thinstack.core import config
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.reference import check_cases
from thinstack.runtime.session import open_session
from thinstack.text import distance_table

GOLDEN = Path(__file__).parents[1] / "golden"
KINDS = {"words", "wordpiece-parser", "class-sets", "texts"}
FOLDERS = sorted(GOLDEN.glob("schema-*/*"))
RELEASED = sorted(GOLDEN.glob("sst/*"))
SST = "thinstack/bundle/bundled/sentiment"


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


@pytest.mark.parametrize(
    "number", [manifest.BUNDLE_SCHEMA, config.SCHEMA_VERSION, distance_table.SCHEMA_VERSION]
)
def test_every_schema_has_golden_bundles(number):
    assert {path.name for path in (GOLDEN / f"schema-{number}").iterdir()} >= KINDS, (
        "run tests/golden/make.py"
    )


def test_the_current_schemas_are_among_them():
    opened = list(map(open_bundle, FOLDERS))
    assert manifest.BUNDLE_SCHEMA in {bundle.manifest.schema_version for bundle in opened}
    schemas = {config.SCHEMA_VERSION, config.NEWER_SCHEMA}
    assert schemas <= {bundle.config.schema_version for bundle in opened}
    tables = [
        json.loads(bundle.read("distances.json"))
        for bundle in opened
        if "distances.json" in bundle.manifest.files
    ]
    assert distance_table.SCHEMA_VERSION in {table["schema_version"] for table in tables}


def test_a_golden_bundle_is_whole(bundle):
    kinds = {
        "words": "distances",
        "wordpiece-parser": "self",
        "class-sets": "self",
        "texts": "self",
    }
    assert bundle.config.tree_source == kinds[bundle.path.name]
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


@pytest.mark.parametrize("path", [*FOLDERS, *RELEASED, "sentiment"], ids=str)
def test_the_cases_hold_in_onnxruntime(path):
    """Those of the bundled model too, and of what it was in 0.1.0."""
    bundle = open_bundle(path)
    session, _ = open_session(bundle.read("onnx/model.onnx"), device="cpu", source="golden")
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


def test_its_distances_make_the_trees_that_they_made():
    table = open_bundle(GOLDEN / "schema-1" / "words").distances()
    words = ["the", "film", "is", "not", "as", "good", "as", "the", "book"]
    assert table.transitions(words).tolist() == TREE


TREE = [0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.name)
@pytest.mark.parametrize("isolated", [False, True])
def test_a_bundle_of_the_first_version_predicts(path, isolated):
    predictor = Predictor(open_bundle(path), threads=1, isolated=isolated)
    found = predictor.predict([["A", "superb", "film", "."], ["An", "awful", "film", "."]])
    assert [one.label for one in found] == ["very positive", "very negative"]


def git(*arguments):
    """What git says of this clone. Skips without git or a clone."""
    root = Path(__file__).parents[2]
    try:
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the history of the repository: run it in a clone with git")
    return done.stdout


def test_every_bundled_model_of_the_history_answers_as_it_did(tmp_path):
    """As far as the clone goes back: sst has been published anew several times."""
    commits = git("log", "--format=%h", "--", f"{SST}/onnx/model.onnx").decode().split()
    assert commits
    for commit in commits:
        archive = git("archive", "--format=tar", commit, SST)
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(tmp_path / commit, filter="data")
        bundle = open_bundle(tmp_path / commit / SST)
        assert check_cases(bundle, isolated=False).holds, commit
