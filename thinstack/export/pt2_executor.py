"""The depth-ordered executor for `torch.export`, which would unroll a Python loop and forget that
it was one.

Each loop is a `while_loop` over steps. As in the thin stack (Bowman et al. 2016, Algorithm 1) a
table has a row for every node and is written in place; a step takes as many rows as it has nodes, a
number that is known only while it runs. Unlike the executor of `thinstack.core`, all is in node
order.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch._higher_order_ops.while_loop import while_loop_op
from torch.func import functional_call
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from thinstack.core.cell import Cell, Links
from thinstack.errors import ExportError

__all__ = [
    "Forest",
    "bottom_up",
    "child_table",
    "forest_of",
    "loop",
    "named",
    "of_any_size",
    "parents_of",
    "require",
    "size_of",
    "top_down",
    "weights_of",
]


class Forest(NamedTuple):
    """Index tensors (int64) of a forest of N nodes.

    Attributes:
        parents: (N,) position of each node's parent, -1 for a root.
        slots: (N,) which child of its parent a node is, from 0.
        kinds: (N,) type of the edge to the parent.
        leaves: (L,) positions of the leaves.
        inner: (N - L,) positions of the other nodes.
        roots: (B,) positions of the roots.
        order: (N,) positions by depth, that of a root being 0, with inner nodes before leaves.
        counts: (N + 1, 2) inner nodes and leaves of each depth.
        firsts: (N + 1, 2) where in `order` they start.
        ranks: (N,) the place of each node among those of its depth.
        top: () the greatest depth.
    """

    parents: Tensor
    slots: Tensor
    kinds: Tensor
    leaves: Tensor
    inner: Tensor
    roots: Tensor
    order: Tensor
    counts: Tensor
    firsts: Tensor
    ranks: Tensor
    top: Tensor


@contextmanager
def named(part: str) -> Iterator[None]:
    """Raise ExportError that says that this part, which a plugin may have written, cannot be
    exported, and why."""
    try:
        yield
    except Exception as error:  # of any kind: torch's tracer runs the part's own code
        reason = (
            f"{type(error).__name__}: {(str(error).strip() or 'no message').splitlines()[0]:.300}"
        )
        if isinstance(error, GuardOnDataDependentSymNode):
            reason = (
                "its Python code depends on the values of a tensor or on the number of rows; use "
                "tensor operations"
            )
        raise ExportError(f"{part} cannot be exported to .pt2: {reason}") from error


def require(condition: Tensor, message: str) -> None:
    """Let the exported program raise RuntimeError with this message unless `condition` () is
    true."""
    torch.ops.aten._assert_async.msg(condition, message)


def size_of(count: Tensor) -> int:
    """The number () as the size of a tensor, of which torch knows no more than that it is none
    below 0."""
    size: Any = count.item()
    torch._check(size >= 0)  # type: ignore[no-untyped-call]
    found: int = size
    return found


def of_any_size(values: Tensor) -> Tensor:
    """A copy of `values` with a number of rows of which torch knows nothing.

    It takes the size of an example for typical, and what asks for more than so many rows for a
    condition on the whole program; of a number like this nobody can ask that, and the part that
    does is found out.
    """
    return values.index_select(
        0, torch.arange(size_of(torch.scalar_tensor(values.shape[0], dtype=torch.long)))
    )


def loop(
    body: nn.Module, steps: Tensor, read: tuple[Tensor, ...], written: tuple[Tensor, ...]
) -> None:
    """Call `body(step, *read, *written)` for each step () from 0 to steps - 1. It writes to the
    last ones in place."""
    weights = weights_of(body)
    given = len(read) + len(written)

    def goes_on(step: Tensor, steps: Tensor, *rest: Tensor) -> Tensor:
        return step < steps

    def once(step: Tensor, steps: Tensor, *rest: Tensor) -> tuple[Tensor]:
        # A loop's body sees its arguments only, so that weights are given to it too.
        own = dict(zip(weights, rest[given:], strict=True))
        functional_call(body, own, (step, *rest[:given]), tie_weights=False)
        return (step + 1,)

    mutated = ",".join(str(2 + len(read) + k) for k in range(len(written)))
    more = (steps, *read, *written, *weights.values())
    (done,) = while_loop_op(
        goes_on, once, (torch.zeros_like(steps),), more, mutated_arg_indices=mutated
    )
    # A graph drops what has no reader, and nothing else reads what this gives.
    require(done >= steps, "the loop over the nodes ended early")


def weights_of(module: nn.Module) -> dict[str, Tensor]:
    """All parameters and buffers by name; those of a module that is part of several others once."""
    found: dict[str, Tensor] = {}
    for path, part in module.named_modules():
        own = (
            *part.named_parameters(path, recurse=False),
            *part.named_buffers(path, recurse=False),
        )
        found.update(own)
    return found


def parents_of(transitions: Tensor) -> tuple[Tensor, Tensor]:
    """Parents (N,) and slots (N,) of binary trees from transitions (N,), 0 SHIFT and 1 REDUCE.

    The program raises RuntimeError for transitions that make no trees.
    """
    nodes = transitions.shape[0]
    position, height = torch.arange(nodes), torch.cumsum(1 - 2 * transitions, 0)
    known = (transitions == 0) | (transitions == 1)
    require(
        (known & (height > 0)).all(),
        "transitions must be 0 (SHIFT) or 1 (REDUCE) and make whole trees",
    )
    # A REDUCE's left child is the last earlier node at the stack depth it leaves behind: its
    # neighbour when sorted by depth.
    order = torch.argsort(height, stable=True)
    before = torch.zeros_like(position).index_copy(
        0, order, order.index_select(0, (position - 1).clamp(min=0))
    )
    reduces = transitions > 0
    left, right = (torch.where(reduces, child, nodes) for child in (before, position - 1))
    parents = (
        torch.full([nodes + 1], -1).index_copy(0, left, position).index_copy(0, right, position)
    )
    slots = torch.zeros([nodes + 1], dtype=torch.long).index_fill(0, right, 1)
    return parents[:nodes], slots[:nodes]


def forest_of(parents: Tensor, slots: Tensor, kinds: Tensor) -> Forest:
    """The forest of these, (N,) each. The program raises RuntimeError if `parents` hold a cycle."""
    nodes = parents.shape[0]
    position = torch.arange(nodes)
    depth, top = _depths(parents)
    is_inner = torch.zeros([nodes + 1], dtype=torch.long).index_fill(
        0, torch.where(parents < 0, nodes, parents), 1
    )[:nodes]
    group = 2 * depth + 1 - is_inner
    order = torch.argsort(group, stable=True)
    counts = torch.zeros([2 * nodes + 2], dtype=torch.long).index_add(
        0, group, torch.ones_like(group)
    )
    firsts = torch.cumsum(counts, 0) - counts
    ranks = torch.zeros_like(position).index_copy(0, order, position) - firsts.index_select(
        0, 2 * depth
    )
    leaves, inner, roots = (
        mask.nonzero().squeeze(1) for mask in (is_inner < 1, is_inner > 0, parents < 0)
    )
    return Forest(
        parents,
        slots,
        kinds,
        leaves,
        inner,
        roots,
        order,
        counts.view(-1, 2),
        firsts.view(-1, 2),
        ranks,
        top,
    )


def child_table(forest: Forest, arity: int) -> tuple[Tensor, Tensor]:
    """Of each node (N, arity) 1 + the positions of its children, 0 where there is none, and the
    types of their edges."""
    nodes = forest.parents.shape[0]
    require(
        ((forest.slots >= 0) & (forest.slots < arity)).all(), f"slots must be from 0 to {arity - 1}"
    )
    place = torch.where(forest.parents < 0, nodes * arity, forest.parents * arity + forest.slots)
    table = torch.zeros([nodes * arity + 1], dtype=torch.long)
    children = table.index_copy(0, place, 1 + torch.arange(nodes))
    kinds = table.index_copy(0, place, forest.kinds)
    return children[: nodes * arity].view(nodes, arity), kinds[: nodes * arity].view(nodes, arity)


def bottom_up(
    cell: Cell, leaf_inputs: Tensor, inner_inputs: Tensor, forest: Forest
) -> list[Tensor]:
    """States of all nodes, each part (N, width), from inputs of the leaves (L, X) and of nodes (N,
    inner_size)."""
    with named(f"{type(cell).__name__}.leaf"):
        states = cell.leaf(leaf_inputs)
    nodes = forest.parents.shape[0]
    # Row 0 stands for absent children.
    tables = tuple(
        part.new_zeros([1 + nodes, part.shape[1]]).index_copy(0, 1 + forest.leaves, part)
        for part in states
    )
    children = child_table(forest, cell.arity) if cell.arity > 0 else ()
    loop(_Compose(cell), forest.top, (*forest, inner_inputs, *children), tables)
    return [table[1:] for table in tables]


def top_down(cell: Cell, inputs: Tensor, forest: Forest) -> list[Tensor]:
    """States of all nodes, each part (N, width), from inputs (N, X), each node's one child being
    its parent."""
    with named(f"{type(cell).__name__}.leaf"):
        states = cell.leaf(inputs.index_select(0, forest.roots))
    nodes = forest.parents.shape[0]
    tables = tuple(
        part.new_zeros([nodes, part.shape[1]]).index_copy(0, forest.roots, part) for part in states
    )
    loop(_Descend(cell), forest.top, (*forest, inputs), tables)
    return list(tables)


class _Compose(nn.Module):
    """The inner nodes of one depth, deepest first."""

    def __init__(self, cell: Cell):
        super().__init__()
        self.cell = cell

    def forward(self, step: Tensor, *given: Tensor) -> None:
        forest, (inputs, *rest) = (
            Forest(*given[: len(Forest._fields)]),
            given[len(Forest._fields) :],
        )
        depth, arity = forest.top - 1 - step, self.cell.arity
        inner = _some_of(forest, forest.counts[:, 0].take(depth), depth)
        if arity > 0:
            children, kinds, *tables = rest
            index, links = (
                children.index_select(0, inner).flatten(),
                Links(inner[:0], kinds.index_select(0, inner)),
            )
            pool = [
                table.index_select(0, index).view(inner.shape[0], arity, table.shape[1])
                for table in tables
            ]
        else:
            tables, below = rest, _all_of(forest, depth + 1)
            owners = forest.ranks.index_select(0, forest.parents.index_select(0, below))
            links = Links(owners, forest.kinds.index_select(0, below))
            pool = [table.index_select(0, 1 + below) for table in tables]
        with named(f"{type(self.cell).__name__}.compose"):
            states = self.cell.compose(inputs.index_select(0, inner), pool, links)
        for table, part in zip(tables, states, strict=True):
            table.index_copy_(0, 1 + inner, part)


class _Descend(nn.Module):
    """The nodes of one depth, from their parents."""

    def __init__(self, cell: Cell):
        super().__init__()
        self.cell = cell

    def forward(self, step: Tensor, *given: Tensor) -> None:
        forest, (inputs, *tables) = (
            Forest(*given[: len(Forest._fields)]),
            given[len(Forest._fields) :],
        )
        nodes = _all_of(forest, step + 1)
        parents, sides = (
            forest.parents.index_select(0, nodes),
            1 + forest.slots.index_select(0, nodes),
        )
        above = [table.index_select(0, parents) for table in tables]
        if self.cell.arity > 0:
            above, links = (
                [part.unsqueeze(1) for part in above],
                Links(nodes[:0], sides.unsqueeze(1)),
            )
        else:
            links = Links(torch.arange(nodes.shape[0]), sides)
        with named(f"{type(self.cell).__name__}.compose"):
            states = self.cell.compose(inputs.index_select(0, nodes), above, links)
        for table, part in zip(tables, states, strict=True):
            table.index_copy_(0, nodes, part)


class _Double(nn.Module):
    """A round of pointer jumping."""

    def forward(self, step: Tensor, ancestors: Tensor, depth: Tensor) -> None:
        depth.add_(depth.index_select(0, ancestors))
        ancestors.copy_(ancestors.index_select(0, ancestors))


def _depths(parents: Tensor) -> tuple[Tensor, Tensor]:
    """Distance of each node from its root (N,), and the greatest ()."""
    nodes = parents.shape[0]
    ancestors = torch.where(parents < 0, torch.arange(nodes), parents)
    depth = (parents >= 0).long()
    rounds = torch.scalar_tensor(nodes + 1, dtype=torch.float64).log2().ceil().long()
    loop(_Double(), rounds, (), (ancestors, depth))
    require(
        (parents.index_select(0, ancestors) < 0).all(),
        "parents hold a cycle; expected the parents of trees",
    )
    return depth, torch.cat([depth, torch.zeros([1], dtype=torch.long)]).max()


def _all_of(forest: Forest, depth: Tensor) -> Tensor:
    """Positions of all nodes of one depth ()."""
    return _some_of(forest, forest.counts.sum(1).take(depth), depth)


def _some_of(forest: Forest, count: Tensor, depth: Tensor) -> Tensor:
    """Positions of the first `count` () nodes of one depth ()."""
    return forest.order.index_select(
        0, forest.firsts[:, 0].take(depth) + torch.arange(size_of(count))
    )
