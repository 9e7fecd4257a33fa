"""Phrases cut out of trees and put together, against trees in brackets."""

import pytest

from thinstack.core import Tree
from thinstack.data.trees.brackets import from_brackets, to_brackets
from thinstack.data.trees.subtrees import joined, left_branching, replaced, right_branching, subtree
from thinstack.errors import TreeError

SENTENCE = from_brackets("(3 (2 (2 The) (2 film)) (4 (3 (2 is) (4 fun)) (2 .)))")


def plain(text):
    return from_brackets(text, labelled=False)


def shown(tree):
    return to_brackets(tree, labelled=False)


@pytest.mark.parametrize(
    ("node", "phrase", "rest"),
    [
        (1, "film", "( ( The ( so dull ) ) ( ( is fun ) . ) )"),
        (2, "( The film )", "( ( so dull ) ( ( is fun ) . ) )"),
        (5, "( is fun )", "( ( The film ) ( ( so dull ) . ) )"),
        (8, "( ( The film ) ( ( is fun ) . ) )", "( so dull )"),
    ],
)
def test_a_phrase_and_the_tree_with_another_in_its_place(node, phrase, rest):
    found = subtree(SENTENCE, node)
    assert found.words == plain(phrase).words if " " in phrase else (phrase,)
    assert phrase == "film" or shown(found) == phrase
    changed = replaced(SENTENCE, node, plain("( so dull )"))
    assert shown(changed) == rest
    assert set(found.labels) == set(changed.labels) == {None}


def test_trees_of_trees():
    words = [Tree.right([word]) for word in "abc"]
    assert shown(joined(plain("( a b )"), words[2])) == "( ( a b ) c )"
    assert shown(right_branching(words)) == "( a ( b c ) )"
    assert shown(left_branching(words)) == "( ( a b ) c )"
    assert shown(right_branching([plain("( a b )"), *words])) == "( ( a b ) ( a ( b c ) ) )"
    assert left_branching(words[:1]).words == ("a",)


def test_trees_that_are_not_binary_are_refused():
    with pytest.raises(TreeError, match="binarize it first"):
        subtree(from_brackets("(0 (0 a) (0 b) (0 c))"), 1)
