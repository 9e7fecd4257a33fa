"""Contract checks of a cell over trees: the executors against the recursion, and a tree against its
neighbours."""

import numpy as np
import torch
from torch import Tensor

from thinstack.core import Forest
from thinstack.core.cell import Cell
from thinstack.core.depth_ordered import DepthOrdered, in_node_order
from thinstack.core.top_down import TopDown
from thinstack.errors import needs_extra
from thinstack.testing import reference
from thinstack.testing.forests import (
    apart,
    batch_of,
    by_depth,
    by_recursion,
    chain,
    random_forest,
    schedule_of,
    star,
)
from thinstack.testing.subject import Subject

__all__ = [
    "chains",
    "inner_inputs_are_read",
    "mixed_forests",
    "neighbours",
    "one_word_trees",
    "stars",
    "top_down",
]

TOLERANCE = 1e-10
LONG, WIDE = 300, 50
MIXED = [(1, 12, 2), (25, 1, 9, 4), (3, 3, 40)]
"""Sizes of the trees of some forests."""


def one_word_trees(subject: Subject) -> None:
    """The executor agrees with the recursion on trees of one word, one of them and several."""
    cell = subject.random_cell()
    for trees in (1, 3):
        _agree(
            cell,
            random_forest([1] * trees, arity=cell.arity, kinds=1, seed=0),
            f"{trees} trees of one word",
        )


def chains(subject: Subject) -> None:
    """The executor agrees with the recursion on a tree of depth 300."""
    cell = subject.random_cell()
    forest = chain(LONG, arity=cell.arity, kinds=subject.edge_types(cell))
    _agree(cell, forest, f"a chain of {LONG} nodes")


def stars(subject: Subject) -> None:
    """The executor agrees with the recursion on a node with 50 children, or as many as the cell
    takes."""
    cell = subject.random_cell()
    children = cell.arity or WIDE
    _agree(cell, star(children, kinds=subject.edge_types(cell)), f"a node with {children} children")


def mixed_forests(subject: Subject) -> None:
    """The executor agrees with the recursion on random trees of many sizes together, with children
    missing."""
    cell = subject.random_cell()
    for seed, sizes in enumerate(MIXED):
        forest = random_forest(sizes, arity=cell.arity, kinds=subject.edge_types(cell), seed=seed)
        _agree(cell, forest, f"trees of {', '.join(map(str, sizes))} nodes")


def _agree(cell: Cell, forest: Forest, what: str) -> None:
    batch = batch_of(cell, forest)
    expected = by_recursion(cell, batch.copied())
    found = by_depth(DepthOrdered(cell), cell, batch.copied())
    with torch.no_grad():
        without = by_depth(DepthOrdered(cell), cell, batch.copied())
    for name, outputs in (("", found), (" without gradients", without)):
        if (difference := apart(outputs, expected)) > TOLERANCE:
            raise AssertionError(
                f"on {what} the outputs of nodes computed depth by depth{name} differ by "
                f"{difference:.2g} from the same nodes computed one by one. compose must treat "
                "every row by itself, take each child from its place (`links.owner`, or dimension "
                "1), and keep nothing between two calls; where rows_are_independent fails too, "
                "mend that first"
            )


def top_down(subject: Subject) -> None:
    """A cell of one child or any number that reads an input at every node can also run from the
    roots down.

    The executor is compared with the recursion over the path from the root to each node.
    """
    cell = subject.random_cell()
    if cell.arity > 1 or cell.inner_size != cell.input_size:
        return
    for seed, sizes in enumerate([(1,), (12, 1, 7)]):
        forest = random_forest(sizes, arity=max(2, subject.edge_types(cell)), kinds=1, seed=seed)
        if subject.edge_types(cell) == 1:
            forest.slots[:] = 0
        inputs = torch.randn(
            sum(sizes),
            cell.input_size,
            generator=torch.Generator().manual_seed(seed),
            dtype=torch.float64,
        )
        schedule = schedule_of(forest, 0)
        rows = torch.cat([schedule.leaves, schedule.inner])
        found = in_node_order(TopDown(cell)(inputs[rows], schedule), schedule)
        expected = torch.cat(
            [_along_path(cell, forest, inputs, node) for node in range(len(inputs))]
        )
        if (difference := apart([found], [expected])) > TOLERANCE:
            raise AssertionError(
                f"from the root down, outputs differ by {difference:.2g} from those along the path "
                "to each node. There a node's one child is its parent, the kind of the link tells "
                "which child it is, and the root is a leaf: compose must treat every row by itself"
            )


def _along_path(cell: Cell, forest: Forest, inputs: Tensor, node: int) -> Tensor:
    """Output (1, H) of a node: that of the end of a chain whose leaf is the root."""
    path = [node]
    while forest.parents[path[-1]] >= 0:
        path.append(int(forest.parents[path[-1]]))
    path.reverse()
    size = len(path)
    parents = np.array([*range(1, size), -1])
    kinds = np.append(forest.slots[path[1:]] + 1, 1)
    line = Forest(
        parents=parents, slots=np.zeros(size, np.int64), kinds=kinds, sizes=np.array([size])
    )
    return cell.output(reference.encode(cell, line, inputs[path[:1]], inputs[path[1:]])[-1])


def inner_inputs_are_read(subject: Subject) -> None:
    """A cell that says that it reads an input at inner nodes does."""
    cell = subject.random_cell()
    if cell.inner_size == 0:
        return
    forest = random_forest([6], arity=cell.arity, kinds=subject.edge_types(cell), seed=0)
    batch = batch_of(cell, forest)
    for column in range(cell.inner_size):
        other = batch.copied()
        other.inner[:, column] += 1
        found, expected = (
            by_depth(DepthOrdered(cell), cell, each)[1] for each in (other, batch.copied())
        )
        if apart([found], [expected]) == 0:
            raise AssertionError(
                f"column {column} of the inputs of inner nodes changes nothing, though inner_size "
                f"is {cell.inner_size}; let compose read `inputs`, or leave inner_size at 0 and "
                "`inner_size` out of the arguments of __init__"
            )


def neighbours(subject: Subject) -> None:
    """A tree has the same outputs alone and in any batch: hypothesis draws as many batches as
    `examples` says.

    Raises MissingExtraError without hypothesis.
    """
    with needs_extra("testing"):
        from hypothesis import HealthCheck, given, settings
        from hypothesis import strategies as st
    cell = subject.random_cell()
    run = DepthOrdered(cell)
    kinds = subject.edge_types(cell)

    @settings(
        max_examples=subject.examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        sizes=st.lists(st.integers(1, 7), min_size=2, max_size=5),
        own=st.integers(0, 4),
        seed=st.integers(0, 2**31),
    )
    def alike(sizes: list[int], own: int, seed: int) -> None:
        own %= len(sizes)
        forest = random_forest(sizes, arity=cell.arity, kinds=kinds, seed=seed)
        batch = batch_of(cell, forest, seed)
        start, stop = sum(sizes[:own]), sum(sizes[: own + 1])
        with torch.no_grad():
            together = by_depth(run, cell, batch.copied())
            alone = by_depth(run, cell, batch.tree(start, stop))
        difference = apart([alone[0]], [together[0][start:stop]])
        if difference > TOLERANCE:
            raise AssertionError(
                f"a tree of {sizes[own]} nodes has outputs that differ by {difference:.2g} alone "
                f"and in a batch of trees of {sizes} nodes. leaf, compose and output must treat "
                "every row by itself; where rows_are_independent fails too, mend that first"
            )

    alike()
