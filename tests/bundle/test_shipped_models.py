"""The bundled model and those of `models/`: their sizes, their sources, and what they say."""

import sys
import tomllib
from importlib import import_module
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from pages import ROOT
from predictions import sentences_of

import thinstack
from thinstack.bundle import open_bundle, opening
from thinstack.bundle.gpu_file import joined
from thinstack.bundle.manifest import ONNX_FILE, VOCABULARY_FILE
from thinstack.bundle.opening import BUNDLED
from thinstack.bundle.writing import seal
from thinstack.core import Tree
from thinstack.data.trees.treebank import read_trees
from thinstack.errors import BundleError
from thinstack.evaluate.suite import read_suite
from thinstack.evaluate.treebank_evaluation import evaluate_file
from thinstack.integrations.report.reading import model_name
from thinstack.runtime.predictor import Predictor
from thinstack.text.raw_text import detokenize

MINILM = ("MiniLM", "Apache-2.0", "Socher", "Stanford Sentiment Treebank")
TERMS = ("Apache-2.0", "Pontiki", "Hu and Liu", "research", "sentiment")
SHIPPED = {  # the most bytes of the graph and the vocabulary, and what the card must name
    "sentiment": (8e6, MINILM),
    "sentiment-context": (30e6, (*MINILM, "Hu and Liu")),
    "sentiment-open": (8e6, ("MiniLM", "Apache-2.0", "SNLI", "CC BY-SA", "Hutto and Gilbert")),
    "aspects": (30e6, TERMS),
    "aspects-small": (5e6, TERMS),
}
POSITIVE = {
    "sentiment": [
        "A wonderful, moving film.",
        "This is one of the best movies of the year.",
        "The staff were never rude.",
    ],
    "sentiment-context": ["It wasn't bad.", "There is nothing wrong with it."],
    "sentiment-open": ["It wasn't bad.", "The staff were never rude.", "It charges fast."],
}
NEGATIVE = {
    "sentiment": [
        "A dull, stupid mess.",
        "It is boring and far too long.",
        "The staff were never helpful.",
    ],
    "sentiment-context": ["It wasn't good.", "There is nothing good about it."],
    "sentiment-open": ["It wasn't good.", "It broke within a week.", "It never charges."],
}


def model_of(name):
    """The name or the folder of a shipped model."""
    folder = ROOT / "models" / f"thinstack-{name}" / f"thinstack_{name.replace('-', '_')}" / "model"
    return name if name == "sentiment" else folder


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_model_is_small_and_names_its_sources(name):
    bundle, (most, sources) = open_bundle(model_of(name)), SHIPPED[name]
    files = bundle.manifest.files
    assert files["onnx/model.onnx"].size + files["vocabulary.txt"].size <= most
    for text in (bundle.read("README.md").decode("utf-8"), bundle.manifest.data):
        assert [source for source in sources if source not in text] == []


@pytest.mark.parametrize("name", POSITIVE)
def test_obvious_sentences_are_on_the_right_side(name):
    predictor = thinstack.load(model_of(name), threads=1)
    for text in [*POSITIVE[name], *NEGATIVE[name]]:
        ((found,),) = sentences_of(predictor, [text])
        scores = found.node_scores[-1]
        assert (scores[3:].sum() > scores[:2].sum()) == (text in POSITIVE[name]), text
        if name == "sentiment":
            assert found.label.endswith("positive" if text in POSITIVE[name] else "negative"), text


@pytest.fixture(scope="module")
def context():
    return thinstack.load(model_of("sentiment-context"), threads=1)


@pytest.mark.parametrize(
    ("name", "source", "least"),
    [
        ("sentiment", "gold", (50.5, 88.8, 82.0)),
        ("sentiment", "auto", (49.8, 87.8, 84.4)),
        ("sentiment-context", "auto", (50.0, 88.5, 84.4)),
    ],
)
def test_evaluate_gives_the_figures_of_its_manifest(name, source, least, data_dir):
    predictor = thinstack.load(model_of(name))
    found = evaluate_file(predictor, data_dir / "sst" / "dev.txt", source=source)
    expected = predictor.bundle.manifest.metrics["development"][source]
    # Processors with and without VNNI round products of 8 bits differently.
    exact = 0.1 if name == "sentiment" else 0.7
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=exact)
    assert (found["roots"], found["binary_roots"]) == (1101, 872)
    keys = ("root_accuracy", "root_binary_accuracy", "phrase_accuracy")
    assert all(found[key] >= value for key, value in zip(keys, least, strict=True))


