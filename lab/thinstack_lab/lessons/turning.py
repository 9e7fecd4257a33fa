"""A lesson of phrases that turn the polarity of a part into its opposite ("not bad"). A treebank
has few of them, and users try them first."""

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import ClassVar, Final, NamedTuple

import numpy as np
from pydantic import Field

from thinstack.core.transitions import REDUCE
from thinstack.data.trees.subtrees import LabelledTree, phrase_sizes
from thinstack.errors import ConfigError
from thinstack.training.lesson import Lesson, Treebank

__all__ = ["Turning"]

LONGEST: Final = 20
"""The most words of a phrase."""
MOST_TURNERS: Final = 2
"""The most words that turn a phrase."""

LEAST_EXCHANGED, MOST_EXCHANGED = 2, 6
"""The least and the most words of a part that is exchanged. The first of several words tells the
kind of the phrase ("a ...", "to ..."); a single word could be a noun or a verb."""

Key = tuple[int, int, int]
"""The class, the number of words, and the id of the first word of a phrase."""


class _Turned(NamedTuple):
    """A phrase in which a part is turned.

    Attributes:
        side: 1 if it is turned to the better, -1 to the worse.
        around: how many phrases around the part are shorter.
        tree, node, part: the number of the tree, the node of the phrase, the node of the part.
    """

    side: int
    around: int
    tree: int
    node: int
    part: int


class Turning(Lesson):
    """Phrases that turn the polarity of a part into its opposite, read outside of their sentences:
    as many to the better as to the worse.

    A node *turns* its right child if one of them is positive and the other negative. Its left child
    must then have at most `MOST_TURNERS` words, and not be positive ("not", "wo n't"). A draw gives
    the phrase of such a node, or a longer phrase around it. That phrase has the same polarity and
    at most `LONGEST` words. In about half of the phrases, the part that is turned is exchanged for
    a phrase of the same class, length and first word. It then has the labels of that phrase.
    """

    name: ClassVar[str] = "turning.v1"
    summary: ClassVar[str] = "phrases whose polarity turns, such as 'not bad'"
    anew: ClassVar[bool] = True
    parsed: ClassVar[bool] = True

    share: float = Field(
        default=0.5, gt=0, description="How many phrases are drawn for each sentence and epoch."
    )

    def trees(self, treebank: Treebank, draw: np.random.Generator) -> list[LabelledTree]:
        """Phrases with their labels. Raises ConfigError if no phrase is turned to the better, or no
        phrase to the worse."""
        trees, (turned, keys, alike) = treebank.trees, _phrases(treebank)
        counts = [len(turned[side]) for side in (1, -1)]
        if not all(counts):
            raise ConfigError(
                f"lessons: {self.name}: expected a treebank with phrases that a word or two turn "
                f"to the better and to the worse, found {counts[0]:,} and {counts[1]:,}; leave it "
                "out"
            )
        drawn = []
        for place in range(round(self.share * len(trees))):
            number = int(draw.integers(counts[place % 2]))
            _, _, tree, node, part = turned[-1 if place % 2 else 1][number]
            phrase, key = trees[tree].phrase(node), keys[tree][part]
            if draw.integers(2) and LEAST_EXCHANGED <= key[1] <= MOST_EXCHANGED:
                other, root = alike[key][int(draw.integers(len(alike[key])))]
                first = node + 1 - len(phrase.tree)
                phrase = phrase.replaced(part - first, trees[other].phrase(root))
            drawn.append(phrase)
        return drawn


@lru_cache(maxsize=1)  # they are the same in each epoch
def _phrases(
    treebank: Treebank,
) -> tuple[dict[int, list[_Turned]], list[list[Key]], dict[Key, list[tuple[int, int]]]]:
    """The turned phrases by side, the shortest around each part first; the key of each node of each
    tree; and the trees and nodes of each key."""
    ids, keys = iter(treebank.word_ids().tolist()), []
    turned: dict[int, list[_Turned]] = {1: [], -1: []}
    alike: dict[Key, list[tuple[int, int]]] = defaultdict(list)
    for number, one in enumerate(treebank.trees):
        words = [next(ids) for _ in one.tree.words]
        rows = zip(one.labels.tolist(), one.tree.spans.tolist(), strict=True)
        keys.append([(label, end - start, words[start]) for label, (start, end) in rows])
        for node, key in enumerate(keys[-1]):
            alike[key].append((number, node))
        for each in _turned(number, one, treebank.classes):
            turned[each.side].append(each)
    for phrases in turned.values():
        phrases.sort(key=lambda phrase: phrase.around)
    return turned, keys, alike


def _turned(number: int, one: LabelledTree, classes: int) -> Iterator[_Turned]:
    """The phrases of a tree that turn a part, and those around them."""
    sizes, parents = phrase_sizes(one.tree), one.tree.parents.tolist()
    sides = np.where(one.labels < 0, 0, np.sign(2 * one.labels - (classes - 1))).tolist()
    for turning in np.flatnonzero(one.tree.transitions == REDUCE).tolist():
        part, left = turning - 1, turning - 2 * sizes[turning - 1]
        if sizes[left] <= MOST_TURNERS and sides[left] <= 0 and sides[turning] * sides[part] < 0:
            node, around = turning, 0
            while node >= 0 and sizes[node] <= LONGEST and sides[node] == sides[turning]:
                yield _Turned(sides[node], around, number, node, part)
                node, around = parents[node], around + 1
