"""Finds the labelled phrases of a treebank that can be negated, and where."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final, NamedTuple

from thinstack.core import Tree
from thinstack.data.trees.subtrees import subtree
from thinstack.training.lesson import Treebank
from thinstack.training.lessons._grammar import Grammar

__all__ = ["Negatable", "Place", "negatable"]

MOST_WORDS: Final = 5
"""The most words of a phrase that is negated."""


class Place(NamedTuple):
    """A place where a phrase can be negated.

    Attributes:
        node: the node of one of `negated_words` before the phrase, or the node of a noun phrase
            with its article.
        noun: whether it is a noun phrase.
    """

    node: int
    noun: bool


class Negatable(NamedTuple):
    """The phrases of a treebank that can be negated.

    Attributes:
        phrases: for each slot of a template, the phrases with a class below the middle, and the
            phrases with a class above it.
        places: for each tree, the places where a phrase can be negated.
    """

    phrases: dict[str, tuple[list[Tree], list[Tree]]]
    places: list[list[Place]]


class _Pair(NamedTuple):
    """A word, or an auxiliary with its negation, and the phrase after it.

    `left` and `right` are their nodes. `alone` says that the word has no negation. `phrase` holds
    the words of the phrase in lower case.
    """

    left: int
    right: int
    word: str
    alone: bool
    phrase: tuple[str, ...]


def negatable(treebank: Treebank, grammar: Grammar) -> Negatable:
    """The phrases of a treebank that can be negated, by their slots, and the places of its trees.

    The slots are complements `c`, adjectives `a`, verb phrases `v`, and noun phrases with their
    article `n` or without it `b`. The word before a phrase tells its slot: a complement follows a
    copula, a verb phrase follows a modal.

    A phrase is left out if it has the middle one of the classes, a negation, more than
    `MOST_WORDS` words, or anything but words. Raises TreeError for trees that are not binary.
    """
    pairs = [list(_pairs(one.tree, grammar)) for one in treebank.trees]
    after = {pair.phrase[0] for part in pairs for pair in part if pair.word in grammar.modals}
    others = grammar.no_verbs | grammar.no_complements | grammar.articles
    verbs = {word for word in after - others if not word.endswith(grammar.adverb)}
    phrases: dict[str, tuple[list[Tree], list[Tree]]] = defaultdict(lambda: ([], []))
    places: list[list[Place]] = []
    for (tree, labels, _), part in zip(treebank.trees, pairs, strict=True):
        places.append([])
        for pair in part:
            noun = pair.word in grammar.articles
            node = int(tree.parents[pair.right]) if noun else pair.right
            lean = 2 * int(labels[node]) - (treebank.classes - 1)
            slots = _slots(pair, verbs, grammar)
            if not slots or labels[node] < 0 or lean == 0:
                continue
            for slot in slots:
                phrase = subtree(tree, node if slot == "n" else pair.right)
                phrases[slot][lean > 0].append(phrase)
            if noun or (pair.alone and pair.word in grammar.negated_words):
                places[-1].append(Place(node if noun else pair.left, noun))
    return Negatable(dict(phrases), places)


def _pairs(tree: Tree, grammar: Grammar) -> Iterator[_Pair]:
    """Each word with the phrase after it whose kind the word may tell."""
    words, spans = tree.words, tree.spans.tolist()
    for below in tree.children:
        if len(below) != 2:
            continue
        (start, middle), (_, end) = spans[below[0]], spans[below[1]]
        alone, phrase = middle - start == 1, tuple(word.lower() for word in words[middle:end])
        auxiliary = alone or (middle - start == 2 and words[start + 1] in grammar.negations)
        fits = grammar.pattern.fullmatch
        plain = all(fits(word) and word not in grammar.negations for word in phrase)
        if auxiliary and plain and end - middle <= MOST_WORDS:
            yield _Pair(below[0], below[1], words[start], alone, phrase)


def _slots(pair: _Pair, verbs: set[str], grammar: Grammar) -> str:
    """The slots that the phrase of a pair fills, a letter each."""
    first, single = pair.phrase[0], len(pair.phrase) == 1
    if pair.word in grammar.articles:
        return "nb"
    if pair.word in grammar.modals or pair.word == grammar.infinitive:
        return "v" if first in verbs else ""
    complement = pair.word in grammar.copulas or (pair.word in grammar.degrees and single)
    if not complement or first in grammar.no_complements or first in grammar.articles:
        return ""
    return "ca" if single and not first.endswith(grammar.adverb) else "c"
