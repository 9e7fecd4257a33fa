"""A lesson of negated variants of labelled phrases, for a teacher to label.

A variant may be a sentence of the treebank with a phrase negated where it stands. Or it is a short
sentence from a template, filled with phrases of the treebank and everyday words. Its tree is made
with it, not parsed. Phrases keep the treebank's trees, and an auxiliary is joined with its negation
first, as in the treebank. So a teacher need not parse, and mistakes of a parser are not taught.
"""

from collections.abc import Sequence
from functools import reduce
from typing import ClassVar, Final, TypeVar

import numpy as np
from pydantic import Field

from thinstack.core import Tree
from thinstack.core.transitions import REDUCE
from thinstack.data.trees.subtrees import LabelledTree, replaced, subtree
from thinstack.training.lesson import Lesson, Treebank
from thinstack_lab.lessons.grammar import Grammar, Negatable, Place, negatable, read_grammar

__all__ = ["Negated", "filled", "negated_in_place"]

IN_PLACE: Final = 0.4
"""How often a sentence that has a phrase to negate is negated in place, and no template is used."""
EVERYDAY_SHARE: Final = 0.25
"""The share of fillers that are everyday words."""
PLURAL_SHARE: Final = 0.25
"""The share of subjects in the plural."""

Item = TypeVar("Item")


class Negated(Lesson):
    """Negated variants of the phrases that have a class other than the middle one."""

    name: ClassVar[str] = "negated.v1"
    summary: ClassVar[str] = "phrases negated where they stand or in short sentences"
    taught: ClassVar[bool] = True

    share: float = Field(
        default=1.0, ge=0, description="How many variants are made for each training tree."
    )
    grammar: str = Field(
        default="grammar/english.json",
        description="The file of words and templates, in the folder of the data or beside the "
        "recipe. `lab/recipes/grammar/english.json` in the repository of thinstack is one.",
    )

    @property
    def files(self) -> tuple[str, ...]:
        """The grammar."""
        return (self.grammar,)

    def trees(self, treebank: Treebank, draw: np.random.Generator) -> list[LabelledTree]:
        """Variants without labels, made from the trees in turn."""
        grammar = read_grammar(self.path(self.grammar, treebank.folders))
        known, templates = negatable(treebank, grammar), list(grammar.templates.values())
        variants = []
        for count in range(round(self.share * len(treebank.trees))):
            place = count % len(treebank.trees)
            if known.places[place] and draw.random() < IN_PLACE:
                tree = treebank.trees[place].tree
                variant = negated_in_place(tree, _one(known.places[place], draw), grammar, draw)
            else:
                variant = filled(_one(_one(templates, draw), draw), known, grammar, draw)
            variants.append(LabelledTree.unlabelled(variant))
        return variants


def negated_in_place(tree: Tree, place: Place, grammar: Grammar, draw: np.random.Generator) -> Tree:
    """The binary tree with the phrase at this place negated, without labels."""
    here = subtree(tree, place.node)
    if not place.noun:
        negated = _one(grammar.negated_words[here.words[0]], draw)
        return replaced(tree, place.node, _flat(negated))
    words = [*map(_flat, _one(grammar.negated_articles, draw).split())]
    if words[-1].words[0] in grammar.articles:  # the phrase's own, which may be "an"
        return replaced(tree, place.node, right_branching([*words[:-1], here]))
    return replaced(tree, place.node, right_branching([*words, _without_article(here)]))


def filled(template: str, known: Negatable, grammar: Grammar, draw: np.random.Generator) -> Tree:
    """A sentence from a template of the grammar, filled at random, as a binary tree."""
    side, many = int(draw.integers(2)), bool(draw.random() < PLURAL_SHARE)

    def word(part: str) -> Tree:
        slot = part.strip("{}")
        if part == slot:
            return _flat(part)
        if slot in grammar.inflected:
            return _flat(grammar.inflected[slot][many])
        if slot == "s":
            subjects = grammar.plural_subjects if many else _one(grammar.subjects, draw)
            return _flat(_one(subjects, draw))
        if slot == "p":
            return _flat(_one(grammar.people, draw))
        return _filler(known, grammar, *(("a", 1 - side) if slot == "x" else (slot, side)), draw)

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


def _filler(
    known: Negatable, grammar: Grammar, slot: str, side: int, draw: np.random.Generator
) -> Tree:
    """A phrase for a slot, of the treebank or an everyday one. `side`: 0 negative, 1 positive."""
    own, kind = known.phrases.get(slot, ([], []))[side], {"c": "a", "b": "n"}.get(slot, slot)
    if own and draw.random() >= EVERYDAY_SHARE:
        return _one(own, draw)
    everyday = grammar.everyday[kind]
    phrase = _flat(_one(everyday.positive if side else everyday.negative, draw))
    return _without_article(phrase) if slot == "b" else phrase


def joined(left: Tree, right: Tree) -> Tree:
    """The two trees as the children of a binary root."""
    steps = np.concatenate([left.transitions, right.transitions, [REDUCE]])
    return Tree.from_transitions(steps, left.words + right.words)


def left_branching(parts: list[Tree]) -> Tree:
    """The tree of the parts, at least one, joined from the left: ((a b) c) ..."""
    return reduce(joined, parts)


def right_branching(parts: list[Tree]) -> Tree:
    """The tree of the parts, at least one, joined from the right: a (b (c ...))."""
    return reduce(lambda right, left: joined(left, right), reversed(parts))


def _flat(words: str) -> Tree:
    """The right-branching tree of words with spaces between."""
    return Tree.right(words.split())


def _without_article(noun: Tree) -> Tree:
    """The right child of a noun phrase."""
    return subtree(noun, len(noun) - 2)


def _one(items: Sequence[Item], draw: np.random.Generator) -> Item:
    return items[int(draw.integers(len(items)))]
