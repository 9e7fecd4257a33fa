"""Trees changed so that given words are phrases."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from last_word_model import random_tree

from thinstack.core import Tree
from thinstack.core.transitions import spans_of, validate
from thinstack.core.tree import depths
from thinstack.text.given_trees import transitions_of, with_phrases


def spans(transitions):
    return {(start, end) for start, end in spans_of(transitions).tolist()}


def crosses(one, other):
    (first, last), (start, end) = sorted([one, other])
    return first < start < last < end


@st.composite
def trees_and_phrases(draw):
    """A random tree, and phrases of another one, which do not cross one another."""
    words, seed = draw(st.integers(1, 12)), draw(st.integers(0, 999))
    rng = random.Random(seed)
    tree, other = random_tree(words, rng), random_tree(words, rng)
    return tree, draw(st.lists(st.sampled_from(sorted(spans(other))), max_size=5))


@given(trees_and_phrases())
def test_phrases_are_nodes_and_all_nodes_stay_that_cross_none(drawn):
    tree, phrases = drawn
    changed = with_phrases(tree, phrases)
    assert validate(changed, (len(tree) + 1) // 2) is not None
    assert spans(changed) >= {*phrases}
    kept = {node for node in spans(tree) if not any(crosses(node, each) for each in phrases)}
    assert spans(changed) >= kept
    if len(kept) == len(tree):
        assert changed.tolist() == tree.tolist()


def test_inside_a_phrase_what_was_cut_first_is_cut_first():
    """(a (b (c (d e)))) with the phrase a b c."""
    chain = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])
    words = {(place, place + 1) for place in range(5)}
    assert spans(with_phrases(chain, [(0, 3)])) - words == {(1, 3), (0, 3), (3, 5), (0, 5)}


def cut(distances, start, end):
    """The spans of the definition, by recursion: each is cut at its greatest distance."""
    if end - start == 1:
        return {(start, end)}
    gap = max(range(start, end - 1), key=lambda gap: distances[gap])
    return {(start, end)} | cut(distances, start, gap + 1) | cut(distances, gap + 1, end)


@given(st.lists(st.integers(-50, 50).map(float), max_size=12, unique=True))
def test_every_span_is_cut_at_its_greatest_distance(distances):
    words = len(distances) + 1
    assert spans(transitions_of(distances)) == cut(distances, 0, words)


@pytest.mark.parametrize("period", [[1.0], [1.0, 2.0], [3.0, 1.0, 1.0, 2.0, 1.0]])
def test_words_that_repeat_themselves_do_not_make_a_chain(period):
    words = 20_001
    tree = Tree.from_transitions(transitions_of((period * words)[: words - 1]), ["w"] * words)
    assert depths(tree.parents).max() < 4 * np.log2(words)
