"""Vectors of spans, nodes or covering nodes joined from left to right, against numpy by hand."""

import pickle
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from last_word_model import random_tree
from vector_models import SIZE, joined_by_hand, rows_by_hand, vectors_by_hand

from thinstack.core.tree import Tree
from thinstack.errors import InputError

HALF = 2e-3
TEXT = " The good film but the awful plot.  Good film."
#       01234567890123456789012345678901234567890123456


def balanced_spans(result):
    return [[*map(tuple, one.spans.tolist())] for one in result.sentences]


def test_a_span_that_is_a_node_has_its_vector(vectors):
    result = vectors(TEXT)
    for phrase in result.phrases:
        np.testing.assert_array_equal(result.vector_of(phrase.start, phrase.end), phrase.vector)
        one = phrase.sentence.vector_of(phrase.start, phrase.end)
        np.testing.assert_array_equal(one, phrase.vector)


def test_covering_nodes_are_joined_from_left_to_right(vectors):
    result = vectors(TEXT)
    words = ["The", "good", "film", "but", "the", "awful", "plot", "."]
    assert [*result.sentences[0].words] == words
    assert (1, 7) not in balanced_spans(result)[0]
    # good, (film but), (the awful), plot: of the balanced tree over 8 words
    inside = [0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 1]
    start, end = TEXT.index("good"), TEXT.index(".")
    assert balanced_spans(result)[0][2:6] == [(0, 2), (2, 3), (3, 4), (2, 4)]
    expected = vectors_by_hand(words[1:7], inside)[-1]
    vector = result.vector_of(start, end)
    assert vector.dtype == np.float32
    np.testing.assert_allclose(vector, expected, atol=HALF)
    np.testing.assert_allclose(result.vector_of(start - 1, end), expected, atol=HALF)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


@given(st.integers(2, 12), st.randoms(use_true_random=False), st.data())
def test_any_span_of_any_tree(vectors, words, rng, data):
    steps = random_tree(words, rng)
    names = [rng.choice(["good", "film", "plot", "awful", "odd"]) for _ in range(words)]
    prediction = vectors.predict([names], source=[steps])[0]
    start = data.draw(st.integers(0, words - 1))
    end = data.draw(st.integers(start + 1, words))

    def covering(node):
        """The states of the largest nodes inside the span, found from the top down."""
        first, behind = prediction.spans[node]
        if start <= first and behind <= end:
            return [rows[node]]
        if behind <= start or end <= first:
            return []
        left, right = Tree.from_transitions(steps, names).children[node]
        return covering(left) + covering(right)

    rows = rows_by_hand(names, steps)
    expected = reduce(joined_by_hand, covering(len(steps) - 1))
    expected /= np.linalg.norm(expected)
    whole = (0, words)
    found = vectors.span_vectors(prediction, [whole, (start, end), whole, (start, end)])
    np.testing.assert_allclose(found[[1, 3]], [expected] * 2, atol=HALF)
    np.testing.assert_array_equal(found[[0, 2]], [prediction.vector] * 2)


def test_no_spans_have_no_rows(vectors):
    assert vectors.span_vectors(vectors("good film").sentences[0], []).shape == (0, SIZE)


@pytest.mark.parametrize(
    ("start", "end", "problem"),
    [
        (-1, 5, "outside|expected character offsets"),
        (40, 47, "pass 0 <= start < end <= 46"),
        (5, 5, "expected character offsets"),
        (5, 4, "expected character offsets"),
        (None, 5, r"found \(None, 5\)"),
        (0.5, 5, r"found \(0\.5, 5\)"),
        (34, 36, "contain no word"),
        (26, 40, "span 2 sentences"),
        (2, 9, "split a word: use 1 to 9"),
        (5, 12, "split a word: use 5 to 14"),
        (6, 7, "split a word: use 5 to 9"),
    ],
)
def test_a_span_of_no_whole_words(vectors, start, end, problem):
    with pytest.raises(InputError, match=problem):
        vectors(TEXT).vector_of(start, end)


def test_a_sentence_takes_characters_of_the_whole_text(vectors):
    result = vectors(TEXT)
    second = result.sentences[1]
    assert second.start == 36
    np.testing.assert_array_equal(second.vector_of(36, 40), result.vector_of(36, 40))
    with pytest.raises(InputError, match="pass 36 <= start < end <= 46"):
        second.vector_of(0, 4)
    with pytest.raises(InputError, match="pass 0 <= start < end <= 0"):
        vectors("").vector_of(0, 1)


@pytest.mark.parametrize("span", [(0, 4), (-1, 2), (1, 1), (0,), 3, ("a", "b"), (0.5, 2)])
def test_words_outside_of_the_sentence(vectors, span):
    with pytest.raises(InputError, match="pass 0 <= start < end <= 3"):
        vectors.span_vectors(vectors("good film.").sentences[0], [span])


def test_spans_of_what_is_no_sentence(vectors):
    for other in (vectors("good film."), "good film."):
        with pytest.raises(InputError, match=r"pass one, such as result\.sentences\[0\]"):
            vectors.span_vectors(other, [(0, 1)])


def test_without_its_predictor_only_nodes_have_vectors(vectors):
    result = vectors(TEXT)
    copy = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(copy.vector_of(1, 9), result.vector_of(1, 9))
    with pytest.raises(InputError, match=r"has no predictor.*predictor\.span_vectors\("):
        copy.vector_of(5, 33)
    rows = vectors.span_vectors(copy.sentences[0], [(1, 7)])
    np.testing.assert_allclose(rows[0], result.vector_of(5, 33), atol=HALF)