def test_a_sentence_scores_the_same_beside_others(context, data_dir):
    trees = read_trees(data_dir / "sst" / "dev.txt")[:40]
    texts = [detokenize(tree.words) for tree in trees]
    together = sentences_of(context, texts, split=False)
    for text, (expected,) in zip(texts, together, strict=True):
        ((found,),) = sentences_of(context, [text], split=False)
        np.testing.assert_array_equal(found.transitions, expected.transitions)
        np.testing.assert_allclose(found.node_scores, expected.node_scores, atol=1e-5)


@pytest.mark.parametrize("name", ["aspects", "aspects-small"])
def test_models_of_aspects(name):
    predictor = thinstack.load(model_of(name), threads=1)

    def said(aspects):
        return [(one.text, one.label, one.because and one.because.text) for one in aspects]

    found = predictor("The battery is terrible, but the camera is gorgeous.").aspects
    assert said(found) == [
        ("battery", "negative", "is terrible"),
        ("camera", "positive", "is gorgeous"),
    ]
    assert predictor("I bought it in May and used it for a week.").aspects == ()
    about = predictor("We loved the rooms, but the wifi never worked.").about(
        "room", "wifi|network"
    )
    assert [one[:2] for one in said(about)] == [("rooms", "positive"), ("wifi", "negative")]
    assert model_name(predictor) == name


SENTENCE = "The acting is strong, but the plot never comes alive."


@pytest.fixture(scope="module")
def bundle():
    return open_bundle("sentiment")


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


def test_it_makes_its_own_trees(bundle, sentiment):
    assert bundle.config.parses
    assert bundle.config.tree_source == "self"
    words = SENTENCE.replace(",", " ,").replace(".", " .").split()
    auto, own = (sentiment.trees_and_scores([words], source)[0] for source in ("auto", "self"))
    np.testing.assert_array_equal(auto.transitions, own.transitions)
    np.testing.assert_allclose(auto.scores, own.scores, atol=1e-6)
    given = sentiment.node_scores([words], [own.transitions])[0]
    np.testing.assert_allclose(given, own.scores, atol=1e-6)
    spans = {tuple(span) for span in Tree.from_transitions(own.transitions, words).spans.tolist()}
    # The acting, the acting is strong, the plot, the plot never comes alive.
    assert {(0, 2), (0, 4), (6, 8), (6, 11)} <= spans


def test_it_has_the_trees_and_nearly_the_scores_of_its_float32_file(bundle, sentiment):
    """The file for GPUs, which onnxruntime runs on a CPU too."""
    file = joined(bundle.for_gpu(), bundle.read(ONNX_FILE), source="the bundle")
    files = {VOCABULARY_FILE: bundle.read(VOCABULARY_FILE), ONNX_FILE: file}
    plain = Predictor(seal(files, config=bundle.config), isolated=False)
    texts = [case.text for case in read_suite("polarity")]
    pairs = list(zip(sentences_of(sentiment, texts), sentences_of(plain, texts), strict=True))
    sentences = [pair for text in pairs for pair in zip(*text, strict=True)]
    same = [pair for pair in sentences if (pair[0].transitions == pair[1].transitions).all()]
    assert len(same) >= 0.99 * len(sentences) > 100
    errors = np.concatenate([np.abs(a.node_scores - b.node_scores).ravel() for a, b in same])
    assert errors.mean() < 2e-3
    assert errors.max() < 0.05


def test_raw_text_costs_little(sentiment, data_dir):
    words = evaluate_file(sentiment, data_dir / "sst" / "dev.txt", source="auto")
    text = evaluate_file(sentiment, data_dir / "sst" / "dev.txt", source="auto", text=True)
    for key in ("root_accuracy", "root_binary_accuracy"):
        assert text[key] >= words[key] - 0.7
