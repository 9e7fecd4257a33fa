"""The larger model that is a distribution of its own, `thinstack-sentiment-context`."""

import numpy as np
import pytest
from bundle.shipped_models import model_of
from predictions import sentences_of

import thinstack
from thinstack.data.trees.treebank import read_trees
from thinstack.evaluate.treebank_evaluation import evaluate_file
from thinstack.text.raw_text import detokenize

FOLDER = model_of("sentiment-context")


@pytest.fixture(scope="module")
def predictor():
    return thinstack.load(FOLDER, threads=1)


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


def test_evaluate_gives_the_figures_of_its_manifest(predictor, data_dir):
    found = evaluate_file(predictor, data_dir / "sst" / "dev.txt", source="auto")
    expected = predictor.bundle.manifest.metrics["development"]["auto"]
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
