"""Change a binary tree minimally so that given spans become phrases of it."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import REDUCE

# 2**32 divided by the golden ratio: its multiples are evenly spread modulo 2**32.
_SCRAMBLE: Final = 0x9E3779B9


def with_phrases(
    transitions: NDArray[np.integer], phrases: Iterable[tuple[int, int]]
) -> NDArray[np.int8]:
    """Change the tree of `transitions` (2n - 1,) so that the words [start, end) of each of
    `phrases` form one phrase. Phrases must not cross.

    The distance of each gap between words is the height of the node that splits there (Shen et al.
    2018), and every span is split at its greatest distance. The gaps inside a phrase are moved
    below all others, in the same order, so that only nodes that cross the phrase change.
    """
    heights = _heights(transitions)
    if not heights.size:
        return transitions.astype(np.int8)
    deep = heights.max() + 1
    for start, end in phrases:
        heights[start : end - 1] -= deep
    return transitions_of(heights.tolist())


def _heights(transitions: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the height (n - 1,) of the node that splits at each gap between n words."""
    heights = np.zeros(len(transitions) // 2, np.int64)
    stack: list[tuple[int, int]] = []  # the last word and the height of each node
    words = 0
    for step in transitions.tolist():
        if step == REDUCE:
            (_, right), (gap, left) = stack.pop(), stack.pop()
            height = 1 + max(left, right)
            heights[gap] = height
            stack.append((words - 1, height))
        else:
            stack.append((words, 0))
            words += 1
    return heights


def transitions_of(distances: Sequence[float]) -> NDArray[np.int8]:
    """Return the transitions (2n-1,) of the binary tree over n words that splits every span at its
    greatest distance. `distances`: one for each of the n - 1 gaps.

    Ties are broken by a scrambled position, so that repeated words form a tree of logarithmic depth
    (a treap) instead of a chain.
    """
    steps = [0]
    open_gaps: list[tuple[float, int]] = []
    for position, distance in enumerate(distances, start=1):
        gap = (distance, position * _SCRAMBLE & 0xFFFFFFFF)
        while open_gaps and open_gaps[-1] < gap:
            open_gaps.pop()
            steps.append(1)
        open_gaps.append(gap)
        steps.append(0)
    steps.extend([1] * len(open_gaps))
    return np.array(steps, np.int8)
