"""Cuts phrases out of binary trees, and puts phrases together to trees. The new trees have no
labels."""

from functools import reduce

import numpy as np

from thinstack.core import Tree
from thinstack.core.transitions import REDUCE

__all__ = ["joined", "left_branching", "phrase_sizes", "replaced", "right_branching", "subtree"]


def phrase_sizes(tree: Tree) -> list[int]:
    """The number of words below each of the N nodes, (N,)."""
    sizes: list[int] = (tree.spans[:, 1] - tree.spans[:, 0]).tolist()
    return sizes


def subtree(tree: Tree, node: int) -> Tree:
    """The phrase at a node of a binary tree, as a tree. Raises TreeError for trees that are not
    binary."""
    start, end = tree.spans[node].tolist()
    return Tree.from_transitions(
        tree.transitions[_first(tree, node) : node + 1], tree.words[start:end]
    )


def replaced(tree: Tree, node: int, phrase: Tree) -> Tree:
    """A binary tree with `phrase` in the place of the phrase at a node. Raises TreeError for trees
    that are not binary."""
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
