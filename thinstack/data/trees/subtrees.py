"""Cuts phrases out of binary trees, exchanges them, and puts phrases together to trees."""

from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.core.transitions import REDUCE


class LabelledTree(NamedTuple):
    """A binary tree of N nodes, with labels that follow its phrases.

    Attributes:
        tree: the tree.
        labels: (N,) the class of each node, -1 where it is unknown.
        soft: (N, C) how often each class counts in the loss of a node. Without it, its class counts
            once.
        group: the number of the group of trees that should have the same label at the root, because
            they differ only in words that are equal. No other group of an epoch has this number.
    """

    tree: Tree
    labels: NDArray[np.int64]
    soft: NDArray[np.float16] | None = None
    group: int | None = None

    @classmethod
    def unlabelled(cls, tree: Tree) -> "LabelledTree":
        """A tree without any label."""
        return cls(tree, np.full(len(tree), -1))

    @classmethod
    def joined(cls, left: "LabelledTree", right: "LabelledTree", label: int = -1) -> "LabelledTree":
        """The tree whose root has these two trees as children, and this class."""
        soft = None
        if left.soft is not None and right.soft is not None:
            own = np.eye(left.soft.shape[1], dtype=np.float16)[[label]] * (label >= 0)
            soft = np.concatenate([left.soft, right.soft, own.astype(np.float16)])
        labels = np.concatenate([left.labels, right.labels, [label]])
        return cls(joined(left.tree, right.tree), labels, soft)

    def phrase(self, node: int) -> "LabelledTree":
        """The phrase at a node, as a tree with its labels."""
        nodes = slice(_first(self.tree, node), node + 1)
        soft = None if self.soft is None else self.soft[nodes]
        return LabelledTree(subtree(self.tree, node), self.labels[nodes], soft)

    def replaced(self, node: int, phrase: "LabelledTree") -> "LabelledTree":
        """The tree with another phrase, and its labels, in the place of the phrase at a node."""
        first = _first(self.tree, node)

        def spliced(rows: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([rows[:first], new, rows[node + 1 :]])

        soft = None
        if self.soft is not None and phrase.soft is not None:
            soft = spliced(self.soft, phrase.soft)
        tree = replaced(self.tree, node, phrase.tree)
        return LabelledTree(tree, spliced(self.labels, phrase.labels), soft)


def phrase_sizes(tree: Tree) -> list[int]:
    """The words below each of the N nodes, (N,)."""
    sizes: list[int] = (tree.spans[:, 1] - tree.spans[:, 0]).tolist()
    return sizes


def subtree(tree: Tree, node: int) -> Tree:
    """The phrase at a node, as a tree. Raises TreeError unless the tree is binary."""
    start, end = tree.spans[node].tolist()
    return Tree.from_transitions(
        tree.transitions[_first(tree, node) : node + 1], tree.words[start:end]
    )


def replaced(tree: Tree, node: int, phrase: Tree) -> Tree:
    """The tree with `phrase` in the place of the phrase at a node. Raises TreeError unless both are
    binary."""
    start, end = tree.spans[node].tolist()
    steps, first = tree.transitions, _first(tree, node)
    changed = np.concatenate([steps[:first], phrase.transitions, steps[node + 1 :]])
    return Tree.from_transitions(changed, (*tree.words[:start], *phrase.words, *tree.words[end:]))


def joined(left: Tree, right: Tree) -> Tree:
    """The binary tree whose root has these two trees as children."""
    steps = np.concatenate([left.transitions, right.transitions, [REDUCE]])
    return Tree.from_transitions(steps, left.words + right.words)


def left_branching(parts: list[Tree]) -> Tree:
    """The tree of the parts, at least one, joined from the left: ((a b) c) ..."""
    return reduce(joined, parts)


def right_branching(parts: list[Tree]) -> Tree:
    """The tree of the parts, at least one, joined from the right: a (b (c ...))."""
    return reduce(lambda right, left: joined(left, right), reversed(parts))


def _first(tree: Tree, node: int) -> int:
    """The first node of the phrase at a node. In transition order the nodes of a phrase stand side
    by side."""
    return node - 2 * phrase_sizes(tree)[node] + 2
