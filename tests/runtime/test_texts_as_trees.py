"""Texts of several sentences as one tree over their trees, against torch over the joined tree."""

import random
from itertools import pairwise

import numpy as np
import pytest
import torch
from bundle_folders import GOLDEN

from thinstack.bundle import open_bundle
from thinstack.bundle.weights import load_model
from thinstack.core.transitions import REDUCE, balanced, over
from thinstack.errors import BundleError, InputError
from thinstack.integrations.corpora.inputs import Row
from thinstack.integrations.corpora.scoring import TextScorer
from thinstack.runtime import units
from thinstack.runtime.interface import Batch, check_parse
from thinstack.runtime.predictor import Predictor

TEXTS, PARSER_WITHOUT_BREAKS = GOLDEN / "texts", GOLDEN / "wordpiece-parser"
WORDS = ("the", "film", "films", "good", "cafe", "odd")


@pytest.fixture(scope="module")
def bundle():
    return open_bundle(TEXTS)


@pytest.fixture(scope="module")
def tree(bundle):
    return Predictor(bundle, threads=1)


@pytest.fixture(scope="module")
def mean(bundle):
    return Predictor(bundle, threads=1, aggregation="mean")


@pytest.fixture(scope="module")
def by_torch(bundle):
    """The scores of all nodes of one tree, given as transitions."""
    model = load_model(bundle)

    def scores(words, transitions):
        pieces, counts = bundle.vocabulary().ids(words)
        inputs = {"piece_ids": pieces, "pieces_per_word": counts, "transitions": transitions}
        inputs["lengths"] = np.array([len(words)])
        with torch.no_grad():
            tensors = {name: torch.as_tensor(value).long() for name, value in inputs.items()}
            return model(tensors)["node_scores"].numpy()

    return scores


def text_of(sentences, seed=0, longest=6):
    rng = random.Random(seed)
    lines = (rng.choices(WORDS, k=rng.randint(1, longest)) for _ in range(sentences))
    return " ".join(" ".join(words).capitalize() + "." for words in lines)


def words_of(result):
    return [word for sentence in result.sentences for word in sentence.words]


def joined(result):
    trees = [sentence.transitions for sentence in result.sentences]
    return over(balanced(len(trees)), trees)


@pytest.mark.parametrize("sentences", [1, 2, 7, 100])
def test_the_scores_are_those_of_the_joined_tree(tree, mean, by_torch, sentences):
    result, alone = tree(text_of(sentences)), mean(text_of(sentences))
    assert len(result.sentences) == sentences
    expected = by_torch(words_of(result), joined(result))
    np.testing.assert_allclose([*result.scores.values()], expected[-1], atol=1e-5)
    assert result.label == result.view.labels[expected[-1].argmax()]
    for here, there in zip(result.sentences, alone.sentences, strict=True):
        assert here.transitions.tolist() == there.transitions.tolist()
        np.testing.assert_allclose(here.node_scores, there.node_scores, atol=1e-6)
        assert (here.label, here.start, here.text) == (there.label, there.start, there.text)
    if sentences == 1:
        assert result.joint is None
    else:
        steps = result.joint.transitions
        assert steps.tolist() == balanced(sentences).tolist()
        roots = [sentence.node_scores[-1] for sentence in result.sentences]
        np.testing.assert_array_equal(result.joint.scores[steps != REDUCE], roots)


def test_beside_other_texts_a_text_says_what_it_says_alone(bundle, tree):
    texts = [text_of(count, seed) for seed, count in enumerate([3, 1, 40, 2, 9, 1, 5] * 6)]
    texts[5:5] = ["", " \n"]
    alone = [tree(text) for text in texts]
    for model in (tree, Predictor(bundle, threads=3), Predictor(bundle, isolated=True)):
        for found, expected in zip(model.stream(iter(texts)), alone, strict=True):
            assert found.text == expected.text
            assert found.label == expected.label
            assert found.scores == pytest.approx(expected.scores, abs=1e-6)
    assert alone[5].scores == {}
    assert alone[5].label is None


def test_a_text_that_fails_leaves_the_others(tree):
    told = []
    texts = ["Good film. Odd.", None, "The cafe. Films."]
    found = tree(texts, on_error=lambda place, error: told.append((place, type(error))))
    assert told == [(1, InputError)]
    assert [len(result.sentences) for result in found] == [2, 0, 2]
    assert found[2].scores == pytest.approx(tree(texts[2]).scores, abs=1e-6)


