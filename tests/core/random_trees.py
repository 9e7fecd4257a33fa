"""Random trees as nested lists, what recursion says of their nodes, and random flat forests."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from thinstack.core import Forest, Tree
from thinstack.core.schedule import Schedule
from thinstack.testing.forests import random_forest, schedule_of

# Anything but ASCII white space and brackets: no-break spaces, quotes, combining marks, emoji.
WORDS = st.text(
    st.characters(exclude_characters=" \t\r\n\f\v()", exclude_categories=["Cs"]),
    min_size=1,
    max_size=3,
)

BINARY = st.recursive(WORDS, lambda below: st.lists(below, min_size=2, max_size=2), max_leaves=9)
"""A word, or a pair of trees."""

ANY = st.recursive(WORDS, lambda below: st.lists(below, min_size=1, max_size=4), max_leaves=9)
"""A word, or one to four trees."""


class Node(NamedTuple):
    """A node of a nested tree."""

    parent: int
    slot: int
    depth: int
    start: int
    end: int
    word: str | None


def nodes_of(tree: str | list) -> list[Node]:
    """All nodes, children before their parent and left before right."""
    nodes: list[Node] = []

    def visit(part: str | list, slot: int, depth: int, start: int) -> Node:
        if isinstance(part, str):
            nodes.append(Node(-1, slot, depth, start, start + 1, part))
            return nodes[-1]
        end, below = start, []
        for rank, child in enumerate(part):
            end = visit(child, rank, depth + 1, end).end
            below.append(len(nodes) - 1)
        for child in below:
            nodes[child] = nodes[child]._replace(parent=len(nodes))
        nodes.append(Node(-1, slot, depth, start, end, None))
        return nodes[-1]

    visit(tree, 0, 0, 0)
    return nodes


def labels_of(tree: str | list) -> list[str]:
    """A label of its own for every node."""
    return [f"L{i}" for i in range(len(nodes_of(tree)))]


def tree_of(tree: str | list) -> Tree:
    """The `Tree`, from its parent array."""
    nodes = nodes_of(tree)
    return Tree.from_parents(
        [node.parent for node in nodes], [node.word for node in nodes], labels_of(tree)
    )


def brackets_of(tree: str | list) -> str:
    """Brackets with the labels of `labels_of`, one space between a label, a word and a child."""
    labels = iter(labels_of(tree))

    def write(part: str | list) -> str:
        inside = part if isinstance(part, str) else " ".join([write(child) for child in part])
        return f"({next(labels)} {inside})"

    return write(tree)


class Edges(NamedTuple):
    """Arguments of `schedule_parents`."""

    parents: list[int]
    slots: list[int]
    kinds: list[int]
    arity: int

    @property
    def forest(self) -> Forest:
        parts = (np.array(part, np.int64) for part in self[:3])
        return Forest(*parts, sizes=np.array([len(self.parents)]))

    @property
    def schedule(self) -> Schedule:
        return schedule_of(self.forest, self.arity)


def _mixed(sizes: list[int], arity: int, seed: int) -> Edges:
    forest = random_forest(sizes, arity=arity, kinds=3, seed=seed)
    place = np.random.default_rng(seed).permutation(len(forest.parents))
    edges = np.zeros([3, len(place)], np.int64)
    edges[:, place] = np.append(place, -1)[forest.parents], forest.slots, forest.kinds
    return Edges(*edges.tolist(), arity)


def forests() -> st.SearchStrategy[Edges]:
    """Forests of any shape, their nodes in any order, trees interleaved; fixed arity leaves slots
    empty."""
    sizes = st.lists(st.integers(1, 8), max_size=3)
    return st.builds(_mixed, sizes, st.integers(0, 3), st.integers(0, 2**31))
