"""The order in which a forest is computed: by depth, deepest first, all roots last.

Every child of a node at depth d is at depth d + 1, so a step needs only the last step and the
leaves of that depth. A few vectorized operations on flat arrays compute the schedule.

Functions without a loop also take `thinstack.export.onnx.value.Value` instead of tensors, to write
ONNX graphs. They read sizes with `x.size(0)`, and use only operations of `Value`.
"""

from typing import NamedTuple, TypeVar

import torch
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function


def arange(end: int, device: torch.device) -> Tensor:
    """Return the numbers (`end`,) from 0 to `end` - 1. In an ONNX graph, `end` is a value, which
    `torch.arange` of torch 2.6 and 2.7 rejects."""
    if not torch.jit.is_scripting() and has_torch_function((end,)):  # type: ignore[attr-defined]
        numbers: Tensor = handle_torch_function(arange, (end,), end, device=device)
        return numbers
    return torch.arange(end, device=device)


def sums_before(values: Tensor) -> Tensor:
    """Return the sum (n,) or (n, k) of the rows before each row. ONNX has one operator for it."""
    if not torch.jit.is_scripting() and has_torch_function((values,)):  # type: ignore[attr-defined]
        sums: Tensor = handle_torch_function(sums_before, (values,), values)
        return sums
    return torch.cumsum(values, 0) - values


class Schedule(NamedTuple):
    """Index tensors (int64) of one forest of N nodes in B trees, with L leaves and I = N - L inner
    nodes.

    Steps go from the deepest depth D to 0. Within a step, inner nodes come before leaves, each by
    position. *Stacked order* is all leaves by step, then all inner nodes by step.
    """

    leaves: Tensor  # (L,) positions of the leaves in stacked order
    inner: Tensor  # (I,) positions of the inner nodes in stacked order
    leaf_words: Tensor  # (L,) the index of each stacked leaf among the leaves by position
    leaf_counts: Tensor  # (D + 1,) leaves of each step
    inner_counts: Tensor  # (D + 1,) inner nodes of each step; the first is 0
    children: Tensor  # (I, arity) 1 + row of each child in the pool of the step below, 0 if missing
    child_kinds: Tensor  # (I, arity) edge type of each child, 0 if missing
    child_nodes: Tensor  # (I, arity) 1 + position of each child, 0 if missing
    owners: Tensor  # (N,) by step: row of the parent among the next step's inner nodes (roots: 0)
    kinds: Tensor  # (N,) by step: the type of the edge to the parent
    slots: Tensor  # (N,) by step: the index among its parent's children, from 0
    rows: Tensor  # (N,) by step: the stacked row
    roots: Tensor  # (B,) positions of the roots
    root_rows: Tensor  # (B,) rows of the roots in the last step
    stacked: Tensor  # (N,) the stacked row of each node


def schedule_transitions(transitions: Tensor) -> Schedule:
    """Return the schedule of binary trees from valid transitions (N,); the left child is slot 0."""
    parents, slots = parents_of_transitions(transitions)
    return schedule_parents(parents, slots, torch.ones_like(parents), 2)


def schedule_lengths(lengths: Tensor) -> Schedule:
    """Return the schedule of chains of lengths (B,) >= 1; a word's child is the one before."""
    parents = parents_of_lengths(lengths, int(lengths.sum()))
    return schedule_parents(parents, torch.zeros_like(parents), torch.ones_like(parents), 1)


def schedule_parents(parents: Tensor, slots: Tensor, kinds: Tensor, arity: int) -> Schedule:
    """Return the schedule of a forest. Raises ValueError for a cycle.

    Args:
        parents: (N,) int64, the position of each node's parent, -1 for a root.
        slots: (N,) int64, the index among its parent's children, below `arity`; not read if `arity`
            is 0.
        kinds: (N,) int64 >= 1, the type of the edge to the parent.
        arity: number of children of an inner node, 0 for any number.
    """
    depth, above = (parents >= 0).long(), or_itself(parents)
    for _ in range(64):
        added, further = jump(depth, above)
        if int(added.sum()) == 0:
            break
        depth, above = depth + added, further
    if bool((parents.index_select(0, above) >= 0).any()):
        raise ValueError("parents contain a cycle; expected trees")
    deepest = int(depth.max()) if depth.shape[0] > 0 else 0
    return schedule_depths(parents, slots, kinds, depth, deepest, arity)


def parents_of_transitions(transitions: Tensor) -> tuple[Tensor, Tensor]:
    """Return the parents (N,), roots -1, and slots (N,), roots 0, of valid transitions (N,)."""
    actions = transitions.long()
    position = arange(actions.size(0), actions.device)
    # A REDUCE's left child is the last earlier node at the stack depth it leaves behind: its
    # neighbor when sorted by depth.
    order = torch.argsort(torch.cumsum(1 - 2 * actions, 0), stable=True)
    before = torch.zeros_like(actions).index_copy(0, order[1:], order[:-1])
    reduces = position.masked_select(actions > 0)
    left, right = before.index_select(0, reduces), reduces - 1
    parents = torch.full_like(actions, -1).index_copy(0, left, reduces)
    slots = torch.zeros_like(actions).index_fill(0, right, 1)
    return parents.index_copy(0, right, reduces), slots


