"""Shift-reduce transitions of binary trees (Bowman et al. 2016, section 3.1), vectorized over a
whole batch.

A batch is a plain concatenation. The transitions of B trees over L words are one flat array of N =
2L - B entries. 0 is SHIFT (a word), and 1 is REDUCE (a node over the top two of the stack).
Position i is node i of the forest.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thinstack.errors import TreeError

SHIFT = 0
REDUCE = 1

MOST_BREAK: Final = 61_440
"""The maximum of the `breaks` between the sentences of a text."""

IntArray = NDArray[np.int64]
Transitions = NDArray[np.int8]


def left(words: int) -> Transitions:
    """Transitions (2n-1,) of the left-branching tree over n = `words` >= 1: ((w1 w2) w3) ..."""
    check_words(words)
    out = np.zeros(2 * words - 1, np.int8)
    out[2::2] = REDUCE
    return out


def right(words: int) -> Transitions:
    """Transitions (2n-1,) of the right-branching tree over n = `words` >= 1: w1 (w2 (w3 ...))."""
    check_words(words)
    out = np.zeros(2 * words - 1, np.int8)
    out[words:] = REDUCE
    return out


def balanced(words: int) -> Transitions:
    """Transitions (2n-1,) of the balanced tree over n = `words` >= 1; an odd word goes left."""
    check_words(words)
    return _balanced(words)


@lru_cache(maxsize=4096)
def _balanced(words: int) -> Transitions:
    if words == 1:
        out = np.zeros(1, np.int8)
    else:
        half = words // 2
        out = np.concatenate([_balanced(words - half), _balanced(half), np.ones(1, np.int8)])
    out.flags.writeable = False
    return out


def over(top: NDArray[np.integer], trees: Sequence[NDArray[np.integer]]) -> Transitions:
    """Replace each word of the tree `top` by a tree, in order; all as transitions.

    `over(balanced(n), trees)` is a text of n sentences.
    """
    above = np.split(top, np.flatnonzero(top == SHIFT))
    below = zip(trees, above[1:], strict=True)
    return np.concatenate(
        [steps for tree, after in below for steps in (tree, after[1:])], dtype=np.int8
    )


def breaks_of(transitions: NDArray[np.integer], lengths: IntArray | None = None) -> IntArray:
    """Return the breaks (n,) of the tree of a text over its n sentences, as in a `Forest`: from 1
    to n - 1, and 0 after the last sentence.

    `lengths`: (n,) the words of each sentence. Without them, each word of the tree represents a
    sentence: `breaks_of(balanced(n))`. Raises TreeError unless the tree has a node for each
    sentence.
    """
    spans, count = spans_of(transitions), len(transitions) // 2 + 1
    lengths = np.ones(count, np.int64) if lengths is None else lengths
    if len(nodes := joining_nodes(spans, lengths)) != len(lengths) - 1:
        raise TreeError(
            f"expected a tree over {len(lengths)} sentences, with {len(lengths) - 1} joining "
            f"nodes, found {len(nodes)}"
        )
    breaks = np.zeros(len(lengths), np.int64)
    # A node's right child precedes it. A parent follows its children.
    breaks[_sentences(lengths)[spans[nodes - 1, 0]] - 1] = np.arange(1, len(lengths))
    return breaks


def nodes_over(top: NDArray[np.integer], sizes: NDArray[np.integer]) -> IntArray:
    """Return the position in `over(top, trees)` of each node of `top` (2n-1,). `sizes`: (n,) the
    nodes of the trees; a word of `top` is at the position of the root of its tree."""
    nodes = np.ones(len(top), np.int64)
    nodes[top == SHIFT] = sizes
    return np.cumsum(nodes) - 1


def sentence_trees(transitions: NDArray[np.integer], lengths: IntArray) -> NDArray[np.integer]:
    """Return the transitions of texts without those that join sentences of lengths (S,)."""
    joining = joining_nodes(spans_of(transitions), lengths)
    steps: NDArray[np.integer] = np.delete(transitions, joining)
    return steps


def _sentences(lengths: IntArray) -> IntArray:
    """Return the index (L,) of each word's sentence."""
    return np.repeat(np.arange(len(lengths)), lengths)


def joining_nodes(spans: IntArray, lengths: IntArray) -> IntArray:
    """Return the nodes that join sentences of these lengths (S,), from spans (N, 2) of nodes."""
    sentence = _sentences(lengths)
    return np.flatnonzero(sentence[spans[:, 0]] != sentence[spans[:, 1] - 1])


