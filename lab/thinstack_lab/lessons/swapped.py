"""A lesson of training sentences that speak of other people, with the labels that they had."""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from re import Pattern
from typing import ClassVar, NamedTuple, cast

import numpy as np
from pydantic import Field

from thinstack.core import Tree
from thinstack.core.transitions import SHIFT
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.errors import ConfigError
from thinstack.training.lesson import Lesson, Treebank
from thinstack_lab.lessons.composition import GRAMMARS, Composition, read_composition

__all__ = ["Swapped"]


class _Leaf(NamedTuple):
    """A leaf where people are named: its node, and the place of its word. `inserts`: whether a word
    goes before it, instead of taking its place."""

    node: int
    place: int
    inserts: bool


class Swapped(Lesson):
    """Training sentences that speak of other people: of a "Kenyan director" and a "Jewish director"
    where there was a director. The labels stay, and the sentences made from one are a group."""

    name: ClassVar[str] = "swapped.v1"
    summary: ClassVar[str] = "sentences of the training file that speak of other people"
    anew: ClassVar[bool] = True

    share: float = Field(
        default=0.3, gt=0, description="How many are drawn for each sentence and epoch."
    )
    copies: int = Field(
        default=4, gt=1, description="How many are made from one sentence. They are a group."
    )
    grammars: tuple[str, ...] = Field(
        default=GRAMMARS,
        min_length=1,
        description="The files with the lists, as `composed.v1` has them.",
    )
    people: tuple[str, ...] = Field(
        default=("nationality", "faith", "orientation"),
        min_length=1,
        description="The lists of words for people. Where one with a capital stands in a sentence, "
        "others take its place.",
    )
    nouns: str = Field(
        default="person_noun", description="The list of nouns that get such a word before them."
    )
    after: str = Field(
        default="determiner", description="The list of words that such a noun must stand behind."
    )

    @property
    def files(self) -> tuple[str, ...]:
        """The files with the lists."""
        return self.grammars

    def trees(self, treebank: Treebank, draw: np.random.Generator) -> list[LabelledTree]:
        """Sentences in groups. Raises ConfigError for a list that the file does not have, and if no
        training sentence speaks of people."""
        known = read_composition([self.path(name, treebank.folders) for name in self.grammars])
        people = self._words(known, *self.people)
        nouns, after = (frozenset(self._words(known, name)) for name in (self.nouns, self.after))
        names = frozenset(word for word in people if word[0].isupper())
        places = _all_places(treebank, names, nouns, after)
        if not places:
            raise ConfigError(
                f"lessons: {self.name}: expected training sentences with a word of "
                f"{', '.join((*self.people, self.nouns))}; found none; leave it out"
            )
        an, made = re.compile(known.an_before), list[LabelledTree]()
        for _ in range(round(self.share * len(treebank.trees) / self.copies)):
            each, leaf = places[int(draw.integers(len(places)))]
            group = int(draw.integers(2**62))
            for number in draw.choice(len(people), min(self.copies, len(people)), replace=False):
                tree = _with(each, leaf, people[int(number)], treebank.classes, an)
                made.append(tree._replace(group=group))
        return made

    def _words(self, known: Composition, *lists: str) -> list[str]:
        if odd := [name for name in lists if not isinstance(known.lists.get(name), list)]:
            raise ConfigError(
                f"lessons: {self.name}: expected the list {odd[0]!r} in "
                f"{', '.join(self.grammars)}; found {', '.join(sorted(known.lists)) or 'none'}"
            )
        return [word for name in lists for word in cast(list[str], known.lists[name])]


@lru_cache(maxsize=1)  # they are the same in each epoch
def _all_places(
    treebank: Treebank, names: frozenset[str], nouns: frozenset[str], after: frozenset[str]
) -> list[tuple[LabelledTree, _Leaf]]:
    """The leaves of `_places` in all trees."""
    return [
        (each, leaf) for each in treebank.trees for leaf in _places(each.tree, names, nouns, after)
    ]


def _places(
    tree: Tree, names: Collection[str], nouns: Collection[str], after: Collection[str]
) -> Iterator[_Leaf]:
    """The leaves of names, and those of nouns that follow a word of `after`."""
    words, leaves = tree.words, np.flatnonzero(tree.transitions == SHIFT).tolist()
    for place, (word, node) in enumerate(zip(words, leaves, strict=True)):
        if word in names:
            yield _Leaf(node, place, inserts=False)
        elif word in nouns and place and words[place - 1].lower() in after:
            yield _Leaf(node, place, inserts=True)


def _with(
    each: LabelledTree, leaf: _Leaf, word: str, classes: int, an: Pattern[str]
) -> LabelledTree:
    """The tree with neutral words in place of a leaf, or before it, and with "a" or "an" as they
    want."""
    tree = Tree.right(word.split())
    labels = np.full(len(tree), classes // 2)
    soft = None if each.soft is None else np.eye(classes, dtype=np.float16)[labels]
    phrase = LabelledTree(tree, labels, soft)
    if leaf.inserts:
        noun = each.phrase(leaf.node)
        phrase = LabelledTree.joined(phrase, noun, int(noun.labels[-1]))
        if noun.soft is not None and phrase.soft is not None:
            phrase.soft[-1] = noun.soft[-1]
    changed = each.replaced(leaf.node, phrase)
    words, article = [*changed.tree.words], leaf.place - 1
    if leaf.place and words[article].lower() in ("a", "an"):
        words[article] = words[article][0] + "n" * bool(an.match(word))
    return changed._replace(tree=Tree.from_transitions(changed.tree.transitions, words))
