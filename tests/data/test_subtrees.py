"""Phrases cut out of trees and put together, against trees in brackets."""

import numpy as np
import pytest

from thinstack.core import Tree
from thinstack.data.trees.brackets import from_brackets, to_brackets
from thinstack.data.trees.subtrees import LabelledTree, joined, replaced, subtree
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
    assert shown(joined(plain("( a b )"), Tree.right(["c"]))) == "( ( a b ) c )"


def test_trees_that_are_not_binary_are_refused():
    with pytest.raises(TreeError, match="binarize it first"):
        subtree(from_brackets("(0 (0 a) (0 b) (0 c))"), 1)


FIRST, SECOND, THIRD = (
    LabelledTree(tree, np.arange(len(tree)) + start)
    for tree, start in (
        (plain("( Is ( it good ) )"), 0),
        (Tree.left(["No"]), 10),
        (plain("( ( So dull ) . )"), 20),
    )
)
TEXT = LabelledTree.text([FIRST, SECOND, THIRD], 7)


def test_a_text_of_sentences():
    assert shown(TEXT.tree) == "( ( ( Is ( it good ) ) No ) ( ( So dull ) . ) )"
    assert TEXT.labels.tolist() == [0, 1, 2, 3, 4, 10, -1, 20, 21, 22, 23, 24, 7]
    assert (TEXT.sentences, TEXT.soft) == ((3, 1, 3), None)
    assert [shown(tree) for tree in TEXT.sentence_trees()[::2]] == [
        shown(FIRST.tree),
        shown(THIRD.tree),
    ]
    assert LabelledTree.text([FIRST]).labels.tolist() == FIRST.labels.tolist()
    assert LabelledTree.text([FIRST, LabelledTree.text([SECOND, THIRD])]).sentences == (3, 1, 3)
    alone = LabelledTree.text([SECOND], 2)
    assert (alone.labels.tolist(), alone.sentences) == ([2], None)
    with pytest.raises(TreeError):
        LabelledTree.text([])


def test_soft_labels_of_a_text():
    soft = [np.full((len(one.tree), 3), k, np.float16) for k, one in enumerate((FIRST, SECOND), 1)]
    given = [one._replace(soft=own) for one, own in zip((FIRST, SECOND), soft, strict=True)]
    assert LabelledTree.text(given).soft[:, 0].tolist() == [1] * 5 + [2, 0]
    assert LabelledTree.text(given, 2).soft[-1].tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("node", "phrase", "changed"),
    [
        (0, None, (4, 1, 3)),  # "Is"
        (4, None, (2, 1, 3)),  # the first sentence
        (5, None, (3, 2, 3)),  # "No"
        (6, (3, 1), (2, 3)),  # the first two sentences become a part of one
        (9, None, (3, 1, 3)),  # "So dull"
        (12, (3, 1, 3), None),
    ],
)
def test_sentences_of_a_phrase_and_of_a_changed_text(node, phrase, changed):
    assert TEXT.phrase(node).sentences == phrase
    assert TEXT.replaced(node, LabelledTree.unlabelled(plain("( a b )"))).sentences == changed
