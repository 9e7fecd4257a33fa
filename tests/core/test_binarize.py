"""Binarising constituency trees, checked against nested lists taken apart by hand."""

import random

import pytest

from thinstack.core import Tree
from thinstack.core.binarize import binarize
from thinstack.errors import TreeError


def phrases(tree: Tree) -> set[tuple[int, int, str | None]]:
    """(start, end, label) of all nodes."""
    return {(*span, label) for span, label in zip(map(tuple, tree.spans.tolist()), tree.labels, strict=True)}


def test_more_than_two_children_branch_to_the_right() -> None:
    tree = binarize(Tree.from_brackets("(S (A a) (B b) (C c) (D d))"))
    assert tree.transitions.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert phrases(tree) == {(0, 1, "A"), (1, 2, "B"), (2, 3, "C"), (3, 4, "D"), (2, 4, None), (1, 4, None), (0, 4, "S")}


def test_a_chain_of_single_children_keeps_its_top_label() -> None:
    tree = binarize(Tree.from_brackets("(TOP (S (NP (NN (X dogs))) (VP (V bark))))"))
    assert phrases(tree) == {(0, 1, "NP"), (1, 2, "VP"), (0, 2, "TOP")}
    assert binarize(Tree.from_brackets("(A (B (C c)))")) == Tree.from_brackets("(A c)")


def test_a_binary_tree_stays_as_it_is() -> None:
    tree = Tree.from_brackets("(3 (2 (2 The) (2 film)) (4 (3 is) (4 great)))")
    assert binarize(tree) == tree


Nested = str | tuple[str, list["Nested"]]


def grow(rng: random.Random, depth: int) -> Nested:
    if depth == 0 or rng.random() < 0.3:
        return f"w{rng.randrange(100)}"
    return rng.choice("ABC"), [grow(rng, depth - 1) for _ in range(rng.randint(1, 4))]


def brackets(tree: Nested) -> str:
    return f"(W {tree})" if isinstance(tree, str) else f"({tree[0]} {' '.join(map(brackets, tree[1]))})"


def nested_phrases(tree: Nested, start: int, found: dict[tuple[int, int], str]) -> int:
    """Spans of a nested tree with the label of the topmost node over each; returns the end of the last word."""
    end = start
    label = "W"
    if isinstance(tree, str):
        end += 1
    else:
        label = tree[0]
        for child in tree[1]:
            end = nested_phrases(child, end, found)
    found[start, end] = label  # parents come after their children
    return end


def test_every_phrase_of_any_tree_is_there_with_its_label() -> None:
    rng = random.Random(5)
    for _ in range(200):
        nested = ("TOP", [grow(rng, 4) for _ in range(rng.randint(1, 4))])
        before = Tree.from_brackets(brackets(nested))
        expected: dict[tuple[int, int], str] = {}
        nested_phrases(nested, 0, expected)
        tree = binarize(before)
        assert tree.words == before.words
        assert len(tree.transitions) == 2 * len(tree.words) - 1
        assert {(a, b): label for a, b, label in phrases(tree) if label is not None} == expected


def test_leaves_are_replaced_split_and_left_out() -> None:
    tree = Tree.from_brackets("(S (NP (D the) (N cannot) (X _)) (Y (Z _)) (VP (V go)))")
    new = binarize(tree, [["The"], ["can", "not"], [], [], ["go", "on", "now"]])
    assert new.words == ("The", "can", "not", "go", "on", "now")
    assert phrases(new) == {
        *((i, i + 1, None) for i in range(1, 6)),
        *{(0, 1, "D"), (1, 3, "N"), (0, 3, "NP"), (4, 6, None), (3, 6, "VP"), (0, 6, "S")},
    }


def test_trees_of_any_depth_are_binarised() -> None:
    deep = 30_000
    tree = Tree.from_brackets("(S (A a) " * deep + "(B b)" + ")" * deep)
    assert binarize(tree) == tree
    assert binarize(Tree.from_brackets("(S " * deep + "(B b)" + ")" * deep)).words == ("b",)


def test_what_cannot_be_binarised_is_refused() -> None:
    with pytest.raises(TreeError, match="node 0 has both a word and children"):
        binarize(Tree.from_parents([-1, 0], ["barks", "dog"]))
    tree = Tree.from_brackets("(S (A a) (B b))")
    with pytest.raises(TreeError, match="2 leaves needs words for each of them, got 1"):
        binarize(tree, [["a"]])
    with pytest.raises(TreeError, match="none was left"):
        binarize(tree, [[], []])
