"""Phrases cut out of trees and put together, against trees in brackets."""

import numpy as np
import pytest
from data.reading import dependency_trees
from hypothesis import given
from hypothesis import strategies as st

from thinstack.core import Tree
from thinstack.data.trees.brackets import from_brackets, to_brackets
from thinstack.data.trees.phrases import phrases_of, prefixes_of, project_labels
from thinstack.data.trees.subtrees import LabelledTree, replaced, subtree
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


def test_trees_that_are_not_binary_are_refused():
    with pytest.raises(TreeError, match="binarize the tree"):
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
    pair = LabelledTree.joined(FIRST, SECOND, 2)
    assert (pair.labels.tolist(), pair.sentences) == ([0, 1, 2, 3, 4, 10, 2], None)
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


# -- labelled phrases as sequences of words, and their labels on other trees


# ((a b) (c d)) with labels: a 1, b none, (a b) 2, c 0, d 3, (c d) none, all 4
FOUR, LABELS = Tree.from_transitions([0, 0, 1, 0, 0, 1, 1], list("abcd")), [1, -1, 2, 0, 3, -1, 4]


def as_set(spans, labels):
    return set(zip(*spans.T.tolist(), labels.tolist(), strict=True))


def test_of_nodes_over_the_same_words_the_topmost_counts():
    tree = from_brackets("(T (S (N dogs) (V (W bark))))")
    spans, labels = phrases_of(tree, [0, 1, 2, 3, 4])  # dogs, W, V, S, T
    assert as_set(spans, labels) == {(0, 1, 0), (1, 2, 2), (0, 2, 4)}
    assert as_set(*phrases_of(tree, [0, 1, -1, 3, -1])) == {(0, 1, 0), (0, 2, -1)}


def test_nodes_of_a_dependency_tree_are_phrases_unless_they_have_gaps():
    # a below c below b below d: b and c cover a b c, c without b
    tree = Tree.from_parents([2, 3, 1, -1], list("abcd"))
    assert as_set(*phrases_of(tree, [0, 1, 2, 3])) == {(0, 1, 0), (0, 3, 1), (0, 4, 3)}


@given(st.data())
def test_phrases_and_sequences_hold_the_same_labels(data):
    steps = [0]
    for _ in range(data.draw(st.integers(0, 12))):  # a word more, and reductions
        steps += [0, *[1] * data.draw(st.integers(0, sum(1 - 2 * step for step in steps)))]
    steps += [1] * (sum(1 - 2 * step for step in steps) - 1)
    tree = Tree.from_transitions(steps, [str(place) for place in range(steps.count(0))])
    labels = data.draw(st.lists(st.integers(-1, 4), min_size=len(tree), max_size=len(tree)))
    spans, classes = phrases_of(tree, labels)
    nodes = zip(tree.spans.tolist(), labels, strict=True)
    wanted = {(*span, label) for span, label in nodes if label >= 0}
    assert {phrase for phrase in as_set(spans, classes) if phrase[2] >= 0} == wanted
    assert len(spans) == len({*map(tuple, spans.tolist())})

    chains = prefixes_of(spans, classes)
    found, starts, at = set(), [], 0
    for length in chains.lengths.tolist():
        here = slice(at, at + length)
        words, known = chains.words[here].tolist(), chains.labels[here].tolist()
        assert words == list(range(words[0], words[0] + length))
        assert known[-1] >= 0 or words == list(range(len(tree.words)))
        ends = zip(words, known, strict=True)
        found |= {(words[0], word + 1, label) for word, label in ends if label >= 0}
        starts.append(words[0])
        at += length
    assert at == len(chains.words) == len(chains.labels)
    assert found == wanted
    assert len(set(starts)) == len(starts)
    assert (chains.words[-1], starts[-1], chains.labels[-1]) == (len(tree.words) - 1, 0, labels[-1])


# -- labels on other trees


PHRASES = from_brackets("(4 (3 (2 (1 a) (0 big)) (x man)) (y (z sings) (. .)))")


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

    def below(node):
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
