"""The model that the package brings along, by its default name, `sentiment`."""

import sys
import tomllib
from importlib import import_module
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from predictions import sentences_of

import thinstack
from thinstack.bundle import open_bundle, opening
from thinstack.bundle.gpu_file import joined
from thinstack.bundle.manifest import ONNX_FILE, VOCABULARY_FILE
from thinstack.bundle.opening import BUNDLED
from thinstack.bundle.writing import seal
from thinstack.core import Tree
from thinstack.errors import BundleError
from thinstack.evaluate.suite import read_suite
from thinstack.evaluate.treebank_evaluation import evaluate_file
from thinstack.runtime.predictor import Predictor

ROOT = Path(__file__).parents[2]
SENTENCE = "The acting is strong, but the plot never comes alive."


@pytest.fixture(scope="module")
def bundle():
    return open_bundle("sentiment")


@pytest.fixture(scope="module")
def predictor():
    return thinstack.load()


def test_it_adds_eight_megabytes_at_most():
    files = [path for path in BUNDLED.rglob("*") if path.is_file()]
    assert 0 < sum(path.stat().st_size for path in files) <= 8_000_000


@pytest.mark.parametrize("name", ["sentiment", Path("sentiment"), BUNDLED / "sentiment"])
def test_files_that_are_missing_are_named_with_the_option_of_pyinstaller(
    monkeypatch, tmp_path, name
):
    monkeypatch.setattr(opening, "BUNDLED", tmp_path / "z.zip" / "bundled")
    with pytest.raises(BundleError, match="--collect-data thinstack"):
        open_bundle(name)


def test_pyinstaller_is_told_of_the_files(monkeypatch):
    """By its entry point, as `project` says, and a hook that asks for all files of the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    module, _, function = project["entry-points"]["pyinstaller40"]["hook-dirs"].partition(":")
    [folder] = getattr(import_module(module), function)()
    asked = SimpleNamespace(collect_data_files=lambda package: [package])
    for name in ("PyInstaller", "PyInstaller.utils", "PyInstaller.utils.hooks"):
        monkeypatch.setitem(sys.modules, name, asked)
    assert run_path(str(Path(folder) / "hook-thinstack.py"))["datas"] == ["thinstack"]


def test_it_is_for_inference_only_and_has_no_pickle(bundle):
    described = {"config.json", "vocabulary.txt", "verification.json", "cases.json", "README.md"}
    files = {"onnx/model.onnx", "onnx/model.gpu.onnx", "model.safetensors"}
    assert set(bundle.manifest.files) == described | files
    # Only what the ONNX file does not hold.
    assert bundle.manifest.files["model.safetensors"].size < 0.5e6


def test_it_makes_its_own_trees(bundle, predictor):
    assert bundle.config.parses
    assert bundle.config.tree_source == "self"
    words = SENTENCE.replace(",", " ,").replace(".", " .").split()
    auto, own = (predictor.trees_and_scores([words], source)[0] for source in ("auto", "self"))
    np.testing.assert_array_equal(auto.transitions, own.transitions)
    np.testing.assert_allclose(auto.scores, own.scores, atol=1e-6)
    given = predictor.node_scores([words], [own.transitions])[0]
    np.testing.assert_allclose(given, own.scores, atol=1e-6)
    spans = {tuple(span) for span in Tree.from_transitions(own.transitions, words).spans.tolist()}
    # The acting, the acting is strong, the plot, the plot never comes alive.
    assert {(0, 2), (0, 4), (6, 8), (6, 11)} <= spans


def test_it_has_the_trees_and_nearly_the_scores_of_its_float32_file(bundle, predictor):
    """The file for GPUs, which onnxruntime runs on a CPU too."""
    file = joined(bundle.for_gpu(), bundle.read(ONNX_FILE), source="the bundle")
    files = {VOCABULARY_FILE: bundle.read(VOCABULARY_FILE), ONNX_FILE: file}
    plain = Predictor(seal(files, config=bundle.config), isolated=False)
    texts = [case.text for case in read_suite("polarity")]
    pairs = list(zip(sentences_of(predictor, texts), sentences_of(plain, texts), strict=True))
    sentences = [pair for text in pairs for pair in zip(*text, strict=True)]
    same = [pair for pair in sentences if (pair[0].transitions == pair[1].transitions).all()]
    assert len(same) >= 0.99 * len(sentences) > 100
    errors = np.concatenate([np.abs(a.node_scores - b.node_scores).ravel() for a, b in same])
    assert errors.mean() < 2e-3
    assert errors.max() < 0.05


def test_evaluate_gives_the_figures_of_its_manifest(bundle, predictor, data_dir):
    figures = bundle.manifest.metrics["development"]
    for source, least in (("gold", (50.5, 88.8, 82.0)), ("auto", (49.8, 87.8, 84.4))):
        found = evaluate_file(predictor, data_dir / "sst" / "dev.txt", source=source)
        expected = figures[source]
        assert {key: found[key] for key in expected} == pytest.approx(expected, abs=0.1)
        assert (found["roots"], found["binary_roots"]) == (1101, 872)
        keys = ("root_accuracy", "root_binary_accuracy", "phrase_accuracy")
        assert all(found[key] >= value for key, value in zip(keys, least, strict=True))


def test_raw_text_costs_little(predictor, data_dir):
    words = evaluate_file(predictor, data_dir / "sst" / "dev.txt", source="auto")
    text = evaluate_file(predictor, data_dir / "sst" / "dev.txt", source="auto", text=True)
    for key in ("root_accuracy", "root_binary_accuracy"):
        assert text[key] >= words[key] - 0.7
