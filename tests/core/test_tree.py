"""`Tree` against recursion over nested lists, and formats that give back the tree put into them."""

import copy
import pickle

import numpy as np
import pytest
from core.random_trees import ANY, brackets_of, labels_of, nodes_of, tree_of
from hypothesis import given, settings
from hypothesis import strategies as st

from thinstack.core import Tree
from thinstack.core.tree import depths
from thinstack.data.trees.binarize import from_binary, to_binary
from thinstack.data.trees.brackets import from_brackets, to_brackets
from thinstack.errors import TreeError


@given(ANY)
def test_what_a_tree_says_of_its_nodes(tree):
    nodes, found = nodes_of(tree), from_brackets(brackets_of(tree))
    assert len(found) == len(nodes)
    assert found.root == len(nodes) - 1
    assert found.parents.tolist() == [node.parent for node in nodes]
    assert found.tokens == tuple(node.word for node in nodes)
    assert found.labels == tuple(labels_of(tree))
    assert found.words == tuple(node.word for node in nodes if node.word is not None)
    assert found.spans.tolist() == [[node.start, node.end] for node in nodes]
    assert not found.gaps.any()
    below = tuple(
        tuple(i for i, node in enumerate(nodes) if node.parent == j) for j in range(len(nodes))
    )
    assert found.children == below
    assert found.arities.tolist() == [len(children) for children in below]
    assert depths(found.parents).tolist() == [node.depth for node in nodes]


@given(ANY, st.randoms(use_true_random=False))
def test_from_parents_in_any_order_of_the_inner_nodes(tree, random):
    """Leaves stay in the order of the words, before, between or after the inner nodes."""
    nodes, labels = nodes_of(tree), labels_of(tree)
    leaves = [i for i, node in enumerate(nodes) if node.word is not None]
    inner = [i for i, node in enumerate(nodes) if node.word is None]
    random.shuffle(inner)
    places = set(random.sample(range(len(nodes)), len(leaves)))
    left, rest = iter(leaves), iter(inner)
    order = [next(left) if i in places else next(rest) for i in range(len(nodes))]
    parents = [-1 if nodes[i].parent < 0 else order.index(nodes[i].parent) for i in order]
    found = Tree.from_parents(parents, [nodes[i].word for i in order], [labels[i] for i in order])
    assert found == tree_of(tree)


def test_a_dependency_tree_keeps_its_order():
    tree = Tree.from_parents(
        [1, 4, 1, 2, -1, 4], ["a", "man", "in", "hats", "sings", "."], list("ABCDEF")
    )
    assert tree.parents.tolist() == [1, 4, 1, 2, -1, 4]
    assert tree.words == tree.tokens == ("a", "man", "in", "hats", "sings", ".")
    assert tree.labels == tuple("ABCDEF")
    assert tree.root == 4
    assert tree.children == ((), (0, 2), (3,), (), (1, 5), ())
    assert tree.spans.tolist() == [[0, 1], [0, 4], [2, 4], [3, 4], [0, 6], [5, 6]]


@given(st.lists(st.integers(0, 7), min_size=1, max_size=8), st.data())
def test_gaps_are_where_a_subtree_is_less_than_its_extent(draws, data):
    """Any dependency tree: node i of a random order hangs below one before it; descendants by
    following parents."""
    order = data.draw(st.permutations(range(len(draws))))
    parents = [-1] * len(draws)
    for rank, node in enumerate(order[1:], start=1):
        parents[node] = order[draws[rank] % rank]
    below = [set() for _ in draws]
    for word in range(len(draws)):
        node = word
        while node >= 0:
            below[node].add(word)
            node = parents[node]
    tree = Tree.from_parents(parents, ["w"] * len(draws))
    assert tree.gaps.tolist() == [max(words) - min(words) + 1 > len(words) for words in below]


