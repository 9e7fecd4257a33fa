"""`Tree`: one immutable, array-backed tree over words."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import add
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thinstack.core import transitions
from thinstack.errors import TreeError

IntArray = NDArray[np.int64]
Array = TypeVar("Array", bound=NDArray[Any])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Tree:
    """A rooted, ordered tree. No method recurses, so only memory limits the depth.

    If words are only at the leaves (constituency), nodes are in *transition order*: every child
    before its parent, left before right, the root last. A tree with words at inner nodes
    (dependency) keeps its input order. Build a tree with `from_transitions`, `from_parents`,
    `left`, `right` or `balanced`.

    Attributes:
        parents: (N,) int64, read-only, the position of each node's parent; -1 for the root.
            Children of a node are ordered by position.
        tokens: N entries, the word at a node or None.
        labels: N entries, the label of a node or None.
    """

    parents: IntArray
    tokens: tuple[str | None, ...]
    labels: tuple[str | None, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", _frozen(np.array(self.parents, np.int64)))

    @classmethod
    def from_transitions(
        cls, steps: ArrayLike, words: Sequence[str], labels: Iterable[str | None] | None = None
    ) -> Self:
        """Build the binary tree of `steps` (2n-1,), 0 SHIFT and 1 REDUCE, over n words, with
        `labels` in transition order.

        Raises TreeError unless the steps make one tree over the words.
        """
        steps = transitions.validate(steps, words=len(words))
        left, shifts = iter(words), (steps == transitions.SHIFT).tolist()
        tokens = tuple(next(left) if shift else None for shift in shifts)
        parents, _ = transitions.parents_of(steps)
        return cls(parents=parents, tokens=tokens, labels=_labels(labels, len(steps)))

    @classmethod
    def from_parents(
        cls,
        parents: ArrayLike,
        tokens: Sequence[str | None],
        labels: Iterable[str | None] | None = None,
    ) -> Self:
        """Build a tree from the position of each node's parent (0-based, -1 for the root) and each
        node's word or None.

        If only leaves have words, the words keep their input order, and the nodes are put in
        transition order. Raises TreeError unless there is exactly one root, every parent exists, no
        node is its own ancestor, and every leaf has a word. If only leaves have words, it also
        raises TreeError unless the words below each node are consecutive.
        """
        array = np.asarray(parents)
        if array.ndim != 1 or not array.size or not np.issubdtype(array.dtype, np.integer):
            raise TreeError(
                f"parents must be a flat, non-empty array of integers, found {array.dtype} "
                f"of shape {array.shape}"
            )
        array, words, names = array.astype(np.int64), tuple(tokens), _labels(labels, len(array))
        if len(words) != len(array):
            raise TreeError(
                f"{len(array)} parents need {len(array)} tokens (None for nodes without a "
                f"word); found {len(words)}"
            )
        _check_parents(array)
        inner = np.isin(np.arange(len(array)), array)
        bare = np.array([word is None for word in words])
        if (bare & ~inner).any():
            raise TreeError(f"leaf {(bare & ~inner).argmax()} has no word")
        if bare[inner].all():
            order = _transition_order(array, inner)
            leaves = order[~inner[order]]
            crossed = np.flatnonzero(np.diff(leaves) < 0)
            if crossed.size:
                raise TreeError(
                    f"the word at node {leaves[crossed[0] + 1]} splits a phrase that does "
                    "not contain it"
                )
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order))
            array = np.where(array[order] < 0, -1, rank[array[order]])
            words, names = (tuple(part[i] for i in order.tolist()) for part in (words, names))
        return cls(parents=array, tokens=words, labels=names)

    @classmethod
    def left(cls, words: Sequence[str]) -> Self:
        """Build the left-branching binary tree over at least one word."""
        return cls.from_transitions(transitions.left(len(words)), words)

    @classmethod
    def right(cls, words: Sequence[str]) -> Self:
        """Build the right-branching binary tree over at least one word."""
        return cls.from_transitions(transitions.right(len(words)), words)

    @classmethod
    def balanced(cls, words: Sequence[str]) -> Self:
        """Build the balanced binary tree over at least one word."""
        return cls.from_transitions(transitions.balanced(len(words)), words)

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
        make = partial(type(self), parents=self.parents, tokens=self.tokens, labels=self.labels)
        return make, ()

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
        counts = np.bincount(self.parents + 1, minlength=len(self) + 1)
        return _frozen(counts[1:].astype(np.int64))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Positions of each node's children, in order."""
        return tuple(map(tuple, _children(self.parents, range(len(self)))))

    @cached_property
    def transitions(self) -> NDArray[np.int8]:
        """The transitions (2n-1,) of a binary tree with words only at its leaves. Raises TreeError
        for any other tree."""
        arities = self.arities
        for node in np.flatnonzero(arities).tolist():
            if arities[node] != 2:
                raise TreeError(
                    f"node {node} has {arities[node]} children; only binary trees have "
                    "transitions: binarize the tree first"
                )
            if self.tokens[node] is not None:
                raise TreeError(
                    f"node {node} has both a word and children; in transitions, only leaves "
                    "have words"
                )
        return _frozen((arities == 2).astype(np.int8))

    @cached_property
    def spans(self) -> IntArray:
        """The words below each node, (N, 2) as [start, end). For a dependency tree, from the first
        to the last word of the node's subtree."""
        has_word, nodes = self._has_word, len(self)
        before: IntArray = np.cumsum(has_word) - has_word
        starts = _with_those_below(self.parents, np.where(has_word, before, nodes), min)
        ends = _with_those_below(self.parents, np.where(has_word, before + 1, 0), max)
        return _frozen(np.stack([starts, ends], axis=1))

    @cached_property
    def gaps(self) -> NDArray[np.bool_]:
        """Which nodes have a non-projective subtree, (N,): a word outside the subtree is between
        words in it."""
        words = _with_those_below(self.parents, self._has_word.astype(np.int64), add)
        return _frozen(self.spans[:, 1] - self.spans[:, 0] != words)

    @property
    def _has_word(self) -> NDArray[np.bool_]:
        return np.array([token is not None for token in self.tokens])

    def with_labels(self, labels: Iterable[str | None]) -> "Tree":
        """Return the same tree with other labels, N of them in node order."""
        return replace(self, labels=_labels(labels, len(self)))


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _labels(labels: Iterable[str | None] | None, nodes: int) -> tuple[str | None, ...]:
    if labels is None:
        return (None,) * nodes
    names = tuple(labels)
    if len(names) != nodes:
        raise TreeError(
            f"{nodes} nodes need {nodes} labels (None for nodes without one); found {len(names)}"
        )
    return names


