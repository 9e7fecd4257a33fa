"""Changes a binary tree as little as possible, so that given words are phrases of it."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import REDUCE
from thinstack.text.distance_table import transitions_of


def with_phrases(
    transitions: NDArray[np.integer], phrases: Iterable[tuple[int, int]]
) -> NDArray[np.int8]:
    """The tree of `transitions` (2n - 1,), changed so that the words [start, end) of each of
    `phrases` are one phrase. Phrases must not cross one another.

    Each gap between words has the height of the node that is cut there as its distance (Shen et al.
    2018), and every span is cut at its greatest distance. The gaps inside a phrase sink below all
    others, and keep their order. So only nodes that cross the phrase change.
    """
    heights = _heights(transitions)
    if not heights.size:
        return transitions.astype(np.int8)
    deep = heights.max() + 1
    for start, end in sorted(phrases, key=lambda phrase: phrase[0] - phrase[1]):
        heights[start : end - 1] -= deep
    return transitions_of(heights.tolist())


def _heights(transitions: NDArray[np.integer]) -> NDArray[np.int64]:
    """The height (n - 1,) of the node that is cut at each gap between n words."""
    found = np.zeros(len(transitions) // 2, np.int64)
    stack: list[tuple[int, int]] = []  # the last word and the height of each node
    words = 0
    for step in transitions.tolist():
        if step == REDUCE:
            (_, right), (gap, left) = stack.pop(), stack.pop()
            height = 1 + max(left, right)
            found[gap] = height
            stack.append((words - 1, height))
        else:
            stack.append((words, 0))
            words += 1
    return found
