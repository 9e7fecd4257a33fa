"""Choose the most telling phrases of a text, and the phrases worth marking in it."""

from bisect import bisect_left, insort
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from thinstack.errors import InputError, shown
from thinstack.runtime.phrase import NEUTRAL, Nodes, Phrase

if TYPE_CHECKING:
    from thinstack.runtime.prediction import Prediction

CLIMB: Final = 0.8
"""A phrase is extended by its context while it keeps at least this share of its strength."""

CONTRAST: Final = 0.5
"""The sibling of an overruled phrase has at least this share of the strength of their parent;
otherwise it only inverts the phrase, like `not`."""

WIDEST: Final = 10
"""Maximum words of an extended phrase."""

MAX_DEPTH: Final = 100
"""Maximum nesting of marked phrases; browsers fail on deeper nesting."""

_UNCERTAIN, _NONE = -1, -2


def highlights(sentences: Sequence["Prediction"], n: int) -> list[Phrase]:
    """Return `Result.highlights` for some sentences. Raises InputError unless `n` is a whole number
    of at least 0."""
    if not isinstance(n, int | np.integer) or n < 0:
        raise InputError(f"expected a whole number of highlights, at least 0, found {shown(n)}")
    ranked = [(nodes, node) for nodes in map(_Ranked, sentences) for node in nodes.best(n)]
    ranked.sort(key=lambda pair: (-pair[0].strength[pair[1]], pair[0].places[pair[1]]))
    return [Phrase(nodes, node) for nodes, node in ranked[:n]]


class _Ranked(Nodes):
    """The nodes of a prediction, ranked by strength."""

    @cached_property
    def strength(self) -> list[float]:
        """(N,) The absolute polarity, or the probability of the label without a scale."""
        if self.sentence.view.polarity is None:
            return [*self.sentence.node_scores.max(axis=1).tolist()]
        return [abs(place or 0.0) for place in self.polarity]

    @cached_property
    def shown(self) -> list[bool]:
        """(N,) Whether the node is not neutral and is readable alone or is the sentence."""
        reads, sure = self.reads_alone, self.sentence.certain.tolist()
        sided = [some and side != NEUTRAL for some, side in zip(sure, self.sides, strict=True)]
        inner = zip(sided[:-1], self.spans, strict=False)
        shown = [some and reads(*span) and self._has_content(*span) for some, span in inner]
        return [*shown, sided[-1]]

    def best(self, most: int) -> list[int]:
        """Return at most `most` nodes, strongest first, without overlaps."""
        if len(self.sides) == 1:
            return [0] if self.shown[0] else []
        order = [node for node, shown in enumerate(self.shown) if shown]
        order.sort(key=lambda node: (-self.strength[node], self._width(node), self.spans[node]))
        chosen, taken = list[int](), list[tuple[int, int]]()
        for node in order:
            if len(chosen) == most:
                break
            if self._is_free(node, taken) and not self.is_turned(node):
                chosen.append(self._climbed(node, taken))
                insort(taken, self.spans[chosen[-1]])
        return chosen

    def _width(self, node: int) -> int:
        start, end = self.spans[node]
        return end - start

    def _has_content(self, start: int, end: int) -> bool:
        return any(self.is_content[start:end])

    def _is_free(self, node: int, taken: Sequence[tuple[int, int]]) -> bool:
        """Return whether a node overlaps none of the sorted spans in `taken`."""
        start, end = self.spans[node]
        place = bisect_left(taken, (start, end))
        near = taken[max(place - 1, 0) : place + 1]
        return all(end <= first or behind <= start for first, behind in near)

    def is_turned(self, node: int) -> bool:
        """Return whether the context of a node inverts its polarity, as `not` does, without
        containing a phrase of the opposite polarity itself."""
        child, parent = node, self.parents[node]
        while parent >= 0 and self.sides[parent] in (NEUTRAL, self.sides[node]):
            child, parent = parent, self.parents[parent]
        if parent < 0:
            return False
        beside = self.sibling(child)
        return not (
            self.sides[beside] == self.sides[parent]
            and self.strength[beside] >= CONTRAST * self.strength[parent]
            and self._has_content(*self.spans[beside])
        )

    def _climbed(self, node: int, taken: Sequence[tuple[int, int]]) -> int:
        """Return the largest phrase around a node that is as strong and not opposed in any part."""
        side, least, best = self.sides[node], CLIMB * self.strength[node], node
        child, parent = node, self.parents[node]
        while parent >= 0 and self.sides[parent] == side and self.strength[parent] >= least:
            beside = self.sibling(child)
            below = range(beside + 2 - 2 * self._width(beside), beside + 1)
            opposed = any(self.shown[inner] and self.sides[inner] != side for inner in below)
            if opposed or not self._is_free(parent, taken):
                break
            if self.shown[parent] and self._width(parent) <= WIDEST:
                best = parent
            child, parent = parent, self.parents[parent]
        return best


def turned_nodes(sentence: "Prediction") -> list[bool]:
    """Return whether the context of each node inverts its polarity, as in "not good". False for
    neutral nodes, and if the classes are not a sentiment scale."""
    if sentence.view.polarity is None:
        return [False] * len(sentence.node_scores)
    nodes = _Ranked(sentence)
    return [side != NEUTRAL and nodes.is_turned(node) for node, side in enumerate(nodes.sides)]


def marked_phrases(prediction: "Prediction") -> list[int]:
    """Return the nodes whose label is neither neutral nor that of the marked phrase around them, in
    reading order, parents first. Most single words are neutral.

    A missing label, below `abstain`, counts as a label. If only the sentence has scores, it is the
    marked node.
    """
    if not prediction.phrases:
        return [0]
    nodes, neutral = Nodes(prediction), neutral_of(prediction)
    names = np.where(prediction.certain, prediction.label_ids, _UNCERTAIN).tolist()
    around: dict[int, tuple[int, int]] = {-1: (neutral, 0)}
    marked = []
    for node in reversed(range(len(names))):  # parents have higher numbers than their children
        outer, depth = around[nodes.parents[node]]
        if names[node] not in (outer, neutral) and depth < MAX_DEPTH:
            marked.append(node)
            outer, depth = names[node], depth + 1
        around[node] = outer, depth
    return sorted(marked, key=lambda node: (nodes.spans[node][0], -nodes.spans[node][1], -node))


def neutral_of(prediction: "Prediction") -> int:
    """Return the middle class of a scale from negative to positive; -2 if there is none."""
    scale = prediction.view.scale
    return _NONE if scale is None or scale.neutral is None else scale.neutral