def check_words(words: int) -> None:
    """Raise TreeError unless `words` is at least 1."""
    if words < 1:
        raise TreeError(f"a tree needs at least one word, found {words}")


def validate(transitions: ArrayLike, words: int | None = None) -> Transitions:
    """Check transitions of a forest, or of a tree over this many `words`, and return them as int8
    (N,). Raises TreeError."""
    array = np.asarray(transitions)
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise TreeError(
            f"transitions must be a flat array of integers, found {array.dtype} of shape "
            f"{array.shape}"
        )
    if words is not None:
        check_words(words)
        if len(array) != 2 * words - 1:
            raise TreeError(
                f"a tree over {words} words has {2 * words - 1} transitions, found {len(array)}"
            )
    if fault := first_fault(array, None if words is None else np.array([len(array)])):
        raise TreeError(fault[1])
    return array.astype(np.int8)


def first_fault(
    transitions: NDArray[np.integer], sizes: IntArray | None = None
) -> tuple[int, str] | None:
    """Return the first tree of transitions (N,) that is not complete, and the reason; None if all
    are complete.

    `sizes`: (B,) the number of transitions in each tree, at least 1. Without them, trees may end
    anywhere, and count as one. A tree of the right size is complete if it contains only 0 and 1,
    its stack never falls below one node, and one node remains.
    """
    sized, sizes = sizes is not None, np.array([len(transitions)]) if sizes is None else sizes
    steps, ends = transitions.astype(np.int64), np.cumsum(sizes)
    height = np.cumsum(1 - 2 * steps)
    if len(sizes) > 1:
        height -= np.repeat(np.arange(len(sizes)), sizes)
    bad = (steps >> 1 != 0) | (height < 1)  # SHIFT and REDUCE have no second bit
    if sized:
        bad[ends - 1] |= height[ends - 1] != 1
    if not bad.any():
        return None
    trees = np.repeat(np.arange(len(sizes)), sizes)
    place = int(bad.argmax())
    tree, value = int(trees[place]), int(transitions[place])
    step = place - int(ends[tree] - sizes[tree])
    if value not in (SHIFT, REDUCE):
        return tree, f"transition {step} is {value}; expected 0 (SHIFT) or 1 (REDUCE)"
    if height[place] < 1:
        fault = "is a REDUCE, but the stack has fewer than two nodes"
    else:
        fault = f"is the last, but leaves {height[place]} nodes on the stack; expected 1, the root"
    return tree, f"transition {step} {fault}"


def is_tree(steps: Sequence[int]) -> bool:
    """Return whether transitions are one complete tree; for few, faster than `first_fault`."""
    height = 0
    for step in steps:
        height += 1 if step == SHIFT else -1
        if height < 1 or step not in (SHIFT, REDUCE):
            return False
    return height == 1


def _stack_depth(transitions: NDArray[np.integer]) -> IntArray:
    """Return the number of nodes on the stack after each transition, (N,)."""
    return np.cumsum(1 - 2 * transitions.astype(np.int64))


def parents_of(transitions: NDArray[np.integer]) -> tuple[IntArray, IntArray]:
    """Return the parents (N,), roots = -1, and slots (N,), 0 = left child and 1 = right child
    (roots: 0), of valid transitions.

    The right child of a REDUCE is the node before it; its left child is the last earlier node at
    the stack depth that the REDUCE leaves behind, found for all of them by one sort on
    (depth, position).
    """
    size = len(transitions)
    parents, slots = np.full(size, -1, np.int64), np.zeros(size, np.int64)
    reduce = np.flatnonzero(transitions == REDUCE)
    order = np.argsort(_stack_depth(transitions), kind="stable")
    before = np.empty(size, np.int64)
    before[order[1:]] = order[:-1]
    parents[before[reduce]] = reduce
    parents[reduce - 1] = reduce
    slots[reduce - 1] = 1
    return parents, slots


def spans_of(transitions: NDArray[np.integer]) -> IntArray:
    """Return the words [start, end) below each node of valid transitions, (N, 2), in the batch."""
    position = np.arange(len(transitions))
    depth = _stack_depth(transitions)
    ends = np.cumsum(transitions == SHIFT)
    # A node's first word is the SHIFT after the last earlier node that leaves the stack one lower.
    key = depth * (len(transitions) + 1) + position + 1
    ranked = np.sort(np.concatenate([key, [0]]))
    below = ranked[np.searchsorted(ranked, (depth - 1) * (len(transitions) + 1) + position + 1) - 1]
    start = below - (depth - 1) * (len(transitions) + 1)
    return np.stack([np.concatenate([[0], ends])[start], ends], axis=1)
