"""The order in which a forest is computed: by depth, deepest first, all roots last.

Every child of a node at depth d stands at depth d + 1, so a step needs only the step before it and
the leaves of that depth. The whole schedule is a handful of vectorised torch operations on flat
arrays; nothing is done node by node.
"""

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = [
    "Schedule",
    "child_rows",
    "root_rows",
    "schedule_lengths",
    "schedule_parents",
    "schedule_transitions",
]


class Schedule(NamedTuple):
    """Index tensors (int64) of one forest of N nodes in B trees, with L leaves and I = N - L inner
    nodes.

    Steps go from the deepest depth D to 0. Within a step inner nodes come before leaves, each by
    position. *Stacked order* is all leaves by step, then all inner nodes by step.

    Attributes:
        leaves: (L,) positions of the leaves in stacked order.
        inner: (I,) positions of the inner nodes in stacked order.
        leaf_words: (L,) the place of each stacked leaf among the leaves, counted by position.
        leaf_counts: (D + 1,) leaves of each step.
        inner_counts: (D + 1,) inner nodes of each step; the first is 0.
        children: (I, arity) 1 + row of each child in the pool of the step below, 0 where there is
            none; arity 0: (I, 0).
        child_kinds: (I, arity) edge type of each child, 0 where there is none.
        owners: (N,) by step: the row of the parent among the inner nodes of the next step (roots:
            0).
        kinds: (N,) by step: the type of the edge to the parent.
        slots: (N,) by step: which child of its parent a node is, from 0.
        places: (N,) by step: owner * arity + slot, the inverse of `children`.
        rows: (N,) by step: the stacked row.
        roots: (B,) rows of the roots in the last step.
        stacked: (N,) the stacked row of each node.
    """

    leaves: Tensor
    inner: Tensor
    leaf_words: Tensor
    leaf_counts: Tensor
    inner_counts: Tensor
    children: Tensor
    child_kinds: Tensor
    owners: Tensor
    kinds: Tensor
    slots: Tensor
    places: Tensor
    rows: Tensor
    roots: Tensor
    stacked: Tensor


def schedule_transitions(transitions: Tensor) -> Schedule:
    """Schedule of binary trees from valid transitions (N,), 0 SHIFT and 1 REDUCE; the left child is
    slot 0."""
    steps = transitions.long()
    position = torch.arange(steps.shape[0], device=steps.device)
    # A REDUCE's left child is the last earlier node at the stack depth it leaves behind: its
    # neighbour when sorted by depth.
    order = torch.argsort(torch.cumsum(1 - 2 * steps, 0), stable=True)
    before = torch.zeros_like(position).index_copy(0, order[1:], order[:-1])
    reduces = steps.nonzero().squeeze(1)
    parents = (
        torch.full_like(position, -1)
        .index_copy(0, before[reduces], reduces)
        .index_copy(0, reduces - 1, reduces)
    )
    slots = torch.zeros_like(position).index_fill(0, reduces - 1, 1)
    return schedule_parents(parents, slots, torch.ones_like(position), 2)


def schedule_lengths(lengths: Tensor) -> Schedule:
    """Schedule of sentences as chains, from the number >= 1 of words (B,) of each: a word's one
    child is the word before it."""
    ends = torch.cumsum(lengths.long(), 0) - 1
    words = int(lengths.sum())
    parents = torch.arange(1, words + 1, device=lengths.device).index_fill(0, ends, -1)
    return schedule_parents(parents, torch.zeros_like(parents), torch.ones_like(parents), 1)