def test_a_text_too_long_for_one_tree_is_the_mean_of_stretches(tree, monkeypatch):
    text = text_of(30, longest=5)
    whole = tree(text)
    assert whole.joint.transitions.size
    monkeypatch.setattr(units, "MOST_NODES", 2 * 40)
    result = tree(text)
    starts = [0, *_starts_of_stretches([len(each.words) for each in whole.sentences], 40)]
    assert len(starts) >= 3
    bounds = [whole.sentences[place].start for place in starts] + [len(text)]
    apart = [tree(text[start:end]) for start, end in pairwise(bounds)]
    weights = [len(words_of(each)) for each in apart]
    rows = np.array([[*each.scores.values()] for each in apart])
    np.testing.assert_allclose([*result.scores.values()], weights @ rows / sum(weights), atol=1e-6)
    assert result.joint.transitions.size == 0
    for here, there in zip(result.sentences, whole.sentences, strict=True):
        np.testing.assert_allclose(here.node_scores, there.node_scores, atol=1e-6)


def _starts_of_stretches(lengths, most):
    room = most
    for place, length in enumerate(lengths):
        if place and length > room:
            yield place
            room = most
        room -= length


@pytest.mark.parametrize("aggregation", ["tree", "mean"])
def test_parts_of_a_long_sentence_are_composed(bundle, by_torch, aggregation):
    model = Predictor(bundle, threads=1, max_words=3, aggregation=aggregation)
    result = model("Good film. The good films, the odd cafe film the.")
    short, long = result.sentences
    assert (len(short.parts), len(long.parts)) == (1, 4)
    below = [model.predict([long.words[start:end]])[0] for start, end in long.parts]
    steps = over(balanced(4), [part.transitions for part in below])
    assert long.transitions.tolist() == steps.tolist()
    expected = by_torch(long.words, steps)
    np.testing.assert_allclose(long.node_scores, expected, atol=1e-5)
    if aggregation == "tree":
        root = by_torch(words_of(result), joined(result))[-1]
        np.testing.assert_allclose([*result.scores.values()], root, atol=1e-5)


def test_parts_of_a_sentence_too_long_for_one_tree_are_averaged(bundle, monkeypatch):
    model = Predictor(bundle, threads=1, max_words=4)
    monkeypatch.setattr(units, "MOST_NODES", 2 * 6)
    (found,) = model.predict([["film"] * 8])
    parts = model.predict([["film"] * 4])[0].node_scores[-1]
    np.testing.assert_allclose(found.node_scores[-1], parts, atol=1e-6)


@pytest.mark.parametrize("source", ["balanced", "right"])
def test_trees_that_are_made_here_are_joined_too(tree, by_torch, source):
    result = tree("Good film, odd cafe. The films. Odd.", source=source)
    expected = by_torch(words_of(result), joined(result))
    np.testing.assert_allclose([*result.scores.values()], expected[-1], atol=1e-5)


@pytest.mark.parametrize("wrong", [[0, 1, 0], [0, 0]])
def test_given_trees_are_checked_by_sentence(tree, wrong):
    words = [["good", "film"], ["odd", "cafe"]]
    with pytest.raises(InputError, match="sentence 1"):
        tree.score_texts([words], [np.array([0, 0, 1]), np.array(wrong)])


def test_documents_of_a_corpus_say_what_texts_say(tree):
    texts = [text_of(3), "", "Odd.", text_of(7, seed=1)]
    rows = [Row(str(line), text) for line, text in enumerate(texts)]
    scored, problems = TextScorer(tree, "documents")(rows)
    assert not problems
    for row, result in zip(scored["scores"], tree(texts), strict=True):
        expected = [*result.scores.values()] or [np.nan] * 3
        np.testing.assert_allclose(row, expected, atol=1e-6)


@pytest.mark.parametrize(("asked", "folder"), [("tree", PARSER_WITHOUT_BREAKS), ("best", TEXTS)])
def test_an_aggregation_that_a_model_lacks_is_refused(asked, folder):
    with pytest.raises(InputError, match=f"aggregation: .*{asked}"):
        Predictor(open_bundle(folder), aggregation=asked)


def test_older_models_take_the_mean():
    assert Predictor(open_bundle(PARSER_WITHOUT_BREAKS)).aggregation == "mean"


def test_a_parse_that_does_not_keep_to_sentences_is_refused():
    batch = Batch({}, lengths=[1, 2], places=[0, 1], sizes=[5], tops=[balanced(2)])
    check_parse(np.array([0, 0, 0, 1, 1]), batch, "model.onnx")
    with pytest.raises(BundleError, match="sentence"):
        check_parse(np.array([0, 0, 1, 0, 1]), batch, "model.onnx")