@pytest.mark.parametrize(
    ("parents", "tokens", "message"),
    [
        ([], [], r"float64 of shape \(0,\)"),
        ([[-1]], ["a"], r"int64 of shape \(1, 1\)"),
        ([-1.0], ["a"], "float64"),
        ([2, 2, -1], ["a", "b"], "3 tokens .* found 2"),
        ([2, 3, -1], ["a", "b", None], "node 1 has parent 3"),
        ([2, -2, -1], ["a", "b", None], "node 1 has parent -2"),
        ([1, 0], ["a", "b"], "one root .* found 0"),
        ([-1, -1], ["a", "b"], "one root .* found 2"),
        ([-1, 2, 1], ["a", "b", "c"], "node 1 is its own ancestor"),
        ([-1, 1], ["a", "b"], "node 1 is its own ancestor"),
        ([-1, 2, 3, 4, 2, 4], list("abcdef"), "node 2 is its own ancestor"),
        ([2, 2, -1], ["a", None, None], "leaf 1 has no word"),
        ([2, 2, -1], ["a", None, "c"], "leaf 1 has no word"),
        ([-1], [None], "leaf 0 has no word"),
        ([4, 5, 5, 4, 6, 6, -1], [*"abcd", None, None, None], "node 1 splits a phrase"),
        ([5, 4, 5, 6, 6, 4, -1], [*"abcd", None, None, None], "node 1 splits a phrase"),
    ],
)
def test_what_is_no_tree_is_refused(parents, tokens, message):
    with pytest.raises(TreeError, match=message):
        Tree.from_parents(parents, tokens)


BARE = Tree.from_parents([1, -1, 1], list("abc"), list("xyz"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Tree.from_transitions([0, 0], ["a", "b"]), "2 words has 3 transitions, found 2"),
        (lambda: Tree.from_transitions([0, 0, 1], ["a"]), "1 words has 1 transitions, found 3"),
        (lambda: Tree.from_transitions([0, 1, 0], ["a", "b"]), "transition 1 is a REDUCE"),
        (lambda: Tree.from_transitions([0, 0, 1], "ab", "xy"), "3 labels .* found 2"),
        (lambda: Tree.left(["a", "b"]).with_labels("wxyz"), "3 labels .* found 4"),
        (lambda: BARE.transitions, "node 1 has both a word and children; in transitions"),
        (lambda: to_brackets(BARE), "node 1 has both a word and children; expected a const"),
        (lambda: from_brackets("(3 (2 (1 a)) (2 b))").transitions, "node 1 has 1 children"),
        (lambda: from_brackets("(3 (2 a) (2 b) (2 c))").transitions, "node 3 has 3 children"),
    ],
)
def test_what_does_not_go_together_is_refused(call, message):
    with pytest.raises(TreeError, match=message):
        call()


def test_a_tree_cannot_be_changed():
    given_parents = np.array([2, 2, -1])
    tree = Tree.from_parents(given_parents, ["a", "b", None])
    given_parents[0] = 1
    assert tree.parents.tolist() == [2, 2, -1]
    direct = Tree(parents=given_parents, tokens=("a", "b", None), labels=(None,) * 3)
    given_parents[0] = 2
    assert direct.parents.tolist() == [1, 2, -1]
    for name in ("parents", "tokens", "labels", "words", "new"):
        with pytest.raises(AttributeError, match=f"cannot assign to field '{name}'"):
            setattr(tree, name, ())
        with pytest.raises(AttributeError, match=f"cannot delete field '{name}'"):
            delattr(tree, name)
    for array in (tree.parents, tree.spans, tree.gaps, tree.arities, tree.transitions):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_equal_trees_and_others():
    tree = from_brackets("(3 (2 a) (4 b))")
    same = Tree.from_parents([2, 2, -1], ["a", "b", None], ["2", "4", "3"])
    assert tree == same
    assert len({tree, same}) == 1
    assert tree != from_brackets("(3 (2 a) (4 c))")
    assert tree != from_brackets("(3 (2 a) (1 b))")
    assert Tree.left(["a", "b", "c"]) != Tree.right(["a", "b", "c"])
    assert Tree.from_parents([1, 2, -1], list("abc")) != Tree.from_parents([2, 2, -1], list("abc"))
    assert tree != "(3 (2 a) (4 b))"


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))]
)
def test_copies_are_equal_and_as_immutable(again):
    tree = from_brackets("(3 (2 a) (4 b))")
    tree.spans, tree.children  # noqa: B018
    other = again(tree)
    assert other == tree
    assert other.labels == ("2", "4", "3")
    assert not other.parents.flags.writeable


DEEP = 20_000
thorough = settings(max_examples=100)


@st.composite
def labelled(draw, labels):
    """A tree whose leaves have one of `labels`, and its inner nodes one of them or None."""
    tree = tree_of(draw(ANY))
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
