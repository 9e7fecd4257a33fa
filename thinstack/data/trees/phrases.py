"""The labelled phrases of a tree, as in Tai et al. (2015, 5.1): projected onto another tree, or as
word sequences to train a sequential model."""

from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thinstack.core import Tree
from thinstack.errors import TreeError

IntArray = NDArray[np.int64]


def check_constituency(tree: Tree) -> None:
    """Raise TreeError for a tree with a word at an inner node."""
    for node in np.flatnonzero(tree.arities).tolist():
        if tree.tokens[node] is not None:
            expected = "expected a constituency tree, which has words at its leaves only"
            raise TreeError(f"node {node} has both a word and children; {expected}")


def project_labels(phrases: Tree, tree: Tree) -> Tree:
    """Label `tree` with the labels of phrases that cover the same words; other nodes get None.

    Args:
        phrases: constituency tree of the sentence. If several phrases cover the same words, the
            topmost counts.
        tree: dependency tree of the sentence, or any other tree. A node whose subtree has gaps
            (`Tree.gaps`) covers no phrase.

    Raises TreeError if the trees have different words, or if `phrases` has a word at an inner node.
    """
    for place, both in enumerate(zip_longest(phrases.words, tree.words), start=1):
        if both[0] != both[1]:
            ours, theirs = ("the end" if word is None else repr(word) for word in both)
            words = f"{ours} in the phrases and {theirs} in the tree at word {place}"
            raise TreeError(
                f"expected trees over the same words, found {words}; spell the words the same "
                "way in both"
            )
    check_constituency(phrases)
    # Parents follow their children, so the topmost phrase overwrites the others.
    label_of = dict(zip(map(tuple, phrases.spans.tolist()), phrases.labels, strict=True))
    spans = zip(map(tuple, tree.spans.tolist()), tree.gaps.tolist(), strict=True)
    return tree.with_labels(None if gap else label_of.get(span) for span, gap in spans)


def phrases_of(tree: Tree, labels: ArrayLike) -> tuple[IntArray, IntArray]:
    """Return the S labelled phrases of a tree: their words [start, end), (S, 2), and classes, (S,).
    The last one is the whole sentence, labelled or not.

    Args:
        tree: a tree of any kind. A node whose subtree has gaps (`Tree.gaps`) is not a phrase.
        labels: (N,) the class of each node, -1 without one. If several nodes cover the same words,
            the topmost counts.
    """
    classes = np.asarray(labels, np.int64)
    spans, contiguous = tree.spans.tolist(), (~tree.gaps).tolist()
    # If nodes cover the same words, parents follow their children (transition order), so the
    # topmost overwrites the others.
    nodes = zip(spans, classes.tolist(), contiguous, strict=True)
    label_of = {tuple(span): label for span, label, whole in nodes if whole}
    sentence = (0, len(tree.words))
    last = label_of.pop(sentence)
    phrases = [(*span, label) for span, label in label_of.items() if label >= 0]
    table = np.array([*phrases, (*sentence, last)], np.int64)
    return table[:, :2], table[:, 2]


class Chains(NamedTuple):
    """C concatenated sequences of T words in total.

    Attributes:
        words: (T,) the position of each word in the sentence.
        lengths: (C,) the number of words of each sequence.
        labels: (T,) the class of the phrase that starts with the sequence and ends at this word; -1
            without a class.
    """

    words: IntArray
    lengths: IntArray
    labels: IntArray


def prefixes_of(spans: ArrayLike, labels: ArrayLike) -> Chains:
    """Return the phrases of `phrases_of` as sequences for a forward model, whose state after a word
    is that of the phrase that ends there.

    Phrases that start at the same word share the sequence of the longest one. The last sequence is
    the whole sentence.

    Args:
        spans: (S, 2) words [start, end) of the phrases.
        labels: (S,) their classes.
    """
    table, classes = np.asarray(spans, np.int64).reshape(-1, 2), np.asarray(labels, np.int64)
    # From right to left, so that the sequence from word 0 comes last.
    starts, sequence = np.unique(-table[:, 0], return_inverse=True)
    ends = np.zeros(len(starts), np.int64)
    np.maximum.at(ends, sequence, table[:, 1])
    lengths = ends + starts
    behind = np.cumsum(lengths)
    words = np.arange(lengths.sum()) + np.repeat(ends - behind, lengths)
    by_word = np.full(len(words), -1, np.int64)
    by_word[(behind - ends)[sequence] + table[:, 1] - 1] = classes
    return Chains(words, lengths, by_word)
