"""`Tree`: one immutable, array-backed tree over words."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thinstack.core import transitions
from thinstack.errors import TreeError

__all__ = ["Tree"]

IntArray = NDArray[np.int64]
Array = TypeVar("Array", bound=NDArray[Any])


class Tree:
    """A rooted, ordered tree. No method recurses, so depth is bounded by memory alone.

    A tree whose words stand at its leaves only (constituency) has its nodes in *transition order*:
    every child before its parent, left before right, the root last. One with words at inner nodes
    (dependency) keeps the order it was given. Build one with `from_transitions`,
    `from_parents`, `left`, `right` or `balanced`.

    Attributes:
        parents: (N,) int64, read-only; the root's is -1. Children of a node are ordered by
            position.
        tokens: N entries, the word at a node or None.
        labels: N entries, the label of a node or None.
    """

    __slots__ = ("__dict__", "labels", "parents", "tokens")

    parents: IntArray
    tokens: tuple[str | None, ...]
    labels: tuple[str | None, ...]

    def __init__(
        self, *, parents: IntArray, tokens: tuple[str | None, ...], labels: tuple[str | None, ...]
    ):
        parents = _frozen(np.array(parents, np.int64))
        for name, value in (("parents", parents), ("tokens", tokens), ("labels", labels)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Tree is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Tree is immutable: cannot delete {name!r}")

    # -- building
    # ----------------------------------------------------------------------------------------------

    @classmethod
    def from_transitions(
        cls, steps: ArrayLike, words: Sequence[str], labels: Iterable[str | None] | None = None
    ) -> Self:
        """Build the binary tree of `steps` (2n-1,), 0 SHIFT and 1 REDUCE, over n words; `labels` in
        transition order.

        Raises TreeError if the steps are not one tree over the words.
        """
        steps = transitions.validate(steps, words=len(words))
        tokens: list[str | None] = [None] * len(steps)
        for node, word in zip(
            np.flatnonzero(steps == transitions.SHIFT).tolist(), words, strict=True
        ):
            tokens[node] = word
        parents, _ = transitions.parents_of(steps)
        return cls(parents=parents, tokens=tuple(tokens), labels=_labels(labels, len(steps)))

    @classmethod
    def from_parents(
        cls,
        parents: ArrayLike,
        tokens: Sequence[str | None],
        labels: Iterable[str | None] | None = None,
    ) -> Self:
        """Build a tree from the position of each node's parent (0-based, -1 for the root) and each
        node's word or None.

        Words at leaves only: the words count in the order given, and the nodes are put in
        transition order. Raises TreeError unless there is exactly one root, every parent exists,
        nothing is its own ancestor, every leaf has a word and, with words at leaves only, every
        node covers words that stand side by side.
        """
        array = np.asarray(parents)
        if array.ndim != 1 or not array.size or not np.issubdtype(array.dtype, np.integer):
            raise TreeError(
                f"parents must be a flat, non-empty array of integers, got {array.dtype} "
                f"{array.shape}"
            )
        array, words, names = array.astype(np.int64), tuple(tokens), _labels(labels, len(array))
        if len(words) != len(array):
            raise TreeError(
                f"{len(array)} parents need {len(array)} tokens (None where there is no word), "
                f"got {len(words)}"
            )
        _check_parents(array)
        inner = np.zeros(len(array), bool)
        inner[array[array >= 0]] = True
        bare = [node for node in np.flatnonzero(~inner).tolist() if words[node] is None]
        if bare:
            raise TreeError(f"leaf {bare[0]} has no word")
        if all(words[node] is None for node in np.flatnonzero(inner).tolist()):
            order = _transition_order(array, inner)
            leaves = order[~inner[order]]
            crossed = np.flatnonzero(np.diff(leaves) < 0)
            if crossed.size:
                raise TreeError(
                    f"the word at node {leaves[crossed[0] + 1]} lies inside a phrase that it is "
                    "not part of"
                )
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order))
            array = np.where(array[order] < 0, -1, rank[array[order]])
            words, names = (
                tuple(words[i] for i in order.tolist()),
                tuple(names[i] for i in order.tolist()),
            )
        return cls(parents=array, tokens=words, labels=names)

    @classmethod
    def left(cls, words: Sequence[str]) -> Self:
        """The left-branching binary tree over at least one word."""
        return cls.from_transitions(transitions.left(len(words)), words)

    @classmethod
    def right(cls, words: Sequence[str]) -> Self:
        """The right-branching binary tree over at least one word."""
        return cls.from_transitions(transitions.right(len(words)), words)

    @classmethod
    def balanced(cls, words: Sequence[str]) -> Self:
        """The balanced binary tree over at least one word."""
        return cls.from_transitions(transitions.balanced(len(words)), words)

    # -- reading
    # ----------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Number of nodes, N."""
        return len(self.parents)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        same = self.tokens == other.tokens and self.labels == other.labels
        return same and np.array_equal(self.parents, other.parents)

    def __hash__(self) -> int:
        return hash((self.parents.tobytes(), self.tokens, self.labels))

    def __repr__(self) -> str:
        words = " ".join(self.words[:8]) + (" ..." if len(self.words) > 8 else "")
        return f"<Tree of {len(self)} nodes over {len(self.words)} words: {words}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.parents, self.tokens, self.labels)

    @property
    def root(self) -> int:
        """Position of the root."""
        return int(np.flatnonzero(self.parents < 0)[0])

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The L words, in order."""
        return tuple(token for token in self.tokens if token is not None)

    @cached_property
    def arities(self) -> IntArray:
        """Number of children of each node, (N,)."""
        return _frozen(
            np.bincount(self.parents[self.parents >= 0], minlength=len(self)).astype(np.int64)
        )

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Positions of each node's children, in order."""
        found: list[list[int]] = [[] for _ in range(len(self))]
        for node, parent in enumerate(self.parents.tolist()):
            if parent >= 0:
                found[parent].append(node)
        return tuple(map(tuple, found))

    @cached_property
    def transitions(self) -> NDArray[np.int8]:
        """Transitions (2n-1,) of a binary tree with words at its leaves only. Raises TreeError for
        any other."""
        arities = self.arities
        other = np.flatnonzero((arities != 0) & (arities != 2))
        if other.size:
            raise TreeError(
                f"node {other[0]} has {arities[other[0]]} children; transitions exist for binary "
                "trees: binarize it first"
            )
        worded = [
            node for node in np.flatnonzero(arities).tolist() if self.tokens[node] is not None
        ]
        if worded:
            raise TreeError(
                f"node {worded[0]} has both a word and children; transitions hold words at leaves "
                "only"
            )
        return _frozen((arities == 2).astype(np.int8))

    @cached_property
    def spans(self) -> IntArray:
        """Words covered by each node, (N, 2) as [start, end). For a dependency tree: the extent of
        the node's subtree."""
        has_word = np.array([token is not None for token in self.tokens])
        before = np.cumsum(has_word) - has_word
        starts = np.where(has_word, before, len(self)).tolist()
        ends = np.where(has_word, before + 1, 0).tolist()
        parents = self.parents.tolist()
        for node in _children_first(self.parents).tolist():
            parent = parents[node]
            if parent >= 0:
                starts[parent] = min(starts[parent], starts[node])
                ends[parent] = max(ends[parent], ends[node])
        return _frozen(np.stack([np.array(starts, np.int64), np.array(ends, np.int64)], axis=1))

    @cached_property
    def gaps(self) -> NDArray[np.bool_]:
        """Whether words that are not below a node stand between words that are, (N,): the
        non-projective subtrees."""
        words = [int(token is not None) for token in self.tokens]
        parents = self.parents.tolist()
        for node in _children_first(self.parents).tolist():
            if parents[node] >= 0:
                words[parents[node]] += words[node]
        return _frozen(self.spans[:, 1] - self.spans[:, 0] != np.array(words))

    def with_labels(self, labels: Iterable[str | None]) -> "Tree":
        """The same tree with other labels, N of them in node order."""
        return Tree(parents=self.parents, tokens=self.tokens, labels=_labels(labels, len(self)))


