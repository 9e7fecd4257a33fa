"""From any constituency tree to a binary one, and back."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Literal

import numpy as np

from thinstack.core.transitions import REDUCE, SHIFT
from thinstack.core.tree import Tree
from thinstack.data.phrases import check_constituency
from thinstack.errors import TreeError

__all__ = ["Branching", "Heads", "binarize", "from_binary", "to_binary"]

Branching = Literal["right", "left", "head"]

Heads = Callable[[str | None, Sequence[str | None]], int]
"""A phrase's label and those of its children, at least two -> the position (0-based) of the head
child."""

ADDED, CHAIN = "@", "+"


def binarize(tree: Tree, leaves: Sequence[Sequence[str]] | None = None) -> Tree:
    """The binary tree of a constituency tree: `(A b c d)` becomes `(A b (c d))`, a chain of single
    children its topmost node; new nodes have the label None. `to_binary` has a way back.

    `leaves`: for each leaf, in order, the words to put in its place. Several become a phrase that
    branches to the right; with none the leaf is left out, and every phrase that then has no word.
    Raises TreeError for a tree with words at inner nodes, for another number of `leaves`, and if no
    word is left.
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
        # The children lie on top of the stack: reducing the top two until one is left branches to
        # the right.
        steps += [REDUCE] * (count - 1)
        labels += [None] * (count - 1)
        labels[-1] = label
        if parents[node] >= 0:
            children[parents[node]] += 1
    if not steps:
        raise TreeError("a tree needs at least one word, but none was left")
    return Tree.from_transitions(
        np.array(steps, np.int8), [word for group in words for word in group], labels
    )


def to_binary(tree: Tree, *, branching: Branching = "right", heads: Heads | None = None) -> Tree:
    """The binary tree of a constituency tree, from which `from_binary` makes that tree again.

    A node that is added bears `@` and the label of its phrase; a chain of single children becomes
    one node, its labels joined by `+` from the topmost down (None as ""). `branching`:

    - "right": right-branching (right-factored, in NLTK's terms): `(A b c d)` becomes `(A b (@A c
      d))`.
    - "left": left-branching (left-factored): `(A (@A b c) d)`.
    - "head": head-outward (Collins 1999): the head child takes the siblings on its right one by
      one, then those on its left: with the head c, `(A b (@A c d))`. `heads` tells the head child;
      `thinstack.data.head_rules.english_head` knows the Penn Treebank's phrases.

    Raises TreeError for a tree with words at inner nodes, for a label that is empty, holds `+` or
    starts with `@`, and for a head that is not there; ValueError for another `branching`, and for
    "head" without `heads`.
    """
    check_constituency(tree)
    _check_labels(tree)
    head = _head_children(tree, branching, heads)
    arities, parents = tree.arities.tolist(), tree.parents.tolist()
    taken = [0] * len(tree)  # children of each node so far
    steps: list[int] = []
    chains: list[list[str | None]] = []  # labels of each new node, from the bottom up
    for node, label in enumerate(tree.labels):
        above = parents[node]
        if arities[node] == 0:
            steps.append(SHIFT)
            chains.append([label])
        elif arities[node] == 1:
            chains[-1].append(label)
        else:
            chains[-1] = [label]  # the last REDUCE over its children makes the phrase itself
        if above >= 0 and arities[above] > 1:
            # Once the last child is there, the head with all on its right lies on top of those on
            # its left.
            last = taken[above] == arities[above] - 1
            count = (taken[above] > head[above]) + (head[above] if last else 0)
            taken[above] += 1
            steps += [REDUCE] * count
            chains += [[ADDED + (tree.labels[above] or "")] for _ in range(count)]
    return Tree.from_transitions(np.array(steps, np.int8), tree.words, map(_joined, chains))


def from_binary(tree: Tree) -> Tree:
    """The tree that `to_binary` made this one from: what was added is taken out, and chains are
    laid out again.

    Raises TreeError for a tree with words at inner nodes, and where `@` marks a leaf, the root or a
    part of a chain.
    """
    check_constituency(tree)
    arities, parents = tree.arities.tolist(), tree.parents.tolist()
    chains: list[list[str | None]] = []
    for node, label in enumerate(tree.labels):
        added = label is not None and label.startswith(ADDED)
        chain = [] if added else [part or None for part in reversed((label or "").split(CHAIN))]
        if any(part and part.startswith(ADDED) for part in chain) or (
            added and (parents[node] < 0 or not arities[node])
        ):
            raise TreeError(
                f"node {node} has the label {label!r}; '@' marks nodes inside a phrase only"
            )
        chains.append(chain)
    ends = list(accumulate(map(len, chains)))
    owner = list(parents)  # the phrase of each node's parent
    for node in range(len(tree) - 2, -1, -1):
        if not chains[parents[node]]:
            owner[node] = owner[parents[node]]
    above = list(range(1, ends[-1] + 1))
    tokens: list[str | None] = [None] * ends[-1]
    for node, (chain, end) in enumerate(zip(chains, ends, strict=True)):
        if chain:
            above[end - 1] = (
                ends[owner[node]] - len(chains[owner[node]]) if owner[node] >= 0 else -1
            )
            tokens[end - len(chain)] = tree.tokens[node]
    return Tree(
        parents=np.array(above),
        tokens=tuple(tokens),
        labels=tuple(label for chain in chains for label in chain),
    )


def _joined(chain: Sequence[str | None]) -> str | None:
    return chain[0] if len(chain) == 1 else CHAIN.join(label or "" for label in reversed(chain))


def _check_labels(tree: Tree) -> None:
    for node, label in enumerate(tree.labels):
        if label is not None and (not label or CHAIN in label or label.startswith(ADDED)):
            raise TreeError(
                f"node {node} has the label {label!r}, which could be one that binarisation makes; "
                "expected None, or one that is not empty, has no '+' and does not start with '@'"
            )


def _head_children(tree: Tree, branching: Branching, heads: Heads | None) -> list[int]:
    """The child of each node, counted from 0, that binarisation starts from; 0 where there are
    fewer than two."""
    if branching not in ("right", "left", "head"):
        raise ValueError(f"branching must be 'right', 'left' or 'head', got {branching!r}")
    if branching == "head" and heads is None:
        raise ValueError("branching 'head' needs heads, such as head_rules.english_head")
    if branching == "right":
        return [max(count - 1, 0) for count in tree.arities.tolist()]
    found = [0] * len(tree)
    if branching == "left" or heads is None:
        return found
    for node, children in enumerate(tree.children):
        if len(children) > 1:
            found[node] = heads(tree.labels[node], [tree.labels[child] for child in children])
            if not 0 <= found[node] < len(children):
                raise TreeError(
                    f"node {node} has {len(children)} children; heads gave {found[node]}"
                )
    return found


def _words_of_nodes(tree: Tree, leaves: Sequence[Sequence[str]] | None) -> list[Sequence[str]]:
    """The words to put at each node: none at inner ones."""
    check_constituency(tree)
    words: list[Sequence[str]] = [()] * len(tree)
    if leaves is None:
        leaves = [(word,) for word in tree.words]
    if len(leaves) != len(tree.words):
        raise TreeError(
            f"{len(tree.words)} leaves need words for each of them, got {len(leaves)} groups"
        )
    for node, group in zip(np.flatnonzero(tree.arities == 0).tolist(), leaves, strict=True):
        words[node] = group
    return words
