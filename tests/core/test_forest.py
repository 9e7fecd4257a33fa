"""`Forest` against recursion over nested lists."""

import numpy as np
import pytest
from core.random_trees import ANY, BINARY, nodes_of, tree_of
from hypothesis import given
from hypothesis import strategies as st

from thinstack.core import Forest, Tree
from thinstack.core.forest import join, text_sizes
from thinstack.data.trees.brackets import from_brackets
from thinstack.errors import TreeError


@given(st.lists(ANY, max_size=4))
def test_a_forest_is_its_trees_one_after_another(trees):
    forest = Forest.of(tree_of(tree) for tree in trees)
    parents, slots, leaves, offset = [], [], [], 0
    for tree in trees:
        nodes = nodes_of(tree)
        parents += [-1 if node.parent < 0 else node.parent + offset for node in nodes]
        slots += [node.slot for node in nodes]
        leaves += [node.word is not None for node in nodes]
        offset += len(nodes)
    assert forest.parents.tolist() == parents
    assert forest.slots.tolist() == slots
    assert forest.leaves.tolist() == leaves
    assert forest.kinds.tolist() == [1] * offset
    assert forest.sizes.tolist() == [len(nodes_of(tree)) for tree in trees]
    words = [sum(node.word is not None for node in nodes_of(tree)) for tree in trees]
    assert forest.lengths.tolist() == words


@given(st.lists(BINARY, max_size=4))
def test_transitions_of_binary_trees(trees):
    steps = [[int(node.word is None) for node in nodes_of(tree)] for tree in trees]
    found = Forest.of_binary(map(tree_of, trees))
    assert found.transitions.tolist() == [step for tree in steps for step in tree]
    assert found.sizes.tolist() == [len(tree) for tree in steps]
    assert found.lengths.tolist() == [tree.count(0) for tree in steps]
    assert [part.tolist() for part in found.by_tree(found.transitions)] == (steps or [[]])


def test_slots_of_a_dependency_tree_count_from_the_left():
    trees = [
        Tree.from_parents([1, -1, 1, 2, 1], list("abcde")),
        Tree.from_parents([-1, 0, 0], list("fgh")),
    ]
    forest = Forest.of(trees)
    assert forest.parents.tolist() == [1, -1, 1, 2, 1, -1, 5, 5]
    assert forest.slots.tolist() == [0, 0, 1, 0, 2, 0, 0, 1]
    assert forest.lengths.tolist() == forest.sizes.tolist() == [5, 3]


RELATIONS = ("L2", "L0", "absent")


@given(st.lists(ANY, max_size=4))
def test_kinds_follow_the_label_of_the_child(trees):
    expected = []
    for tree in trees:
        for number, node in enumerate(nodes_of(tree)):  # labelled L0, L1, ...
            expected.append({0: 3, 2: 2}.get(number, 1) if node.parent >= 0 else 1)
    assert Forest.of(map(tree_of, trees), RELATIONS).kinds.tolist() == expected


@pytest.mark.parametrize(
    "tree",
    [
        from_brackets("(3 (2 (1 a)) (2 b))"),
        from_brackets("(3 (2 a) (2 b) (2 c))"),
        Tree.from_parents([1, -1, 1], list("abc")),
        Tree.from_parents([1, -1], list("ab")),
    ],
)
def test_other_trees_have_no_transitions(tree):
    with pytest.raises(TreeError, match=r"binarize|words at leaves"):
        Forest.of_binary([Tree.left(["x", "y"]), tree])


def test_breaks_are_zeros_where_a_part_has_none():
    sentences = Forest(lengths=np.array([2, 1]))
    text = Forest(lengths=np.array([1, 4, 3]), breaks=np.array([1, 2, 0]))
    assert join([sentences, sentences]).breaks.tolist() == []
    assert join([sentences, text, sentences]).breaks.tolist() == [0, 0, 1, 2, 0, 0, 0]
    assert sentences.inputs(["breaks"])["breaks"].tolist() == [0, 0]
    assert text_sizes(text.lengths, text.breaks).tolist() == [2 * 8 - 1]
    assert text_sizes(text.lengths, np.array([0, 7, 0])).tolist() == [1, 2 * 7 - 1]
