"""Labels of phrases on other trees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinstack.core import Tree
from thinstack.data.brackets import from_brackets
from thinstack.data.projection import project_labels
from thinstack.errors import TreeError

PHRASES = from_brackets("(4 (3 (2 (1 a) (0 big)) (x man)) (y (z sings) (. .)))")


def test_a_node_takes_the_label_of_the_phrase_over_the_same_words() -> None:
    tree = Tree.from_parents([2, 2, 3, -1, 3], PHRASES.words, list("ABCDE"))
    found = project_labels(PHRASES, tree)
    assert found.labels == ("1", "0", "3", "4", ".")
    assert found.parents.tolist() == tree.parents.tolist()
    assert found.words == tree.words


def test_a_node_over_no_phrase_has_no_label() -> None:
    tree = Tree.from_parents([3, 2, 3, -1, 3], PHRASES.words, list("ABCDE"))
    assert project_labels(PHRASES, tree).labels == ("1", "0", None, "4", ".")


def test_a_node_whose_words_have_a_gap_has_no_label() -> None:
    """The extent of `big`, with `sings` below it, is that of `man sings` and `big`; `a` and `man`
    are not below it."""
    phrases = from_brackets("(S (A a) (B (C b) (D c)))")
    tree = Tree.from_parents([-1, 0, 0], ["a", "b", "c"])
    assert project_labels(phrases, tree).labels == ("S", "C", "D")
    crossing = Tree.from_parents([2, -1, 1], ["a", "b", "c"])
    assert crossing.spans.tolist()[2] == [0, 3]
    assert project_labels(phrases, crossing).labels == ("A", "S", None)


def test_of_a_chain_the_topmost_label_counts() -> None:
    phrases = from_brackets("(TOP (S (NP (N dogs)) (VP (V bark))))")
    tree = Tree.from_parents([1, -1], ["dogs", "bark"])
    assert project_labels(phrases, tree).labels == ("NP", "TOP")
    missing = from_brackets("( (S (N dogs) (V bark)))")
    assert project_labels(missing, tree).labels == ("N", None)


@given(st.data())
def test_labels_are_those_that_a_search_over_all_phrases_finds(data: st.DataObject) -> None:
    words = [f"w{i}" for i in range(data.draw(st.integers(1, 7)))]
    phrases = (Tree.left if data.draw(st.booleans()) else Tree.balanced)(words)
    phrases = phrases.with_labels(map(str, range(len(phrases))))
    order = data.draw(st.permutations(range(len(words))))
    parents = [-1] * len(words)
    for rank, node in enumerate(order[1:], start=1):
        parents[node] = order[data.draw(st.integers(0, rank - 1))]

    def below(node: int) -> set[int]:
        return {node}.union(*(below(child) for child, above in enumerate(parents) if above == node))

    expected = [None] * len(words)
    for node in range(len(words)):
        for label, (start, end) in zip(phrases.labels, phrases.spans.tolist(), strict=True):
            if below(node) == set(range(start, end)):
                expected[node] = label
    assert list(project_labels(phrases, Tree.from_parents(parents, words)).labels) == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("a big man sang .", "found 'sings' in the phrases and 'sang' in the tree at word 4"),
        ("a big man sings", "found '.' in the phrases and the end in the tree at word 5"),
        ("a big man sings . Yes", "found the end in the phrases and 'Yes' in the tree at word 6"),
    ],
)
def test_trees_over_other_words_are_refused(words: str, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        project_labels(PHRASES, Tree.left(words.split()))


def test_phrases_of_a_dependency_tree_are_refused() -> None:
    tree = Tree.from_parents([1, -1], ["dogs", "bark"])
    with pytest.raises(TreeError, match="node 1 has both a word and children"):
        project_labels(tree, tree)


def test_trees_of_any_depth_are_projected() -> None:
    words = ["w"] * 20_000
    phrases = Tree.right(words).with_labels(map(str, range(2 * len(words) - 1)))
    chain = Tree.from_parents(range(-1, len(words) - 1), words)
    assert list(project_labels(phrases, chain).labels) == [
        str(i) for i in range(2 * len(words) - 2, len(words) - 2, -1)
    ]
