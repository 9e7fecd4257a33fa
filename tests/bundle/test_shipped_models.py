"""The bundled model and those of `models/`: their sizes, their sources, and what they say."""

from pathlib import Path

import numpy as np
import pytest
from predictions import sentences_of

import thinstack
from thinstack.bundle import open_bundle
from thinstack.data.trees.treebank import read_trees
from thinstack.evaluate.treebank_evaluation import evaluate_file
from thinstack.integrations.report.reading import model_name
from thinstack.text.raw_text import detokenize

MODELS = Path(__file__).parents[2] / "models"
MINILM = ("MiniLM", "Apache-2.0", "Socher", "Stanford Sentiment Treebank")
TERMS = ("Apache-2.0", "Pontiki", "Hu and Liu", "research", "sentiment")
SHIPPED = {  # the most bytes of the graph and the vocabulary, and what the card must name
    "sentiment": (8e6, MINILM),
    "sentiment-context": (30e6, (*MINILM, "Hu and Liu")),
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
}
NEGATIVE = {
    "sentiment": [
        "A dull, stupid mess.",
        "It is boring and far too long.",
        "The staff were never helpful.",
    ],
    "sentiment-context": ["It wasn't good.", "There is nothing good about it."],
}


def model_of(name):
    """The name or the folder of a shipped model."""
    folder = MODELS / f"thinstack-{name}" / f"thinstack_{name.replace('-', '_')}" / "model"
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


def test_evaluate_gives_the_figures_of_its_manifest(context, data_dir):
    found = evaluate_file(context, data_dir / "sst" / "dev.txt", source="auto")
    expected = context.bundle.manifest.metrics["development"]["auto"]
    # Processors with and without VNNI round products of 8 bits differently.
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=0.7)
    assert found["root_accuracy"] >= 50.0
    assert found["root_binary_accuracy"] >= 88.5
    assert found["phrase_accuracy"] >= 84.4


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
