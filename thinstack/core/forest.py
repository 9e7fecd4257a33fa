"""`Forest`: a batch of trees as flat concatenated arrays, without padding."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import parents_of, validate
from thinstack.core.tree import Tree
from thinstack.errors import TreeError

__all__ = ["Forest"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """B trees over N nodes in all.

    Attributes:
        parents: (N,) int64, positions in the whole forest; a root's is -1.
        slots: (N,) int64, which child of its parent a node is, counted from 0 (roots: 0).
        kinds: (N,) int64 >= 1, the type of the edge to the parent (roots: 1).
        sizes: (B,) int64, nodes of each tree.
    """

    parents: IntArray
    slots: IntArray
    kinds: IntArray
    sizes: IntArray

    @classmethod
    def of(cls, trees: Iterable[Tree], relations: Sequence[str] = ()) -> "Forest":
        """Concatenate trees; slots count siblings from the left.

        An edge is of kind 2 + i if the label of its child is `relations[i]` (distinct names), of
        kind 1 for any other label, so R relations make R + 1 kinds.
        """
        trees = list(trees)
        sizes = np.array([len(tree) for tree in trees], np.int64)
        offsets = np.repeat(np.cumsum(sizes) - sizes, sizes)
        flat = np.concatenate([np.zeros(0, np.int64), *(tree.parents for tree in trees)])
        parents = np.where(flat < 0, -1, flat + offsets)
        return cls(
            parents=parents,
            slots=_sibling_ranks(parents),
            kinds=_kinds(trees, parents, relations),
            sizes=sizes,
        )

    @property
    def leaves(self) -> NDArray[np.bool_]:
        """Which nodes have no children, (N,)."""
        leaf = np.ones(len(self.parents), bool)
        leaf[self.parents[self.parents >= 0]] = False
        return leaf

    @property
    def transitions(self) -> NDArray[np.int8]:
        """Transitions (N,) of binary trees in transition order, 0 SHIFT and 1 REDUCE. Raises
        TreeError for any other."""
        arities = np.bincount(self.parents[self.parents >= 0], minlength=len(self.parents))
        if np.any((arities != 0) & (arities != 2)):
            raise TreeError(
                "transitions exist for forests of binary trees only: binarize the trees first"
            )
        steps = validate((arities == 2).astype(np.int8))
        if not np.array_equal(parents_of(steps)[0], self.parents):
            raise TreeError(
                "transitions exist for nodes in transition order only, and a dependency tree "
                "keeps its own order"
            )
        return steps


def _kinds(trees: list[Tree], parents: IntArray, relations: Sequence[str]) -> IntArray:
    if not relations:
        return np.ones_like(parents)
    known: dict[str | None, int] = {name: kind for kind, name in enumerate(relations, start=2)}
    kinds = np.array([known.get(label, 1) for tree in trees for label in tree.labels], np.int64)
    return np.where(parents < 0, 1, kinds)


def _sibling_ranks(parents: IntArray) -> IntArray:
    order = np.argsort(parents, kind="stable")
    ranked = parents[order]
    starts = np.searchsorted(ranked, ranked)
    ranks = np.empty_like(parents)
    ranks[order] = np.arange(len(parents)) - starts
    return np.where(parents < 0, 0, ranks)
