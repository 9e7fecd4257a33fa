"""Finds the right transition in any state of a shift-reduce parser, even after wrong transitions.
It is a dynamic oracle (Cross & Huang 2016)."""

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import REDUCE, SHIFT, parents_of, spans_of

IntArray = NDArray[np.int64]


def right_transitions(gold: NDArray[np.integer], taken: NDArray[np.integer]) -> IntArray:
    """The right transitions (N,): one for each place of the transitions `taken` (N,). The tree of
    the sentence has the transitions `gold` (N,).

    After the right transition, most phrases of the gold tree can still be made. It follows from the
    smallest gold phrase around the top of the stack that no wrong phrase cuts. If that phrase goes
    on only to the right, SHIFT is right; if only to the left, REDUCE is right. If it goes on to
    both sides, either is right: -1. Along the gold tree, the right transition is the gold one.

    Where only one transition is possible, the answer may be the other one: mask it.
    """
    parents, spans = parents_of(gold)[0].tolist(), spans_of(gold).tolist()
    words = [
        node for node, (start, end) in enumerate(spans) if gold[node] == SHIFT and end == start + 1
    ]
    right = np.full(len(taken), SHIFT, np.int64)
    starts: list[int] = []  # first words of the phrases on the stack
    shifted = 0
    for step, transition in enumerate(taken.tolist()):
        if starts:
            right[step] = _wanted(words[starts[-1]], starts, shifted, parents, spans)
        if transition == REDUCE:
            starts.pop()
        else:
            starts.append(shifted)
            shifted += 1
    return right


def _wanted(
    node: int, starts: list[int], end: int, parents: list[int], spans: list[list[int]]
) -> int:
    """The right transition for a stack whose top has the words [starts[-1], end). `node` is the
    gold leaf of the first of these words."""
    open_starts = set(starts)
    while (
        spans[node][1] < end
        or spans[node] == [starts[-1], end]
        or spans[node][0] not in open_starts
    ):
        if parents[node] < 0:
            return -1
        node = parents[node]
    further_right, further_left = spans[node][1] > end, spans[node][0] < starts[-1]
    return -1 if further_right and further_left else SHIFT if further_right else REDUCE