def schedule_parents(parents: Tensor, slots: Tensor, kinds: Tensor, arity: int) -> Schedule:
    """Schedule of a forest from the position of each node's parent (N,), -1 for a root.

    Args:
        parents: (N,) int64. Raises ValueError if they hold a cycle.
        slots: (N,) int64, which child of its parent a node is, below `arity`; not looked at when
            `arity` is 0.
        kinds: (N,) int64 >= 1, the type of the edge to the parent.
        arity: number of children of an inner node, 0 for any number.
    """
    nodes = parents.shape[0]
    position = torch.arange(nodes, device=parents.device)
    depth, top = _depths(parents)
    child = (parents >= 0).nonzero().squeeze(1)
    parent_of = parents.index_select(0, child)
    inner = torch.zeros_like(position).index_fill(0, parent_of, 1)
    step = top - depth
    group = 2 * step + (1 - inner)
    order = torch.argsort(group, stable=True)
    counts = torch.zeros([2 * top + 2], dtype=torch.long, device=parents.device).index_add(
        0, group, torch.ones_like(group)
    )
    inner_counts, leaf_counts = counts.view(-1, 2).unbind(1)
    level_start = torch.cumsum(inner_counts + leaf_counts, 0) - (inner_counts + leaf_counts)
    rank = torch.empty_like(position).index_copy(0, order, position)
    row = rank - level_start.index_select(0, step)

    is_inner = inner.index_select(0, order) > 0
    leaf_ids, inner_ids = order[~is_inner], order[is_inner]
    stacked = torch.empty_like(position).index_copy(0, torch.cat([leaf_ids, inner_ids]), position)
    words = torch.cumsum(1 - inner, 0) - 1
    owner = torch.zeros_like(position).index_copy(0, child, row.index_select(0, parent_of))
    place = owner * arity + slots
    flat = parent_of * arity + slots.index_select(0, child) if arity > 0 else child[:0]
    table = torch.zeros([nodes * arity], dtype=torch.long, device=parents.device)
    used = child if arity > 0 else child[:0]
    rows = table.index_copy(0, flat, row.index_select(0, used) + 1).view(nodes, arity)
    types = table.index_copy(0, flat, kinds.index_select(0, used)).view(nodes, arity)
    return Schedule(
        leaves=leaf_ids,
        inner=inner_ids,
        leaf_words=words.index_select(0, leaf_ids),
        leaf_counts=leaf_counts,
        inner_counts=inner_counts,
        children=rows.index_select(0, inner_ids),
        child_kinds=types.index_select(0, inner_ids),
        owners=owner.index_select(0, order),
        kinds=kinds.index_select(0, order),
        slots=slots.index_select(0, order),
        places=place.index_select(0, order),
        rows=stacked.index_select(0, order),
        roots=row[parents < 0],
        stacked=stacked,
    )


def root_rows(schedule: Schedule) -> Tensor:
    """Stacked rows (B,) of the roots, in the order of their trees."""
    first = schedule.rows.shape[0] - schedule.roots.shape[0]
    return schedule.rows[first:].index_select(0, schedule.roots)


def child_rows(schedule: Schedule) -> Tensor:
    """Stacked rows (I, arity) of the children of the inner nodes, in stacked order; no child may be
    missing."""
    sizes = schedule.leaf_counts + schedule.inner_counts
    below = torch.repeat_interleave(
        (torch.cumsum(sizes, 0) - sizes)[:-1], schedule.inner_counts[1:]
    )
    places = below.unsqueeze(1) + schedule.children - 1
    return schedule.rows.index_select(0, places.flatten()).view(places.shape)


def _depths(parents: Tensor) -> tuple[Tensor, int]:
    """Distance of each node from its root (N,), and the greatest, by pointer jumping in log2(depth)
    rounds."""
    ancestor = torch.where(
        parents < 0, torch.arange(parents.shape[0], device=parents.device), parents
    )
    depth = (parents >= 0).long()
    for _ in range(64):
        further = ancestor.index_select(0, ancestor)
        if torch.equal(further, ancestor):
            break
        depth = depth + depth.index_select(0, ancestor)
        ancestor = further
    if bool((parents.index_select(0, ancestor) >= 0).any()):
        raise ValueError("parents hold a cycle; expected the parents of trees")
    return depth, int(depth.max()) if depth.shape[0] > 0 else 0
