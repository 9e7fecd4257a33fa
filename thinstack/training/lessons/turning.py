"""Makes training examples of phrases that turn the polarity of a part into its opposite ("not
bad"). A treebank has few of them, and users try them first."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import REDUCE, spans_of
from thinstack.errors import ConfigError
from thinstack.training.examples.example import Example
from thinstack.training.examples.labelled import LabelledForest
from thinstack.training.lessons.alone import LONGEST, phrase_of

__all__ = ["MOST_EXCHANGED", "TurningPhrases", "with_part"]

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
    targets: IntArray
    side: IntArray  # -1 negative, 0 neutral or unknown, 1 positive
    words: IntArray
    left: IntArray  # the left child, -1 for leaves
    parent: IntArray  # -1 for roots
    keys: IntArray  # the same for phrases of one class, one length and one first word


class TurningPhrases:
    """Draws turning phrases from labelled sentences over binary trees.

    A node *turns* its right child if one of them is positive and the other negative. Its left child
    must then have at most `MOST_TURNERS` words, and not be positive ("not", "wo n't"). A draw gives
    the phrase of such a node, or a longer phrase around it. That phrase has the same polarity and
    at most `LONGEST` words. `classes`: the number of classes, which go from negative to positive.

    Raises ConfigError if no phrase is turned to the better, or no phrase to the worse.
    """

    def __init__(self, examples: Sequence[Example], classes: int) -> None:
        self._examples = examples
        self._nodes = _nodes_of(examples, classes)
        self._by_polarity = _climbing(self._nodes)
        better, worse = map(len, self._by_polarity)
        if not (better and worse):
            raise ConfigError(
                "training.turning: expected a treebank with phrases that a word or two turn to the "
                f"better and to the worse, found {better:,} and {worse:,}; leave turning out"
            )
        self._parts = np.argsort(self._nodes.keys, kind="stable")
        self._keys = self._nodes.keys[self._parts]

    def draw(self, share: float, draw: np.random.Generator) -> list[Example]:
        """Phrases as examples of their own, as many turned to the better as to the worse.

        `share`: the number of phrases for each sentence, on average. In about half of them, the
        part that is turned is exchanged for a phrase of the same class, length and first word. It
        then has the labels of that phrase.
        """
        found = []
        for place in range(round(share * len(self._examples))):
            pairs = self._by_polarity[place % 2]
            node, turning = pairs[int(draw.integers(len(pairs)))].tolist()
            phrase, part = self._alone(node), turning - 1
            fits = LEAST_EXCHANGED <= self._nodes.words[part] <= MOST_EXCHANGED
            if draw.integers(2) and fits:
                first = node + 2 - 2 * int(self._nodes.words[node])
                phrase = with_part(phrase, part - first, self._alone(self._like(part, draw)))
            found.append(Example({"gold": phrase}))
        return found

    def _like(self, part: int, draw: np.random.Generator) -> int:
        """A phrase that may stand for `part`, or itself."""
        key = self._nodes.keys[part]
        low, high = np.searchsorted(self._keys, [key, key + 1])
        return int(self._parts[draw.integers(low, high)])

    def _alone(self, node: int) -> LabelledForest:
        sentence = int(np.searchsorted(self._nodes.first, node, side="right")) - 1
        gold = self._examples[sentence].gold
        return phrase_of(gold, node - int(self._nodes.first[sentence]))


def with_part(phrase: LabelledForest, node: int, part: LabelledForest) -> LabelledForest:
    """The phrase with `part` in the place of the phrase at `node`, which has as many words."""
    first = node + 1 - len(part.targets)
    forest, new = phrase.forest, part.forest
    start, end = spans_of(forest.transitions)[node].tolist()
    fields = {"transitions": _spliced(forest.transitions, first, node + 1, new.transitions)}
    if forest.pieces_per_word.size:
        ends = np.concatenate([[0], np.cumsum(forest.pieces_per_word)])
        fields["piece_ids"] = _spliced(forest.piece_ids, ends[start], ends[end], new.piece_ids)
        fields["pieces_per_word"] = _spliced(
            forest.pieces_per_word, start, end, new.pieces_per_word
        )
    else:
        fields["token_ids"] = _spliced(forest.token_ids, start, end, new.token_ids)
    soft = None
    if phrase.soft is not None and part.soft is not None:
        soft = _spliced(phrase.soft, first, node + 1, part.soft)
    return phrase._replace(
        forest=forest._replace(**fields),
        targets=_spliced(phrase.targets, first, node + 1, part.targets),
        depths=np.full(len(phrase.depths), -1.0),
        soft=soft,
    )


def _spliced(values: NDArray[Any], start: int, end: int, new: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([values[:start], new, values[end:]])


def _nodes_of(examples: Sequence[Example], classes: int) -> _Nodes:
    sizes = [len(example.gold.targets) for example in examples]
    targets = np.concatenate([example.gold.targets for example in examples])
    steps = np.concatenate([example.gold.forest.transitions for example in examples])
    spans = spans_of(steps)
    words = spans[:, 1] - spans[:, 0]
    place = np.arange(len(steps))
    left = np.where(steps == REDUCE, place - 2 * np.roll(words, 1), -1)
    parent = np.full(len(steps), -1)
    inner = np.flatnonzero(steps == REDUCE)
    parent[inner - 1] = parent[left[inner]] = inner
    side = np.where(targets < 0, 0, np.sign(2 * targets - (classes - 1)))
    keys = (targets * LIMIT + words) * LIMIT + _words_of(examples)[spans[:, 0]]
    keys = np.where(targets < 0, -1, keys)
    first = np.cumsum(sizes) - np.array(sizes)
    return _Nodes(first, targets, side, words, left, parent, keys)


def _words_of(examples: Sequence[Example]) -> IntArray:
    """A number for each word: its id, or the id of its first piece."""
    found = []
    for example in examples:
        forest = example.gold.forest
        starts = np.cumsum(forest.pieces_per_word) - forest.pieces_per_word
        found.append(forest.piece_ids[starts] if starts.size else forest.token_ids)
    return np.concatenate(found)


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
