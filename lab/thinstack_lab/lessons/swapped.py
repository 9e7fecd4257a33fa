"""A lesson of training sentences that say the same of other people, with other names and numbers,
with a link or a typing error, with the labels that they had."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from random import Random
from re import Pattern
from typing import ClassVar, Final, Literal, NamedTuple, cast

import numpy as np
from pydantic import Field, PositiveFloat

from thinstack.data.trees.subtrees import LabelledTree
from thinstack.errors import ConfigError
from thinstack.training.lesson import Lesson, Treebank
from thinstack_lab.lessons.composition import GRAMMARS, Composition, read_composition
from thinstack_lab.lessons.variants import (
    Leaf,
    leaves_of,
    misspelt,
    numbers_of,
    other_number,
    takes_more,
    with_more,
    with_word,
)

__all__ = ["Swapped"]

Change = Literal[
    "people", "names", "places", "numbers", "openings", "links", "handles", "tags", "typos"
]
PEOPLE: Final[dict[Change, PositiveFloat]] = {"people": 1.0}
"""The change of a recipe that names none."""
EXCHANGED: Final[Mapping[Change, tuple[str, ...]]] = {
    "names": ("first_name", "person_name", "surname"),
    "places": ("place",),
}
"""The lists whose words take each other's places."""
ADDED: Final[Mapping[Change, str]] = {
    "openings": "opening",
    "links": "link",
    "handles": "handle",
    "tags": "tag",
}
"""The lists whose words are added to sentences."""
FRONT: Final[Mapping[Change, float]] = {"openings": 1.0, "links": 0.15, "handles": 0.7, "tags": 0.1}
"""How often they stand before the sentence."""


class _Place(NamedTuple):
    """Where a sentence can be changed: at a leaf, or as a whole."""

    each: LabelledTree
    leaf: Leaf | None


class Swapped(Lesson):
    """Training sentences that speak of other people: of a "Kenyan director" and a "Jewish director"
    where there was a director; and those that say the same with other names, places and numbers,
    with a link, a handle, a hashtag or an opening such as "In Oslo,", or with a typing error. The
    labels stay, and the sentences made from one are a group. But for people, the first of a group
    is the sentence itself."""

    name: ClassVar[str] = "swapped.v1"
    summary: ClassVar[str] = "sentences of the training file that speak of other people"
    anew: ClassVar[bool] = True

    share: float = Field(
        default=0.3, gt=0, description="How many are drawn for each sentence and epoch."
    )
    copies: int = Field(
        default=4, gt=1, description="How many are made from one sentence. They are a group."
    )
    changes: dict[Change, PositiveFloat] = Field(
        default_factory=PEOPLE.copy,
        min_length=1,
        description="What differs within a group, with how often each is drawn: people, names, "
        "places, numbers, openings, links, handles, tags, typos.",
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
        training sentence can be changed in a way that is named."""
        known = read_composition([self.path(name, treebank.folders) for name in self.grammars])
        an, made = re.compile(known.an_before), list[LabelledTree]()
        kinds = list(self.changes)
        words = {kind: self._words(known, *self._lists(kind)) for kind in kinds}
        places = {kind: self._places(kind, words[kind], known, treebank) for kind in kinds}
        weights = np.array([self.changes[kind] for kind in kinds])
        number = round(self.share * len(treebank.trees) / self.copies)
        for place in draw.choice(len(kinds), number, p=weights / weights.sum()).tolist():
            kind = kinds[place]
            each, leaf = places[kind][int(draw.integers(len(places[kind])))]
            group = int(draw.integers(2**62))
            copies = self._copies(kind, each, leaf, words[kind], treebank, draw, an)
            made += [tree._replace(group=group) for tree in copies]
        return made

    def _copies(
        self,
        kind: Change,
        each: LabelledTree,
        leaf: Leaf | None,
        words: Sequence[str],
        treebank: Treebank,
        draw: np.random.Generator,
        an: Pattern[str],
    ) -> Iterator[LabelledTree]:
        """The sentences of a group."""
        classes, count = treebank.classes, self.copies
        if kind != "people":
            yield each
            count -= 1
        chosen = [*words]
        if words:
            places = draw.choice(len(words), min(count, len(words)), replace=False)
            chosen = [words[int(place)] for place in places]
        if leaf is not None:
            if kind == "numbers":
                old = each.tree.words[leaf.place]
                chosen = [other_number(old, draw) for _ in range(count)]
            yield from (with_word(each, leaf, word, classes, an) for word in chosen)
        elif kind == "typos":
            yield from (misspelt(each, Random(int(draw.integers(2**62)))) for _ in range(count))
        else:
            front = draw.random() < FRONT[kind]
            for more in chosen:
                yield with_more(each, more, classes, front=front, joins=treebank.joins)

    def _lists(self, kind: Change) -> tuple[str, ...]:
        """The lists of the words that are exchanged or added."""
        if kind == "people":
            return self.people
        return EXCHANGED.get(kind) or tuple(ADDED[one] for one in (kind,) if one in ADDED)

    def _places(
        self, kind: Change, words: Sequence[str], known: Composition, treebank: Treebank
    ) -> list[_Place]:
        nouns, after = frozenset[str](), frozenset[str]()
        if kind == "people":
            nouns, after = (
                frozenset(self._words(known, name)) for name in (self.nouns, self.after)
            )
        names = frozenset(word for word in words if word[0].isupper() and kind not in ADDED)
        alike: Change = "typos" if kind in ADDED else kind  # both change the sentence as a whole
        places = _all_places(treebank, alike, names, nouns, after)
        if not places:
            lists = [*self._lists(kind), *([self.nouns] if kind == "people" else [])]
            raise ConfigError(
                f"lessons: {self.name}: expected training sentences with a word of "
                f"{', '.join(lists) or kind}; found none; leave {kind} out of its changes"
            )
        return places

    def _words(self, known: Composition, *lists: str) -> list[str]:
        if odd := [name for name in lists if not isinstance(known.lists.get(name), list)]:
            raise ConfigError(
                f"lessons: {self.name}: expected the list {odd[0]!r} in "
                f"{', '.join(self.grammars)}; found {', '.join(sorted(known.lists)) or 'none'}"
            )
        return [word for name in lists for word in cast(list[str], known.lists[name])]


@lru_cache(maxsize=16)  # they are the same in each epoch
def _all_places(
    treebank: Treebank,
    kind: Change,
    names: frozenset[str],
    nouns: frozenset[str],
    after: frozenset[str],
) -> list[_Place]:
    """Where the trees can be changed in one way."""
    if kind == "typos":
        return [_Place(each, None) for each in treebank.trees if takes_more(each)]
    return [
        _Place(each, leaf)
        for each in treebank.trees
        for leaf in (
            numbers_of(each.tree)
            if kind == "numbers"
            else leaves_of(each.tree, names, nouns, after)
        )
    ]
