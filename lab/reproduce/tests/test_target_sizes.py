"""The words and the depths of targets, by hand."""

import numpy as np
import pytest
from data.reading import dependency_trees
from hypothesis import given
from hypothesis import strategies as st
from training import tiny_recipe

from reproduce.target_sizes import depths_below, target_sizes
from thinstack.core import Tree
from thinstack.core.transitions import left, right
from thinstack.data.trees.brackets import from_brackets
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.training.examples.example import Example, examples_of
from thinstack.training.examples.labelled import labelled_pair
from thinstack.training.tasks.pairs import Pair

WORDS = WordVocabulary(["the", "good", "film"])
PARSED = Tree.from_parents(
    [1, 2, -1, 4, 2],
    ("the", "film", "is", "so", "dull"),
    ["det", "nsubj", "root", "advmod", "acomp"],
)
PHRASES = from_brackets("(2 (1 the) (2 (2 good) (1 film)))")  # the, good, film, good film, all


def model(trees):
    cells = {"dependency": "child_sum_lstm.v1"}
    cell = {"name": cells.get(trees, "nary_lstm.v1")}
    return tiny_recipe.recipe(model={"trees": trees}, cell=cell, sources=()).model


@pytest.mark.parametrize(
    ("tree", "labels", "trees", "reads", "words", "depth"),
    [
        (PARSED, [-1, 1, 0, -1, 0], "dependency", "nodes", [2, 5, 2], [1, 2, 1]),
        (PHRASES, [1, 2, 1, 2, 2], "binary", "nodes", [1, 1, 1, 2, 3], [0, 0, 0, 1, 2]),
        (PHRASES, [1, 2, 1, 2, 2], "binary", "roots", [3], [2]),
        # Chains of "good film", whose first word is "good", and of the sentence, whose first word
        # is "the"; "film" has no label.
        (PHRASES, [1, 2, -1, 0, 2], "sequence", "nodes", [1, 2, 1, 3], [0, 1, 0, 2]),
        (PHRASES, [1, 2, -1, 0, 2], "sequence", "roots", [1, 1, 2, 3], [0, 0, 1, 2]),
    ],
)
def test_targets_have_the_words_and_the_depth_of_their_phrase(
    tree, labels, trees, reads, words, depth
):
    items = [(tree, np.array(labels))]
    sizes = target_sizes(items, examples_of(items, WORDS, model(trees), reads), "gold", reads)
    assert [one.tolist() for one in sizes] == [words, depth]


def test_over_another_tree_shared_phrases_keep_their_depth():
    tree = from_brackets("(2 (2 (1 the) (1 (2 good) (0 old))) (1 film))")
    items = [(tree, np.array([1, 2, 0, 1, 2, 1, 2]))]
    (example,) = examples_of(items, WORDS, model("binary"), "nodes", ["left"])
    # the, good, old, the good old, film, all: "the good" has no label.
    words, depth = target_sizes(items, [example], "left", "nodes")
    assert (words.tolist(), depth.tolist()) == ([1, 1, 1, 3, 1, 4], [0, 0, 0, 2, 0, 3])


def test_a_pair_has_the_means_of_its_sentences():
    trees = PARSED, Tree.from_parents([1, -1], ["not", "dull"], ["neg", "root"])
    pair = Pair("1", trees, 3.6)
    example = Example({"gold": labelled_pair(trees, 3.6, WORDS, model("dependency"))})
    words, depth = target_sizes([pair], [example], "gold", "pairs")
    assert (words.tolist(), depth.tolist()) == ([3.5], [1.5])


def walked(tree):
    """The longest way up to each node from any leaf, each walked by itself."""
    found = [0] * len(tree)
    for leaf in range(len(tree)):
        node, steps = leaf, 0
        while node >= 0:
            found[node] = max(found[node], steps)
            node, steps = int(tree.parents[node]), steps + 1
    return found


@given(dependency_trees(st.just("w"), st.none(), 30))
def test_depths_below_are_the_longest_ways_from_a_leaf(tree):
    assert depths_below(tree).tolist() == walked(tree)


@pytest.mark.parametrize("shape", [left, right])
def test_deep_trees_take_no_recursion(shape):
    steps = shape(20_000)
    assert depths_below(Tree.from_transitions(steps, ["w"] * 20_000))[-1] == 19_999
