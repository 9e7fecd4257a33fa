"""Many short sentences in batches, cut so that memory stays bounded."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from thinstack.core.forest import EMPTY
from thinstack.core.transitions import first_fault
from thinstack.errors import InputError

__all__ = ["batches", "joined_transitions"]

IntArray = NDArray[np.int64]


def batches(
    lengths: IntArray, trees: Sequence[NDArray[np.integer]] | None, *, nodes: int
) -> Iterator[tuple[IntArray, IntArray]]:
    """The positions of the sentences of each batch, shortest sentences first, and the transitions
    (N,) of their trees, empty without `trees`. Raises InputError as `joined_transitions` does.

    A batch has at most `nodes` nodes in all, or one sentence. Sentences of one batch are of like
    length, because the number of steps that a batch takes is the depth of its deepest tree.
    """
    order = np.argsort(lengths, kind="stable")
    ends = np.cumsum(2 * lengths[order] - 1)
    start, before = 0, 0
    while start < len(order):
        end = max(int(np.searchsorted(ends, before + nodes, side="right")), start + 1)
        positions = order[start:end]
        joined = EMPTY if trees is None else joined_transitions(trees, lengths, positions)
        yield positions, joined
        start, before = end, int(ends[end - 1])


def joined_transitions(
    trees: Sequence[NDArray[np.integer]], lengths: IntArray, positions: IntArray
) -> IntArray:
    """The transitions (N,) of the trees at these positions. Raises InputError, naming the position,
    if one is no single binary tree over its number of words."""
    chosen = [np.ravel(trees[position]) for position in positions.tolist()]
    sizes = np.fromiter(map(np.size, chosen), np.int64, len(chosen))
    wrong = np.flatnonzero(sizes != 2 * lengths[positions] - 1)
    if wrong.size:
        position, found = int(positions[wrong[0]]), sizes[wrong[0]]
        words = int(lengths[position])
        raise InputError(
            f"sentence {position} has {words} words, so its tree has {2 * words - 1} transitions; "
            f"found {found}"
        )
    joined = np.concatenate(chosen)
    if not np.issubdtype(joined.dtype, np.integer):
        raise InputError(f"transitions must be integers, found {joined.dtype}")
    if fault := first_fault(joined, sizes):
        raise InputError(f"sentence {positions[fault[0]]}: {fault[1]}")
    return joined.astype(np.int64, copy=False)
