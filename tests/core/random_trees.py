"""Random trees as nested lists, and what recursion says of their nodes."""

from typing import NamedTuple

from hypothesis import strategies as st

from thinstack.core import Tree

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
