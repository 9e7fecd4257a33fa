"""Chooses phrases: those that say most about a text, and those that are worth a mark in it."""

from bisect import bisect_left, insort
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from thinstack.core.transitions import parents_of
from thinstack.errors import InputError, shown
from thinstack.runtime.phrase import NEUTRAL, Nodes, Phrase

if TYPE_CHECKING:
    from thinstack.runtime.prediction import Prediction

CLIMB: Final = 0.8
"""A phrase is shown with what is around it, as long as that says at least this share as much."""

CONTRAST: Final = 0.5
"""The phrase beside one that is overruled says at least this share of what both together say, or it
only turns that one round, as `not` does."""

WIDEST: Final = 10
"""Words of what a phrase is shown with, at most, itself included."""

MAX_DEPTH: Final = 100
"""Marked phrases inside each other at most; browsers give up on deep nesting."""

_UNCERTAIN, _NONE = -1, -2


def highlights(sentences: Sequence["Prediction"], n: int) -> list[Phrase]:
    """`Result.highlights` of some sentences. Raises InputError unless `n` is a whole number, at
    least 0."""
    if not isinstance(n, int | np.integer) or n < 0:
        raise InputError(f"expected a whole number of highlights, at least 0, found {shown(n)}")
    ranked = [(nodes, node) for nodes in map(_Ranked, sentences) for node in nodes.best(n)]
    ranked.sort(key=lambda pair: (-pair[0].strength[pair[1]], pair[0].starts[pair[1]]))
    return [Phrase(nodes, node) for nodes, node in ranked[:n]]


class _Ranked(Nodes):
    """The nodes of a prediction, with their strengths.

    Attributes:
        strength: of each node, how far its polarity is from 0; or the probability of its label.
        shown: whether each may be shown: it has a side, and can be read or is the sentence.
    """

    def __init__(self, sentence: "Prediction"):
        super().__init__(sentence)
        if sentence.view.polarity is None:
            self.strength: list[float] = sentence.node_scores.max(axis=1).tolist()
        else:
            self.strength = [abs(place or 0.0) for place in self.polarity]

    @cached_property
    def shown(self) -> list[bool]:
        sided = [
            sure and side != NEUTRAL
            for sure, side in zip(self.sentence.certain.tolist(), self.sides, strict=True)
        ]
        reads = self.edges.reads_alone
        shown = [
            some and reads(*self.spans[node]) and self._has_content(node)
            for node, some in enumerate(sided)
        ]
        shown[-1] = sided[-1]
        return shown

    def best(self, most: int) -> list[int]:
        """The nodes that say most, the strongest first, at most `most`; none overlaps another."""
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

    def _has_content(self, node: int) -> bool:
        return any(self.edges.content[slice(*self.spans[node])])

    def _is_free(self, node: int, taken: Sequence[tuple[int, int]]) -> bool:
        """Whether a node overlaps none of the spans that are taken, which are in order."""
        start, end = self.spans[node]
        place = bisect_left(taken, (start, end))
        near = taken[max(place - 1, 0) : place + 1]
        return all(end <= first or behind <= start for first, behind in near)

    def is_turned(self, node: int) -> bool:
        """Whether what is around a node turns its side round, as `not` does, without a phrase that
        speaks for the other side by itself."""
        child, parent = node, self.parents[node]
        while parent >= 0 and self.sides[parent] in (NEUTRAL, self.sides[node]):
            child, parent = parent, self.parents[parent]
        if parent < 0:
            return False
        beside = self.sibling(child)
        return not (
            self.sides[beside] == self.sides[parent]
            and self.strength[beside] >= CONTRAST * self.strength[parent]
            and self._has_content(beside)
        )

    def _climbed(self, node: int, taken: Sequence[tuple[int, int]]) -> int:
        """The largest phrase around a node that says as much, and nothing of another side."""
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
    """Whether what is around each node turns its side round, as "good" in "not good"; of neutral
    nodes, and where classes are no scale of sentiment, False."""
    if sentence.view.polarity is None:
        return [False] * len(sentence.node_scores)
    nodes = _Ranked(sentence)
    return [side != NEUTRAL and nodes.is_turned(node) for node, side in enumerate(nodes.sides)]


def marked_phrases(prediction: "Prediction") -> list[int]:
    """The nodes whose label is neither neutral nor that of the marked phrase around them, in
    reading order, each before those inside it: most words are neutral by themselves.

    To have no label, where the prediction abstains, counts as one. Where only the sentence has
    scores it is the one that is marked.
    """
    if not prediction.phrases:
        return [0]
    parents = parents_of(prediction.transitions)[0].tolist()
    neutral = neutral_of(prediction)
    names = np.where(prediction.certain, prediction.label_ids, _UNCERTAIN).tolist()
    around: dict[int, tuple[int, int]] = {-1: (neutral, 0)}
    marked = []
    for node in reversed(range(len(parents))):  # a phrase comes after its parts
        outer, depth = around[parents[node]]
        if names[node] not in (outer, neutral) and depth < MAX_DEPTH:
            marked.append(node)
            outer, depth = names[node], depth + 1
        around[node] = outer, depth
    spans = prediction.spans
    return sorted(marked, key=lambda node: (spans[node, 0], -spans[node, 1], -node))


def neutral_of(prediction: "Prediction") -> int:
    """The class in the middle of a scale from negative to positive; -2 where there is none."""
    scale = prediction.view.scale
    return _NONE if scale is None or scale.neutral is None else scale.neutral
