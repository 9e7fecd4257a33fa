"""Convert constituency trees to binary trees and back."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from thinstack.core.transitions import REDUCE, SHIFT
from thinstack.core.tree import Tree
from thinstack.data.trees.phrases import check_constituency
from thinstack.errors import TreeError

Branching = Literal["right", "left", "head"]

Heads = Callable[[str | None, Sequence[str | None]], int]
"""A function of a phrase's label and the labels of its children, at least two. Returns the index of
the head child, from 0."""

ADDED, CHAIN = "@", "+"


def binarize(tree: Tree, leaves: Sequence[Sequence[str]] | None = None) -> Tree:
    """Binarize a constituency tree: `(A b c d)` becomes `(A b (c d))`.

    A unary chain becomes its topmost node. New nodes have the label None. This cannot be undone,
    unlike `to_binary`.

    `leaves`: for each leaf, in order, the words that replace it. Several words become a
    right-branching phrase. A leaf without words is removed, as is every phrase that is then empty.

    Raises TreeError for a tree with words at inner nodes, for a wrong number of `leaves`, and if no
    word remains.
    """
    check_constituency(tree)
    groups = [(word,) for word in tree.words] if leaves is None else leaves
    if len(groups) != len(tree.words):
        expected = f"expected a group of words for each of the {len(tree.words)} leaves"
        mend = "use an empty group to remove a leaf"
        raise TreeError(f"{expected}, found {len(groups)}; {mend}")
    rest = iter(groups)
    parts = [0] * len(tree)  # number of words, or non-empty children, of each node
    steps: list[int] = []
    labels: list[str | None] = []
    nodes = zip(tree.parents.tolist(), tree.tokens, tree.labels, strict=True)
    for node, (parent, word, label) in enumerate(nodes):
        if word is not None:
            parts[node] = len(next(rest))
            steps += [SHIFT] * parts[node]
            labels += [None] * parts[node]
        if not parts[node]:
            continue
        # The parts are on top of the stack: reducing the top two repeatedly branches to the right.
        steps += [REDUCE] * (parts[node] - 1)
        labels += [None] * (parts[node] - 1)
        labels[-1] = label
        if parent >= 0:
            parts[parent] += 1
    if not steps:
        raise TreeError(
            "expected at least one word, found only empty groups; skip this tree instead"
        )
    words = [word for group in groups for word in group]
    return Tree.from_transitions(np.array(steps, np.int8), words, labels)


def to_binary(tree: Tree, *, branching: Branching = "right", heads: Heads | None = None) -> Tree:
    """Binarize a constituency tree so that `from_binary` can restore it.

    The label of an added node is `@` and the label of its phrase. A unary chain becomes one node,
    its labels joined by `+` from the top (None as ""). `branching`:

    - "right": right-branching (right-factored, in NLTK's terms): `(A b c d)` becomes `(A b (@A c
      d))`.
    - "left": left-branching (left-factored): `(A (@A b c) d)`.
    - "head": head-outward (Collins 1999). The head child takes the siblings on its right one by
      one, then the siblings on its left: with the head c, `(A b (@A c d))`. `heads` says which
      child is the head; `thinstack.data.trees.head_rules.english_head` knows the Penn Treebank's
      phrases.

    Raises TreeError for a tree with words at inner nodes, for a label that is empty, contains `+`
    or starts with `@`, and if `heads` returns an invalid index. Raises ValueError for another
    `branching`, and for "head" without `heads`.
    """
    check_constituency(tree)
    _check_labels(tree)
    head = _head_children(tree, branching, heads)
    arities, parents = tree.arities.tolist(), tree.parents.tolist()
    taken = [0] * len(tree)  # number of children of each node so far
    steps: list[int] = []
    chains: list[list[str | None]] = []  # labels of each new node, bottom up
    for node, label in enumerate(tree.labels):
        above = parents[node]
        if arities[node] == 0:
            steps.append(SHIFT)
            chains.append([label])
        elif arities[node] == 1:
            chains[-1].append(label)
        else:
            chains[-1] = [label]  # the last REDUCE over its children creates the phrase itself
        if above >= 0 and arities[above] > 1:
            # After the last child, the head with everything to its right is on top of everything to
            # its left.
            last = taken[above] == arities[above] - 1
            count = (taken[above] > head[above]) + (head[above] if last else 0)
            taken[above] += 1
            steps += [REDUCE] * count
            chains += [[ADDED + (tree.labels[above] or "")] for _ in range(count)]
    joined = (
        chain[0] if len(chain) == 1 else CHAIN.join(label or "" for label in reversed(chain))
        for chain in chains
    )
    return Tree.from_transitions(np.array(steps, np.int8), tree.words, joined)


def from_binary(tree: Tree) -> Tree:
    """Undo `to_binary`: remove the added nodes, and restore the unary chains.

    Raises TreeError for a tree with words at inner nodes, and if `@` marks a leaf, the root or a
    part of a chain.
    """
    check_constituency(tree)
    parents: list[int] = []
    tokens: list[str | None] = []
    labels: list[str | None] = []
    orphans: list[int] = []  # nodes without a parent so far
    counts: list[int] = []  # number of orphans in each subtree on the stack
    nodes = zip(tree.arities.tolist(), tree.tokens, tree.labels, strict=True)
    for node, (arity, word, label) in enumerate(nodes):
        added = label is not None and label.startswith(ADDED)
        chain = [] if added else [part or None for part in reversed((label or "").split(CHAIN))]
        inside = arity and node < len(tree) - 1
        if any(part and part.startswith(ADDED) for part in chain) or (added and not inside):
            raise TreeError(
                f"node {node} has the label {label!r}; expected '@' only at nodes inside a "
                "phrase, as to_binary writes them; rename the label"
            )
        counts.append(sum(counts.pop() for _ in range(arity)))
        for part in chain:
            for _ in range(counts.pop()):
                parents[orphans.pop()] = len(parents)
            orphans.append(len(parents))
            counts.append(1)
            parents.append(-1)
            tokens.append(word)
            labels.append(part)
            word = None
    return Tree(parents=np.array(parents), tokens=tuple(tokens), labels=tuple(labels))


def _check_labels(tree: Tree) -> None:
    for node, label in enumerate(tree.labels):
        if label is not None and (not label or CHAIN in label or label.startswith(ADDED)):
            expected = "None, or a non-empty label without '+' that does not start with '@'"
            raise TreeError(
                f"node {node} has the label {label!r}; expected {expected}, because "
                "binarization uses such labels; rename it"
            )


def _head_children(tree: Tree, branching: Branching, heads: Heads | None) -> list[int]:
    """Return the child of each node where binarization starts; 0 with fewer than two children."""
    if branching not in ("right", "left", "head"):
        raise ValueError(f"branching must be 'right', 'left' or 'head'; found {branching!r}")
    if branching == "right":
        return [max(count - 1, 0) for count in tree.arities.tolist()]
    places = [0] * len(tree)
    if branching == "left":
        return places
    if heads is None:
        raise ValueError("branching 'head' needs heads, such as head_rules.english_head")
    for node, children in enumerate(tree.children):
        if len(children) > 1:
            place = heads(tree.labels[node], [tree.labels[child] for child in children])
            if not 0 <= place < len(children):
                expected = f"expected heads to return a child from 0 to {len(children) - 1}"
                raise TreeError(f"node {node}: {expected}, found {place}; fix heads")
            places[node] = place
    return places