def depths(parents: IntArray) -> IntArray:
    """Return the distance of each node from its root, (N,); -1 on and below a cycle."""
    position = np.arange(len(parents))
    ancestor = np.where(parents < 0, position, parents)
    depth = (parents >= 0).astype(np.int64)
    for _ in range(len(parents).bit_length() + 1):
        depth = depth + depth[ancestor]
        ancestor = ancestor[ancestor]
    depth[parents[ancestor] >= 0] = -1
    return depth


def _children(parents: IntArray, nodes: Iterable[int]) -> list[list[int]]:
    """Return the children of each node, in their order in `nodes`."""
    children: list[list[int]] = [[] for _ in range(len(parents))]
    above = parents.tolist()
    for node in nodes:
        if above[node] >= 0:
            children[above[node]].append(node)
    return children


def _with_those_below(
    parents: IntArray, values: IntArray, join: Callable[[int, int], int]
) -> IntArray:
    """Return each node's value joined with those of all its descendants, (N,)."""
    joined, above = values.tolist(), parents.tolist()
    for node in np.argsort(-depths(parents), kind="stable").tolist():
        if above[node] >= 0:
            joined[above[node]] = join(joined[above[node]], joined[node])
    return np.array(joined, np.int64)


def _check_parents(parents: IntArray) -> None:
    outside = np.flatnonzero((parents < -1) | (parents >= len(parents)))
    if outside.size:
        raise TreeError(
            f"node {outside[0]} has parent {parents[outside[0]]}; expected -1 or 0 to "
            f"{len(parents) - 1}"
        )
    roots = np.flatnonzero(parents < 0)
    if roots.size != 1:
        raise TreeError(f"a tree has exactly one root (parent -1), found {roots.size}")
    rootless = np.flatnonzero(depths(parents) < 0)
    if rootless.size:
        node, seen = int(rootless[0]), set()
        while node not in seen:  # until the cycle that it leads to
            seen.add(node)
            node = int(parents[node])
        raise TreeError(f"node {node} is its own ancestor")


def _transition_order(parents: IntArray, inner: NDArray[np.bool_]) -> IntArray:
    """Return the nodes in transition order (children first, by their first leaf)."""
    first = _with_those_below(parents, np.where(inner, len(parents), np.arange(len(parents))), min)
    children = _children(parents, np.argsort(first, kind="stable").tolist())
    out, todo = [], [int(np.argmin(parents))]
    while todo:
        node = todo.pop()
        out.append(node)
        todo.extend(children[node])
    return np.array(out[::-1], np.int64)
