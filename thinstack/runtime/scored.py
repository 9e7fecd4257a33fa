"""What a model says of one sentence, as arrays."""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import spans_of

Spans = tuple[tuple[int, int], ...]
"""Words [start, end) of each part of a sentence, in order."""


class Scored(NamedTuple):
    """The tree of a sentence and the scores of its nodes.

    The tree is transitions (2n-1,) int8, or empty if the model reads plain sentences. Scores are
    (2n-1, C), or (1, C) if the model scores only whole sentences. `weight` is described at
    `Prediction`. Only a sentence that was cut has parts. `terms` is described at `Prediction`.
    """

    transitions: NDArray[np.int8]
    scores: NDArray[np.float32]
    weight: float = 1.0
    parts: Spans = ()
    terms: NDArray[np.float32] | None = None

    def apart(self, sizes: Sequence[int], *, phrases: bool) -> "list[Scored]":
        """The results of a batch by sentence, whose trees have these `sizes`. `phrases`: whether
        every node has scores."""
        if len(sizes) == 1:
            return [self]
        ends = list(accumulate(sizes))
        rows = ends if phrases else range(1, len(ends) + 1)
        cuts = zip([0, *ends], ends, [0, *rows], rows, strict=False)
        return [
            Scored(self.transitions[start:end], self.scores[first:last])
            for start, end, first, last in cuts
        ]


def scored_spans(
    transitions: NDArray[np.int8], scores: NDArray[np.float32], words: int
) -> NDArray[np.int64]:
    """Words [start, end) of each row of `scores` (N, C): of every node of the tree, or only of the
    sentence, which has this many words."""
    if len(scores) == len(transitions):
        return spans_of(transitions)
    return np.array([[0, words]])
