"""Sentences too long for a model: cut where one would, scored in parts, joined to one tree."""

import pickle
import random

import numpy as np
import pytest
from last_word_model import expected_rows, own_parse, random_tree, write_last_word_bundle
from predictions import Watched

import thinstack
from thinstack.core import transitions
from thinstack.errors import BundleError, InputError
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.units import cut
from thinstack.text.batching import BATCH_NODES


def parts(text, limit, costs=()):
    """The parts of a text of words between spaces."""
    words = text.split()
    return [" ".join(words[a:b]) for a, b in cut(words, costs or [1] * len(words), limit)]


@pytest.mark.parametrize(
    ("text", "limit", "found"),
    [
        ("a b c", 3, ["a b c"]),
        ("a b c d", 3, ["a b", "c d"]),
        ("a b c d e f g h", 2, ["a b", "c d", "e f", "g h"]),
        ("a b , c d e f g", 5, ["a b ,", "c d e f g"]),
        ("a , b , c d e f", 5, ["a , b ,", "c d e f"]),  # the nearer one
        ("a b ; c , d e f", 5, ["a b ;", "c , d e f"]),  # the better one
        ("a ; b , c ; d e", 6, ["a ;", "b , c ; d e"]),  # as near as the other: the first
        ("a , b c d e f g h", 8, ["a , b c", "d e f g h"]),  # at 2 of 9: too near to the end
        ("a b c d e f g .", 7, ["a b c d", "e f g ."]),
        *(
            (f"a b {mark} c d e f", 6, [f"a b {mark}", "c d e f"])
            for mark in [":", "--", "—", "...", "!", "?"]
        ),
    ],
)
def test_a_sentence_is_cut_behind_marks_near_its_middle(text, limit, found):
    assert parts(text, limit) == found


def test_the_middle_is_that_of_the_cost():
    assert parts("a b c d e", 9, [8, 1, 1, 1, 1]) == ["a", "b c d e"]
    assert parts("a b c d e", 9, [1, 1, 20, 1, 1]) == ["a b", "c", "d e"]  # one that fits nowhere
    assert parts("a , b c d", 7, [1, 1, 2, 2, 2]) == ["a ,", "b c d"]


def test_any_sentence_has_parts_that_fit():
    rng = random.Random(0)
    for _ in range(400):
        words = rng.choices(["w", ",", ";"], weights=[8, rng.random() * 4, rng.random()], k=200)
        words = words[: rng.randint(1, 200)]
        limit = rng.randint(1, 60)
        most = rng.choice([1, limit])
        costs = [rng.randint(1, most) for _ in words]
        found = cut(words, np.array(costs), limit)
        assert [i for start, end in found for i in range(start, end)] == list(range(len(words)))
        sums = [sum(costs[start:end]) for start, end in found]
        assert max(sums) <= limit
        if most == 1 and len(found) > 1:
            assert min(sums) > limit / 4 - 1


@pytest.mark.parametrize("parser", [None, "capped"])
def test_a_hundred_thousand_words_run_in_batches_of_bounded_size(tmp_path, parser):
    count = 100_000
    predictor = Predictor(write_last_word_bundle(tmp_path / "model", parser=parser), threads=1)
    watched = predictor._session = Watched(predictor._session)
    (found,) = predictor.predict([["good"] * count])
    assert (len(found.node_scores), len(found.transitions)) == (2 * count - 1, 2 * count - 1)
    nodes = [len(scores) for _, _, (scores, *_) in watched.runs]
    assert sum(nodes) == 2 * count - len(found.parts)
    assert max(nodes) <= BATCH_NODES["cpu"]
    assert len(nodes) <= 2 * sum(nodes) / BATCH_NODES["cpu"] + 1
    assert transitions.validate(found.transitions, count).size


def spans_in(steps):
    return [(start, end) for start, end in transitions.spans_of(np.array(steps)).tolist()]


def expected_of(words, cuts, steps):
    """The scores of the phrases of a sentence in parts, given the tree of each: a phrase inside a
    part has the model's; one of whole parts has the mean over its words of their parts' scores."""
    scores, roots = {}, []
    for (start, end), tree in zip(cuts, steps, strict=True):
        rows = expected_rows("words", words[start:end], tree)
        for (first, behind), row in zip(spans_in(tree), rows, strict=True):
            scores[start + first, start + behind] = row
        roots += [rows[-1]] * (end - start)
    for i, (start, _) in enumerate(cuts):
        for _, end in cuts[i + 1 :]:
            scores[start, end] = np.mean(roots[start:end], axis=0)
    return scores