def _rebuild(
    cls: type[Tree],
    parents: IntArray,
    tokens: tuple[str | None, ...],
    labels: tuple[str | None, ...],
) -> Tree:
    return cls(parents=parents, tokens=tokens, labels=labels)


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _labels(labels: Iterable[str | None] | None, nodes: int) -> tuple[str | None, ...]:
    if labels is None:
        return (None,) * nodes
    found = tuple(labels)
    if len(found) != nodes:
        raise TreeError(
            f"{nodes} nodes need {nodes} labels (None where there is none), got {len(found)}"
        )
    return found


def depths(parents: IntArray) -> IntArray:
    """Distance of each node from its root, (N,), by pointer jumping; -1 on a cycle and below
    one."""
    position = np.arange(len(parents))
    ancestor = np.where(parents < 0, position, parents)
    depth = (parents >= 0).astype(np.int64)
    for _ in range(len(parents).bit_length() + 1):
        depth = depth + depth[ancestor]
        ancestor = ancestor[ancestor]
    depth[parents[ancestor] >= 0] = -1
    return depth


def _children_first(parents: IntArray) -> IntArray:
    return np.argsort(-depths(parents), kind="stable")


def _check_parents(parents: IntArray) -> None:
    outside = np.flatnonzero((parents < -1) | (parents >= len(parents)))
    if outside.size:
        raise TreeError(
            f"node {outside[0]} has parent {parents[outside[0]]}; expected -1 or 0 to "
            f"{len(parents) - 1}"
        )
    roots = np.flatnonzero(parents < 0)
    if roots.size != 1:
        raise TreeError(f"a tree has exactly one root (parent -1), got {roots.size}")
    rootless = np.flatnonzero(depths(parents) < 0)
    if rootless.size:
        raise TreeError(f"node {_on_cycle(parents, int(rootless[0]))} is its own ancestor")


def _on_cycle(parents: IntArray, node: int) -> int:
    """The first node of the cycle that `node` leads to."""
    above, seen = parents.tolist(), set()
    while node not in seen:
        seen.add(node)
        node = above[node]
    return node


def _transition_order(parents: IntArray, inner: NDArray[np.bool_]) -> IntArray:
    """Positions of the nodes in transition order (children first, by their first leaf)."""
    size = len(parents)
    first = np.where(inner, size, np.arange(size)).tolist()
    above = parents.tolist()
    upwards = _children_first(parents).tolist()
    for node in upwards:
        if above[node] >= 0:
            first[above[node]] = min(first[above[node]], first[node])
    children: list[list[int]] = [[] for _ in range(size)]
    for node in sorted(range(size), key=lambda i: first[i]):
        if above[node] >= 0:
            children[above[node]].append(node)
    out, todo = [], [upwards[-1]]
    while todo:
        node = todo.pop()
        out.append(node)
        todo.extend(children[node])
    return np.array(out[::-1], np.int64)
