"""The larger model that is a distribution of its own, `thinstack-sentiment-context`."""

from pathlib import Path

import numpy as np
import pytest
from predictions import sentences_of

import thinstack
from thinstack.bundle import open_bundle
from thinstack.data.trees.treebank import read_trees
from thinstack.evaluate.treebank_evaluation import evaluate_file
from thinstack.runtime.predictor import Predictor
from thinstack.text.batching import BATCH_PIECES
from thinstack.text.raw_text import detokenize
from thinstack.training.recipe import Recipe

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "models" / "thinstack-sentiment-context" / "thinstack_sentiment_context" / "model"


@pytest.fixture(scope="module")
def bundle():
    return open_bundle(FOLDER)


@pytest.fixture(scope="module")
def predictor():
    return thinstack.load(FOLDER, threads=1)


def test_it_is_the_model_of_its_recipe(bundle):
    recipe = Recipe.read(ROOT / "lab" / "recipes" / "sentiment-context.toml")
    assert bundle.config == recipe.model
    assert bundle.manifest.metrics["recipe"] == recipe.name


def test_the_graph_and_the_vocabulary_have_thirty_megabytes_at_most(bundle):
    sizes = [bundle.manifest.files[name].size for name in ("onnx/model.onnx", "vocabulary.txt")]
    assert sum(sizes) <= 30e6


def test_the_card_names_its_sources_and_their_terms(bundle):
    card = bundle.read("README.md").decode("utf-8")
    names = ("MiniLM", "Apache-2.0", "Socher", "Stanford Sentiment Treebank", "Hu and Liu")
    for text in (card, bundle.manifest.data):
        assert [name for name in names if name not in text] == []


@pytest.mark.parametrize(
    ("text", "positive"),
    [
        ("It wasn't bad.", True),
        ("There is nothing wrong with it.", True),
        ("It wasn't good.", False),
        ("There is nothing good about it.", False),
    ],
)
def test_a_negation_turns_the_polarity(predictor, text, positive):
    ((found,),) = sentences_of(predictor, [text])
    scores = found.node_scores[-1]
    assert (scores[3:].sum() > scores[:2].sum()) == positive


def test_evaluate_gives_the_figures_of_its_manifest(bundle, predictor, data_dir):
    found = evaluate_file(predictor, data_dir / "sst" / "dev.txt", source="auto")
    expected = bundle.manifest.metrics["development"]["auto"]
    # Processors with and without VNNI round products of 8 bits differently.
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=0.7)
    assert found["root_accuracy"] >= 50.0
    assert found["root_binary_accuracy"] >= 88.5
    assert found["phrase_accuracy"] >= 84.4


def test_a_sentence_scores_the_same_beside_others(predictor, data_dir):
    trees = read_trees(data_dir / "sst" / "dev.txt")[:40]
    texts = [detokenize(tree.words) for tree in trees]
    together = sentences_of(predictor, texts, split=False)
    for text, (expected,) in zip(texts, together, strict=True):
        ((found,),) = sentences_of(predictor, [text], split=False)
        np.testing.assert_array_equal(found.transitions, expected.transitions)
        np.testing.assert_allclose(found.node_scores, expected.node_scores, atol=1e-5)


def test_a_batch_has_so_many_pieces_at_most(predictor, monkeypatch):
    sizes = []
    run = Predictor._run

    def watch(self, batch):
        sizes.append(len(batch.lengths))
        return run(self, batch)

    monkeypatch.setattr(Predictor, "_run", watch)
    monkeypatch.setitem(BATCH_PIECES, "cpu", 12)
    found = predictor.predict([["a", "good", "film"]] * 10)
    assert sizes == [4, 4, 2]
    np.testing.assert_allclose(found[9].node_scores, found[0].node_scores, atol=1e-6)
