"""`Forest` against recursion over nested lists."""

import numpy as np
import pytest
from core.random_trees import ANY, BINARY, nodes_of, tree_of
from hypothesis import given
from hypothesis import strategies as st

from thinstack.core import Forest, Tree
from thinstack.data.brackets import from_brackets
from thinstack.errors import TreeError


@given(st.lists(ANY, max_size=4))
def test_a_forest_is_its_trees_one_after_another(trees: list) -> None:
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


@given(st.lists(BINARY, max_size=4))
def test_transitions_of_binary_trees(trees: list) -> None:
    steps = [int(node.word is None) for tree in trees for node in nodes_of(tree)]
    found = Forest.of(map(tree_of, trees)).transitions
    assert found.tolist() == steps
    assert found.dtype == np.int8


def test_slots_of_a_dependency_tree_count_from_the_left() -> None:
    trees = [
        Tree.from_parents([1, -1, 1, 2, 1], list("abcde")),
        Tree.from_parents([-1, 0, 0], list("fgh")),
    ]
    forest = Forest.of(trees)
    assert forest.parents.tolist() == [1, -1, 1, 2, 1, -1, 5, 5]
    assert forest.slots.tolist() == [0, 0, 1, 0, 2, 0, 0, 1]


RELATIONS = ("L2", "L0", "absent")


@given(st.lists(ANY, max_size=4))
def test_kinds_follow_the_label_of_the_child(trees: list) -> None:
    expected = []
    for tree in trees:
        for number, node in enumerate(nodes_of(tree)):  # labelled L0, L1, ...
            expected.append({0: 3, 2: 2}.get(number, 1) if node.parent >= 0 else 1)
    found = Forest.of(map(tree_of, trees), RELATIONS).kinds
    assert found.tolist() == expected
    assert found.dtype == np.int64


def test_kinds_of_dependency_edges() -> None:
    tree = Tree.from_parents([1, -1, 1, 2], list("abcd"), ["nsubj", "root", None, "det"])
    other = Tree.from_parents([-1, 0], list("ef"), ["det", "root"])
    forest = Forest.of([tree, other], relations=["root", "det", "nsubj"])
    assert forest.kinds.tolist() == [4, 1, 1, 3, 1, 2]
    assert Forest.of([tree, other], relations=["dobj"]).kinds.tolist() == [1] * 6


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (from_brackets("(3 (2 (1 a)) (2 b))"), "binary trees only: binarize"),
        (from_brackets("(3 (2 a) (2 b) (2 c))"), "binary trees only: binarize"),
        (Tree.from_parents([1, -1, 1], list("abc")), "transition order only"),
    ],
)
def test_other_trees_have_no_transitions(tree: Tree, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        _ = Forest.of([Tree.left(["x", "y"]), tree]).transitions


def test_a_dependency_tree_whose_transitions_would_be_none() -> None:
    with pytest.raises(TreeError, match="transition 1 is a REDUCE"):
        _ = Forest.of([Tree.from_parents([1, -1, 1], list("abc"))]).transitions


def test_an_empty_forest() -> None:
    for forest in (Forest.of([]), Forest.of([], ["det"])):
        for array in (
            forest.parents,
            forest.slots,
            forest.kinds,
            forest.sizes,
            forest.leaves,
            forest.transitions,
        ):
            assert array.shape == (0,)
