"""Every format gives back the tree that was put into it: many small trees, and a few very deep
ones."""

import pickle

import pytest
from core.random_trees import ANY, WORDS, tree_of
from hypothesis import given, settings
from hypothesis import strategies as st

from thinstack.core import Tree
from thinstack.core.tree import depths
from thinstack.data.trees.binarize import from_binary, to_binary
from thinstack.data.trees.brackets import from_brackets, to_brackets
from thinstack.errors import TreeError

DEEP = 20_000
thorough = settings(max_examples=100)


@st.composite
def labelled(draw, shapes=ANY, labels=WORDS):
    """A tree whose leaves have one of `labels`, and its inner nodes one of them or None."""
    tree = tree_of(draw(shapes))
    known = draw(st.lists(labels, min_size=len(tree), max_size=len(tree)))
    bare = draw(st.lists(st.booleans(), min_size=len(tree), max_size=len(tree)))
    parts = zip(known, bare, tree.tokens, strict=True)
    return tree.with_labels(
        [None if absent and word is None else label for label, absent, word in parts]
    )


@thorough
@given(
    labelled(labels=st.sampled_from(["A", "B-C", "C|D", "e@f", "|", None])),
    st.sampled_from(["right", "left", "head"]),
)
def test_binary_trees(tree, branching):
    """The head is a child that depends on both the phrase and its children."""
    binary = to_binary(
        tree, branching=branching, heads=lambda label, below: len(str((label, *below))) % len(below)
    )
    assert len(binary.transitions) == 2 * len(tree.words) - 1
    assert binary.words == tree.words
    assert from_binary(binary) == tree


def deep(shape):
    """A tree with DEEP nodes between its root and its lowest leaf, every node with a label."""
    words = [f"w{i % 10}" for i in range(DEEP + 2)]
    if shape == "unary":
        tree = Tree.from_parents([*range(1, DEEP + 2), -1], ["w", *[None] * (DEEP + 1)])
    else:
        tree = (Tree.left if shape == "left" else Tree.right)(words)
    return tree.with_labels("ABCDEFG"[i % 7] for i in range(len(tree)))


@pytest.mark.parametrize("shape", ["left", "right", "unary"])
def test_deep_trees(shape):
    tree = deep(shape)
    text = to_brackets(tree)
    again = from_brackets(text)
    assert again == tree
    assert hash(again) == hash(tree)
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert text.count("(") == len(tree) == sum(map(len, tree.children)) + 1
    assert depths(tree.parents).max() == DEEP + 1
    assert tree.spans[tree.root].tolist() == [0, len(tree.words)]
    bare = tree.with_labels([None] * len(tree))
    assert from_brackets(to_brackets(bare, labelled=False), labelled=False) == bare
    assert Tree.from_parents(tree.parents, tree.tokens, tree.labels) == tree
    if shape != "unary":
        assert Tree.from_transitions(tree.transitions, tree.words, tree.labels) == tree


def test_a_cycle_as_long_as_the_tree_is_found():
    with pytest.raises(TreeError, match="node 1 is its own ancestor"):
        Tree.from_parents([-1, *range(2, DEEP), 1], ["w"] * DEEP)