def parents_of_lengths(lengths: Tensor, words: int) -> Tensor:
    """Return the parents (`words`,) of chains of these lengths (B,), which must add up to `words`.
    A word's parent is the next word; the parent of a last word is -1."""
    ends = torch.cumsum(lengths.long(), 0) - 1
    return (arange(words, lengths.device) + 1).index_fill(0, ends, -1)


def jump(depth: Tensor, above: Tensor) -> tuple[Tensor, Tensor]:
    """Run a round of pointer jumping. Returns the increment of each node's distance (N,) from its
    ancestor `above` (N,), and that ancestor's ancestor."""
    return depth.index_select(0, above), above.index_select(0, above)


def schedule_depths(
    parents: Tensor, slots: Tensor, kinds: Tensor, depth: Tensor, deepest: int, arity: int
) -> Schedule:
    """Return `schedule_parents` from each node's `depth` (N,) and the greatest depth."""
    nodes = parents.size(0)
    position = arange(nodes, parents.device)
    is_root = parents < 0
    roots, child = position.masked_select(is_root), position.masked_select(~is_root)
    parent_of = parents.index_select(0, child)
    inner = torch.zeros_like(parents).index_fill(0, parent_of, 1)
    step = deepest - depth
    group = 2 * step + (1 - inner)
    order = torch.argsort(group, stable=True)
    counts = group.new_zeros([2 * deepest + 2]).index_add(0, group, torch.ones_like(group))
    inner_counts, leaf_counts = counts.view(-1, 2).select(1, 0), counts.view(-1, 2).select(1, 1)
    starts = sums_before(counts)
    row = position.index_copy(0, order, position) - starts.index_select(0, 2 * step)

    is_inner = inner.index_select(0, order) > 0
    leaf_ids, inner_ids = order.masked_select(~is_inner), order.masked_select(is_inner)
    stacked = position.index_copy(0, torch.cat([leaf_ids, inner_ids]), position)
    words = torch.cumsum(1 - inner, 0) - 1
    owner = torch.zeros_like(parents).index_copy(0, child, row.index_select(0, parent_of))
    child_nodes = position.new_zeros([nodes * arity])
    if arity > 0:
        flat = parent_of * arity + slots.index_select(0, child)
        child_nodes = child_nodes.index_copy(0, flat, child + 1)
    child_nodes = child_nodes.view([nodes, arity]).index_select(0, inner_ids)
    absent = position.new_zeros([1])
    return Schedule(
        leaves=leaf_ids,
        inner=inner_ids,
        leaf_words=words.index_select(0, leaf_ids),
        leaf_counts=leaf_counts,
        inner_counts=inner_counts,
        children=torch.cat([absent, row + 1]).take(child_nodes),
        child_kinds=torch.cat([absent, kinds]).take(child_nodes),
        child_nodes=child_nodes,
        owners=owner.index_select(0, order),
        kinds=kinds.index_select(0, order),
        slots=slots.index_select(0, order),
        rows=stacked.index_select(0, order),
        roots=roots,
        root_rows=row.index_select(0, roots),
        stacked=stacked,
    )


Plan = TypeVar("Plan", bound=NamedTuple)


def moved(plan: Plan, like: Tensor) -> Plan:
    """Move the int64 tensors of a plan to the device of `like`, by one asynchronous transfer, so
    that an executor starts its steps without waiting. Fields named "..counts" stay on the host.

    TorchScript cannot access fields by name, so its inputs must be on the model's device.
    """
    if plan[0].device == like.device:
        return plan
    there = [name for name in plan._fields if not name.endswith("counts")]
    tensors = [getattr(plan, name) for name in there]
    flat = torch.cat([tensor.flatten() for tensor in tensors]).to(like.device, non_blocking=True)
    parts = torch.split(flat, [tensor.numel() for tensor in tensors])
    shaped = (part.view(tensor.shape) for part, tensor in zip(parts, tensors, strict=True))
    return plan._replace(**dict(zip(there, shaped, strict=True)))


def tree_numbers(nodes: Tensor, roots: Tensor) -> Tensor:
    """Return the tree (N,) of each node, from the roots (B,), which are last in their trees."""
    last = torch.zeros_like(nodes).index_fill(0, roots, 1)
    return sums_before(last)


def or_itself(parents: Tensor) -> Tensor:
    """Return the parent (N,) of each node. A root is its own parent."""
    position = arange(parents.size(0), parents.device)
    return torch.where(parents < 0, position, parents)


def check_transitions(transitions: Tensor) -> None:
    """Raise ValueError unless transitions (N,) are complete binary trees."""
    # In torch, for TorchScript: `core.transitions.first_fault` without the place.
    depth = torch.cumsum(1 - 2 * transitions.long(), 0)
    if bool(((transitions != 0) & (transitions != 1) | (depth < 1)).any()):
        raise ValueError(
            "transitions must be 0 (SHIFT) or 1 (REDUCE), and each REDUCE needs two nodes on the "
            "stack"
        )
