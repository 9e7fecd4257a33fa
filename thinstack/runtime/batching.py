"""Batches of many short sentences: checked, and cut so that memory stays bounded."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import first_fault
from thinstack.errors import InputError

__all__ = ["batches", "check_lengths", "check_trees", "joined_transitions"]

IntArray = NDArray[np.int64]


def check_lengths(sentences: Sequence[Sequence[str]]) -> IntArray:
    """The number of words of each sentence, (B,).

    Raises InputError for a sentence of no words, or one that is a text and not a sequence of words.
    """
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    if str in set(map(type, sentences)):
        position = next(i for i, sentence in enumerate(sentences) if isinstance(sentence, str))
        raise InputError(
            f"sentence {position} is a text; expected a sequence of words: split it into words "
            "first"
        )
    if not lengths.all():
        raise InputError(
            f"sentence {int(lengths.argmin())} has no words; expected at least one: leave empty "
            "sentences out"
        )
    return lengths


def batches(lengths: IntArray, *, nodes: int) -> Iterator[IntArray]:
    """Positions of the sentences of each batch, shortest sentences first.

    A batch has at most `nodes` nodes in all, or one sentence. Sentences of one batch are of like
    length, because the number of steps that a batch takes is the depth of its deepest tree.
    """
    order = np.argsort(lengths, kind="stable")
    ends = np.cumsum(2 * lengths[order] - 1)
    start, before = 0, 0
    while start < len(order):
        end = max(int(np.searchsorted(ends, before + nodes, side="right")), start + 1)
        yield order[start:end]
        start, before = end, int(ends[end - 1])


def joined_transitions(
    trees: Sequence[NDArray[np.integer]], lengths: IntArray, positions: IntArray
) -> IntArray:
    """The transitions of a batch as one array (N,), each tree checked against the number of its
    words.

    `positions` are the numbers of the sentences, for the errors. Raises InputError if one is not a
    single binary tree.
    """
    sizes = np.fromiter(map(np.size, trees), np.int64, len(trees))
    wrong = np.flatnonzero(sizes != 2 * lengths - 1)
    if wrong.size:
        tree = int(wrong[0])
        words = int(lengths[tree])
        raise InputError(
            f"sentence {positions[tree]} has {words} words, so its tree has {2 * words - 1} "
            f"transitions; found {sizes[tree]}"
        )
    joined = np.concatenate([np.ravel(tree) for tree in trees])
    if not np.issubdtype(joined.dtype, np.integer):
        raise InputError(f"transitions must be integers, found {joined.dtype}")
    check_trees(joined, sizes, positions)
    return joined.astype(np.int64, copy=False)


def check_trees(joined: NDArray[np.integer], sizes: IntArray, positions: IntArray) -> None:
    """Raise InputError, naming the sentence, unless the transitions (N,) are one tree of each of
    these sizes."""
    if fault := first_fault(joined, sizes):
        raise InputError(f"sentence {positions[fault[0]]}: {fault[1]}")
