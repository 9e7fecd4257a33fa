"""From any constituency tree to a binary one."""

from collections.abc import Sequence

import numpy as np

from thinstack.core.transitions import REDUCE, SHIFT
from thinstack.core.tree import Tree
from thinstack.errors import TreeError

__all__ = ["binarize"]


def binarize(tree: Tree, leaves: Sequence[Sequence[str]] | None = None) -> Tree:
    """The binary tree of a constituency tree: `(A b c d)` becomes `(A b (c d))`, a chain of single children its topmost node.

    Nodes that stand for nodes of the tree keep their label, new ones have None.

    `leaves`: for each leaf, in order, the words to put in its place. Several become a phrase of their own that branches
    to the right; with none the leaf is left out, and so is every phrase that then has no word.

    Raises TreeError for a tree with words at inner nodes, for another number of `leaves`, and if no word is left.
    """
    arities, parents = tree.arities.tolist(), tree.parents.tolist()
    words = _words_of_nodes(tree, leaves)
    children = [0] * len(tree)  # those that hold a word
    steps: list[int] = []
    labels: list[str | None] = []
    for node, label in enumerate(tree.labels):
        count = children[node] if arities[node] else len(words[node])
        if not count:
            continue
        if not arities[node]:
            steps += [SHIFT] * count
            labels += [None] * count
        # The children lie on top of the stack: reducing the top two until one is left branches to the right.
        steps += [REDUCE] * (count - 1)
        labels += [None] * (count - 1)
        labels[-1] = label
        if parents[node] >= 0:
            children[parents[node]] += 1
    if not steps:
        raise TreeError("a tree needs at least one word, but none was left")
    return Tree.from_transitions(np.array(steps, np.int8), [word for group in words for word in group], labels)


def _words_of_nodes(tree: Tree, leaves: Sequence[Sequence[str]] | None) -> list[Sequence[str]]:
    """The words to put at each node: none at inner ones."""
    words: list[Sequence[str]] = [()] * len(tree)
    found = [node for node, token in enumerate(tree.tokens) if token is not None]
    inner = np.flatnonzero(tree.arities[found])
    if inner.size:
        raise TreeError(f"node {found[inner[0]]} has both a word and children; only constituency trees can be binarized")
    if leaves is None:
        leaves = [(word,) for word in tree.words]
    if len(leaves) != len(found):
        raise TreeError(f"a tree of {len(found)} leaves needs words for each of them, got {len(leaves)} groups of words")
    for node, group in zip(found, leaves, strict=True):
        words[node] = group
    return words
