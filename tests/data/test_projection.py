"""Labels of phrases on other trees."""

import pytest
from data.reading import dependency_trees
from hypothesis import given
from hypothesis import strategies as st

from thinstack.core import Tree
from thinstack.data.trees.brackets import from_brackets
from thinstack.data.trees.phrases import project_labels
from thinstack.errors import TreeError

PHRASES = from_brackets("(4 (3 (2 (1 a) (0 big)) (x man)) (y (z sings) (. .)))")


def test_a_node_takes_the_label_of_the_phrase_over_the_same_words():
    tree = Tree.from_parents([2, 2, 3, -1, 3], PHRASES.words, list("ABCDE"))
    found = project_labels(PHRASES, tree)
    assert found.labels == ("1", "0", "3", "4", ".")
    assert found.parents.tolist() == tree.parents.tolist()
    assert found.words == tree.words


def test_of_a_chain_the_topmost_label_counts():
    phrases = from_brackets("(TOP (S (NP (N dogs)) (VP (V bark))))")
    tree = Tree.from_parents([1, -1], ["dogs", "bark"])
    assert project_labels(phrases, tree).labels == ("NP", "TOP")
    missing = from_brackets("( (S (N dogs) (V bark)))")
    assert project_labels(missing, tree).labels == ("N", None)


@given(dependency_trees(st.just("w"), st.none(), 7), st.sampled_from([Tree.left, Tree.balanced]))
def test_labels_are_those_that_a_search_over_all_phrases_finds(tree, shape):
    phrases, parents = shape(tree.words), tree.parents.tolist()
    phrases = phrases.with_labels(map(str, range(len(phrases))))

    def below(node: int) -> set[int]:
        return {node}.union(*(below(child) for child, above in enumerate(parents) if above == node))

    expected = [None] * len(parents)
    for node in range(len(parents)):
        for label, (start, end) in zip(phrases.labels, phrases.spans.tolist(), strict=True):
            if below(node) == set(range(start, end)):
                expected[node] = label
    assert list(project_labels(phrases, tree).labels) == expected


@pytest.mark.parametrize(
    ("phrases", "words", "message"),
    [
        (PHRASES, "a big man sang .", "'sings' .* 'sang' .* word 4"),
        (PHRASES, "a big man sings", "'.' .* the end .* word 5"),
        (PHRASES, "a big man sings . Yes", "the end .* 'Yes' .* word 6"),
        (Tree.from_parents([1, -1], ["a", "b"]), "a b", "node 1 has both a word and children"),
    ],
)
def test_what_cannot_be_projected_is_refused(phrases, words, message):
    with pytest.raises(TreeError, match=message):
        project_labels(phrases, Tree.left(words.split()))


def test_trees_of_any_depth_are_projected():
    words = ["w"] * 20_000
    phrases = Tree.right(words).with_labels(map(str, range(2 * len(words) - 1)))
    chain = Tree.from_parents(range(-1, len(words) - 1), words)
    assert list(project_labels(phrases, chain).labels) == [
        str(i) for i in range(2 * len(words) - 2, len(words) - 2, -1)
    ]
