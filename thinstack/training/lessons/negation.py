"""Makes negated variants of labelled English phrases, for a teacher to label.

A variant may be a sentence of the treebank with a phrase negated where it stands. Or it is a short
sentence from a template, filled with phrases of the treebank and everyday words. Its tree is made
with it, not parsed. Phrases keep the treebank's trees, and an auxiliary is joined with its negation
first, as in the treebank. So a teacher need not parse, and mistakes of a parser are not taught.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

import numpy as np

from thinstack.core import Tree
from thinstack.data.trees.subtrees import joined, left_branching, replaced, right_branching, subtree
from thinstack.data.trees.treebank import Labelled
from thinstack.training.lessons.negatable import AUXILIARIES, Negatable, Place, negatable
from thinstack.training.lessons.negation_templates import (
    EVERYDAY,
    INFLECTED,
    MANY,
    PEOPLE,
    TEMPLATES,
    THINGS,
)

__all__ = ["filled", "negated_in_place", "negated_variants"]

IN_PLACE: Final = 0.4
"""How often a sentence that has a phrase to negate is negated in place, and no template is used."""
EVERYDAY_SHARE: Final = 0.25
"""The share of fillers that are everyday words."""
PLURAL_SHARE: Final = 0.25
"""The share of subjects in the plural."""
NO: Final = ("no", "not a", "not a single", "hardly a", "never a", "far from a", "without a")
"""The words that take the place of the article of a noun phrase."""

Item = TypeVar("Item")


def negated_variants(
    treebank: Sequence[Labelled], classes: int, count: int, draw: np.random.Generator
) -> list[Tree]:
    """`count` variants without labels, made from the trees in turn. `classes`: the number of
    classes, which go from negative to positive. Raises TreeError for trees that are not binary."""
    found = negatable(treebank, classes)
    made = []
    for place in range(count):
        number = place % len(treebank)
        if found.places[number] and draw.random() < IN_PLACE:
            tree = treebank[number][0]
            made.append(negated_in_place(tree, _one(found.places[number], draw), draw))
        else:
            made.append(filled(_one(_one(TEMPLATES, draw), draw), found, draw))
    return made


def negated_in_place(tree: Tree, place: Place, draw: np.random.Generator) -> Tree:
    """The binary tree with the phrase at this place negated, without labels."""
    here = subtree(tree, place.node)
    if not place.noun:
        negated = _one(AUXILIARIES[here.words[0]], draw)
        return replaced(tree, place.node, _flat(negated))
    words = [*map(_flat, _one(NO, draw).split())]
    if words[-1].words == ("a",):  # the phrase's own, which may be "an"
        return replaced(tree, place.node, right_branching([*words[:-1], here]))
    return replaced(tree, place.node, right_branching([*words, _without_article(here)]))


def filled(template: str, found: Negatable, draw: np.random.Generator) -> Tree:
    """A sentence from a template of `negation_templates`, filled at random, as a binary tree."""
    side, many = int(draw.integers(2)), bool(draw.random() < PLURAL_SHARE)

    def word(part: str) -> Tree:
        if part in INFLECTED:
            return _flat(INFLECTED[part][many])
        if part == "{s}":
            return _flat(_one(MANY if many else _one(THINGS, draw), draw))
        if part == "{p}":
            return _flat(_one(PEOPLE, draw))
        if part.startswith("{"):
            slot = part.strip("{}")
            return _filler(found, *(("a", 1 - side) if slot == "x" else (slot, side)), draw)
        return _flat(part)

    groups: list[list[Tree]] = [[]]
    for token in template.split():
        if token == "(":
            groups.append([])
        elif token == ")":
            groups[-2].append(right_branching(groups.pop()))
        else:
            groups[-1].append(left_branching(list(map(word, token.split("~")))))
    *parts, stop = groups[0]
    subject, *rest = parts
    whole = joined(subject, joined(right_branching(rest), stop) if rest else stop)
    first, *others = whole.words
    return Tree.from_transitions(whole.transitions, (first.capitalize(), *others))


def _filler(found: Negatable, slot: str, side: int, draw: np.random.Generator) -> Tree:
    """A phrase for a slot, of the treebank or an everyday one. `side`: 0 negative, 1 positive."""
    own, kind = found.phrases.get(slot, ([], []))[side], {"c": "a", "b": "n"}.get(slot, slot)
    if own and draw.random() >= EVERYDAY_SHARE:
        return _one(own, draw)
    phrase = _flat(_one(EVERYDAY[kind][side], draw))
    return _without_article(phrase) if slot == "b" else phrase


def _flat(words: str) -> Tree:
    """The right-branching tree of words with spaces between."""
    return Tree.right(words.split())


def _without_article(noun: Tree) -> Tree:
    """The right child of a noun phrase."""
    return subtree(noun, len(noun) - 2)


def _one(items: Sequence[Item], draw: np.random.Generator) -> Item:
    return items[int(draw.integers(len(items)))]
