"""Variants of a labelled sentence that say the same of it: other names and numbers, words added
that nobody's opinion depends on, a typing error."""

import re
from collections.abc import Iterator
from random import Random
from re import Pattern
from typing import Final, NamedTuple

import numpy as np

from thinstack.core import Tree
from thinstack.core.transitions import SHIFT
from thinstack.data.trees.subtrees import LabelledTree
from thinstack_lab.lessons.templates import MARKS
from thinstack_lab.lessons.typos import misspell

MOST_WORDS: Final = 30
"""The most words of a sentence that words are added to."""
DIGITS: Final = re.compile("[0-9]{1,5}")
RATES: Final = frozenset(["out", "star", "stars", "of", "percent", "%", "points"])
"""Words that show that a number rates something."""
YEARS: Final = (1900, 2030)


class Leaf(NamedTuple):
    """A leaf that can be exchanged: its node, and the place of its word. `inserts`: whether a word
    goes before it, instead of taking its place."""

    node: int
    place: int
    inserts: bool


def leaves_of(
    tree: Tree,
    names: frozenset[str],
    nouns: frozenset[str] = frozenset(),
    after: frozenset[str] = frozenset(),
) -> Iterator[Leaf]:
    """The leaves of names, and those of nouns that follow a word of `after`."""
    words = tree.words
    if names.isdisjoint(words) and nouns.isdisjoint(words):
        return
    leaves = np.flatnonzero(tree.transitions == SHIFT).tolist()
    for place, (word, node) in enumerate(zip(words, leaves, strict=True)):
        if word in names:
            yield Leaf(node, place, inserts=False)
        elif word in nouns and place and words[place - 1].lower() in after:
            yield Leaf(node, place, inserts=True)


def numbers_of(tree: Tree) -> Iterator[Leaf]:
    """The leaves of numbers in digits, unless the sentence may rate something by them."""
    words = tree.words
    if not any(map(DIGITS.fullmatch, words)) or not RATES.isdisjoint(words):
        return
    leaves = np.flatnonzero(tree.transitions == SHIFT).tolist()
    for place, (word, node) in enumerate(zip(words, leaves, strict=True)):
        if DIGITS.fullmatch(word):
            yield Leaf(node, place, inserts=False)


def takes_more(each: LabelledTree) -> bool:
    """Whether words can be added before and behind a sentence."""
    return each.sentences is None and 1 < len(each.tree.words) <= MOST_WORDS


def other_number(number: str, draw: np.random.Generator) -> str:
    """A number with as many digits; for a year, another year."""
    low, high = 10 ** (len(number) - 1), 10 ** len(number)
    if YEARS[0] <= int(number) < YEARS[1]:
        low, high = YEARS
    return str(int(draw.integers(max(low, 2), high)))


def with_word(
    each: LabelledTree, leaf: Leaf, word: str, classes: int, an: Pattern[str]
) -> LabelledTree:
    """The tree with neutral words in place of a leaf, or before it, and with "a" or "an" as they
    want."""
    phrase = _neutral(word, classes, soft=each.soft is not None)
    if leaf.inserts:
        noun = each.phrase(leaf.node)
        phrase = LabelledTree.joined(phrase, noun, int(noun.labels[-1]))
        if noun.soft is not None and phrase.soft is not None:
            phrase.soft[-1] = noun.soft[-1]
    changed = each.replaced(leaf.node, phrase)
    words, article = [*changed.tree.words], leaf.place - 1
    if leaf.place and words[article].lower() in ("a", "an"):
        words[article] = words[article][0] + "n" * bool(an.match(word))
    tree = Tree.from_transitions(changed.tree.transitions, words)
    return changed._replace(tree=tree, root_set=each.root_set)


def with_more(
    each: LabelledTree, more: str, classes: int, *, front: bool, joins: bool
) -> LabelledTree:
    """The sentence with neutral words before or behind it, under a root with its label. Behind a
    final mark they are a sentence of their own, if the model `joins` sentences."""
    added, label = _neutral(more, classes, soft=each.soft is not None), int(each.labels[-1])
    parts = (added, each) if front else (each, added)
    if joins and not front and each.tree.words[-1] in MARKS:
        whole = LabelledTree.text(parts, label)
    else:
        whole = LabelledTree.joined(*parts, label)
    if whole.soft is not None and each.soft is not None:
        whole.soft[-1] = each.soft[-1]
    return whole._replace(root_set=each.root_set)


def misspelt(each: LabelledTree, draw: Random) -> LabelledTree:
    """The tree with one of its words misspelt."""
    words = [*each.tree.words]
    misspell(words, draw)
    return each._replace(tree=Tree.from_transitions(each.tree.transitions, words))


def _neutral(words: str, classes: int, *, soft: bool) -> LabelledTree:
    """The right-branching tree of neutral words."""
    tree = Tree.right(words.split())
    labels = np.full(len(tree), classes // 2)
    return LabelledTree(tree, labels, np.eye(classes, dtype=np.float16)[labels] if soft else None)