@pytest.mark.parametrize(
    ("parser", "source"), [(None, "auto"), (None, "left"), ("capped", "auto"), ("capped", "right")]
)
@pytest.mark.parametrize("nodes", [1, 60])
def test_scores_are_those_of_the_parts_and_their_means_above(
    tmp_path, parser, source, nodes, monkeypatch
):
    monkeypatch.setitem(BATCH_NODES, "cpu", nodes)
    made = write_last_word_bundle(tmp_path / "model", parser=parser)
    predictor, rng = Predictor(made, threads=1, max_words=6), random.Random(1)
    shape = {"left": transitions.left, "right": transitions.right}.get(source, transitions.balanced)
    if parser and source == "auto":
        shape = own_parse
    sentences = [rng.choices(["good", "awful", ".", "film"], k=n) for n in (3, 40, 6, 7, 1, 13)]
    for words, found in zip(sentences, predictor.predict(sentences, source=source), strict=True):
        cuts = cut(words, [1] * len(words), 6)
        assert found.parts == cuts
        assert (len(cuts) > 1) == (len(words) > 6)
        wanted = expected_of(words, cuts, [shape(end - start) for start, end in cuts])
        spans = spans_in(found.transitions.tolist())
        assert len(spans) == 2 * len(words) - 1 == len(found.node_scores)
        assert found.node_scores.dtype == np.float32
        np.testing.assert_allclose(found.node_scores, [wanted[span] for span in spans], atol=1e-6)
        top = [span for span in spans if span not in cuts and span[1] - span[0] > 6]
        assert len(cuts) == 1 or len(top) <= len(cuts) - 1


def test_the_top_is_balanced(last_word):
    predictor = Predictor(last_word, threads=1, max_words=2)
    (found,) = predictor.predict([["film"] * 8])
    assert found.parts == ((0, 2), (2, 4), (4, 6), (6, 8))
    pair = [0, 0, 1]
    assert found.transitions.tolist() == [*pair, *pair, 1, *pair, *pair, 1, 1]


def test_a_given_tree_is_taken_as_it_is(last_word):
    tree = random_tree(50, random.Random(2))
    words = ["good", "film"] * 25
    (found,) = Predictor(last_word, max_words=6).predict([words], source=[tree])
    assert found.transitions.tolist() == tree.tolist()
    assert found.parts == ((0, 50),)
    np.testing.assert_allclose(found.node_scores, expected_rows("words", words, tree), atol=1e-6)


def test_faults_are_those_of_sentences_not_of_parts(tmp_path, last_word):
    predictor = Predictor(last_word, max_words=3)
    long = ["film"] * 10
    for bad in ([*long, None], [["film"], *long], [3]):
        with pytest.raises(InputError, match=r"sentence 1: .*strings"):
            predictor.predict([long, bad])
    made = write_last_word_bundle(tmp_path / "shifts", parser="shifts")
    with pytest.raises(BundleError, match="sentence 1 is not a tree: "):
        Predictor(made, max_words=3).predict([["film"], long])


def test_the_limit_is_400_and_is_kept_in_a_pickle(last_word):
    predictor = thinstack.load(last_word.path)
    whole, cut_once = predictor.predict([["film"] * 400, ["film"] * 401])
    assert (len(whole.parts), len(cut_once.parts)) == (1, 2)
    again = pickle.loads(pickle.dumps(thinstack.load(last_word.path, max_words=5)))
    assert len(again.predict([["film"] * 6])[0].parts) == 2


# -- models that read so many word pieces at once


@pytest.fixture
def pieces(tmp_path):
    """`film` is one piece, `films` two; at most five are read at once."""
    predictor = Predictor(write_last_word_bundle(tmp_path / "model", "wordpieces"), max_words=6)
    predictor._most_pieces = 5
    return predictor


def test_a_sentence_of_many_pieces_is_read_in_parts(pieces):
    sentences = [["film"] * 5, ["films"] * 4, ["film"] * 8 + ["films"] * 2, ["good"]]
    found = pieces.predict(sentences)
    assert [one.parts for one in found[:2]] == [((0, 5),), ((0, 2), (2, 4))]
    for words, one in zip(sentences, found, strict=True):
        for start, end in one.parts:
            counts = [2 if word == "films" else 1 for word in words[start:end]]
            assert sum(counts) <= 5
        assert len(one.node_scores) == 2 * len(words) - 1
        assert one.parts[-1][1] == len(words)


def test_parts_keep_both_limits(pieces):
    pieces.max_words = 3
    words = ["film"] * 9 + ["films"] * 4
    (found,) = pieces.predict([words])
    sizes = [end - start for start, end in found.parts]
    assert max(sizes) <= 3 < sum(sizes) == 13
    assert all(end <= 9 or end - start <= 2 for start, end in found.parts)


def test_what_cannot_be_cut_is_refused(pieces):
    with pytest.raises(InputError, match=r"sentence 1 .*6 .* 5:"):
        pieces.predict([["film"], ["films"] * 3], source=[[0], transitions.left(3)])
    pieces.predict([["film"] * 5], source=[transitions.left(5)])
    pieces._most_pieces = 1
    with pytest.raises(InputError, match=r"sentence 1: .*films .*2 "):
        pieces.predict([["film"] * 3, ["film", "films"]])
    with pytest.raises(InputError, match=r"sentence 0: .*found 3"):
        pieces.predict([["film", 3]])
