"""A lesson of phrases that turn the polarity of a part into its opposite ("not bad"). A treebank
has few of them, and users try them first."""

from typing import ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from thinstack.core.transitions import REDUCE, spans_of
from thinstack.data.trees.subtrees import LabelledTree
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

LIMIT: Final = 1 << 24
"""A number above every word's id and every sentence's length."""

IntArray = NDArray[np.int64]


class _Nodes(NamedTuple):
    """All N nodes of all sentences, one sentence after the other. Every field but `first` is
    (N,)."""

    first: IntArray  # the first node of each sentence
    side: IntArray  # -1 negative, 0 neutral or unknown, 1 positive
    words: IntArray
    left: IntArray  # the left child, -1 for leaves
    parent: IntArray  # -1 for roots
    keys: IntArray  # the same for phrases of one class, one length and one first word


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
        nodes = _nodes_of(treebank)
        by_polarity = _climbing(nodes)
        better, worse = map(len, by_polarity)
        if not (better and worse):
            raise ConfigError(
                f"lessons: {self.name}: expected a treebank with phrases that a word or two turn "
                f"to the better and to the worse, found {better:,} and {worse:,}; leave it out"
            )
        likes = _Likes(nodes.keys)

        def phrase_at(node: int) -> tuple[LabelledTree, int]:
            """The phrase at a node, and the place of its first node among all."""
            sentence = int(np.searchsorted(nodes.first, node, side="right")) - 1
            phrase = treebank.trees[sentence].phrase(node - int(nodes.first[sentence]))
            return phrase, node + 1 - len(phrase.tree)

        phrases = []
        for place in range(round(self.share * len(treebank.trees))):
            pairs = by_polarity[place % 2]
            node, turning = pairs[int(draw.integers(len(pairs)))].tolist()
            phrase, first = phrase_at(node)
            part = turning - 1
            fits = LEAST_EXCHANGED <= nodes.words[part] <= MOST_EXCHANGED
            if draw.integers(2) and fits:
                other, _ = phrase_at(likes.draw(part, draw))
                phrase = phrase.replaced(part - first, other)
            phrases.append(phrase)
        return phrases


class _Likes:
    """Draws nodes that have the same key."""

    def __init__(self, keys: IntArray):
        self._keys, self._nodes = keys, np.argsort(keys, kind="stable")
        self._sorted = keys[self._nodes]

    def draw(self, node: int, draw: np.random.Generator) -> int:
        """A node with the key of `node`, or itself."""
        low, high = np.searchsorted(self._sorted, [self._keys[node], self._keys[node] + 1])
        return int(self._nodes[draw.integers(low, high)])


def _nodes_of(treebank: Treebank) -> _Nodes:
    sizes = [len(one.tree) for one in treebank.trees]
    targets = np.concatenate([one.labels for one in treebank.trees])
    steps = np.concatenate([one.tree.transitions for one in treebank.trees])
    spans = spans_of(steps)
    words = spans[:, 1] - spans[:, 0]
    place = np.arange(len(steps))
    left = np.where(steps == REDUCE, place - 2 * np.roll(words, 1), -1)
    parent = np.full(len(steps), -1)
    inner = np.flatnonzero(steps == REDUCE)
    parent[inner - 1] = parent[left[inner]] = inner
    side = np.where(targets < 0, 0, np.sign(2 * targets - (treebank.classes - 1)))
    keys = (targets * LIMIT + words) * LIMIT + treebank.word_ids()[spans[:, 0]]
    keys = np.where(targets < 0, -1, keys)
    first = np.cumsum(sizes) - np.array(sizes)
    return _Nodes(first, side, words, left, parent, keys)


def _climbing(nodes: _Nodes) -> tuple[IntArray, IntArray]:
    """The phrases turned to the better, and those turned to the worse. Each is (n, 2): the node of
    the phrase, and the node in it that turns."""
    inner = np.flatnonzero(nodes.left >= 0)
    left = nodes.left[inner]
    turner = (nodes.words[left] <= MOST_TURNERS) & (nodes.side[left] <= 0)
    turning = inner[turner & (nodes.side[inner] * nodes.side[inner - 1] < 0)]
    node, found = turning, []
    while len(node):
        fits = nodes.words[node] <= LONGEST
        node, turning = node[fits], turning[fits]
        found.append(np.stack([node, turning], axis=1))
        above = nodes.parent[node]
        same = (above >= 0) & (nodes.side[above] == nodes.side[node])
        node, turning = above[same], turning[same]
    pairs = np.concatenate(found) if found else np.zeros((0, 2), np.int64)
    side = nodes.side[pairs[:, 0]]
    return pairs[side > 0], pairs[side < 0]
