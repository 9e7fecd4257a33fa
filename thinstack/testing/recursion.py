"""The slow, obvious recursion that every executor is tested against: one node at a time. It is
never optimised."""

import numpy as np
import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links
from thinstack.core.forest import Forest


def encode(
    cell: Cell, forest: Forest, leaf_inputs: Tensor, inner_inputs: Tensor | None = None
) -> list[list[Tensor]]:
    """State of each node of the forest, a list of parts (1, width) a node, computed from the
    equations of `cell.compose`.

    Args:
        leaf_inputs: (L, X), leaves in node order.
        inner_inputs: (I, inner_size), inner nodes in node order; not needed when `inner_size` is 0.
    """
    if inner_inputs is None:
        inner_inputs = leaf_inputs.new_zeros([len(forest.parents), 0])
    below = _children(forest)
    is_leaf = [not children for children in below]
    states: dict[int, list[Tensor]] = {}

    def visit(node: int) -> list[Tensor]:
        if is_leaf[node]:
            row = sum(is_leaf[:node])
            states[node] = cell.leaf(leaf_inputs[row : row + 1])
        else:
            row = node - sum(is_leaf[:node])
            children = [visit(child) for child in below[node]]
            slots, kinds = forest.slots[below[node]].tolist(), forest.kinds[below[node]].tolist()
            states[node] = compose_node(cell, inner_inputs[row : row + 1], children, slots, kinds)
        return states[node]

    for root in np.flatnonzero(forest.parents < 0):
        visit(int(root))
    return [states[node] for node in range(len(forest.parents))]


def encode_top_down(cell: Cell, forest: Forest, inputs: Tensor) -> list[list[Tensor]]:
    """State of each node of the forest from the roots down: a root is a leaf of the cell, any other
    node composes its parent.

    The kind of that one link says which child of its parent a node is, counted from 1. States are
    as `encode` gives them.

    Args:
        cell: of arity 1 or 0.
        inputs: (N, X) of all nodes, in node order.
    """
    below = _children(forest)
    states: dict[int, list[Tensor]] = {}

    def visit(node: int, state: list[Tensor]) -> None:
        states[node] = state
        for child in below[node]:
            x, kind = inputs[child : child + 1], 1 + int(forest.slots[child])
            visit(child, compose_node(cell, x, [state], [0], [kind]))

    for root in np.flatnonzero(forest.parents < 0):
        visit(int(root), cell.leaf(inputs[root : root + 1]))
    return [states[node] for node in range(len(forest.parents))]


def _children(forest: Forest) -> list[list[int]]:
    return [np.flatnonzero(forest.parents == node).tolist() for node in range(len(forest.parents))]


def compose_node(
    cell: Cell, inputs: Tensor, children: list[list[Tensor]], slots: list[int], kinds: list[int]
) -> list[Tensor]:
    """The state of one node: its inputs (1, inner_size), and of each child the state, slot and
    kind."""
    parts = range(len(cell.state_sizes))
    if cell.arity == 0:
        owner = torch.zeros(len(children), dtype=torch.long)
        joined = [torch.cat([child[k] for child in children]) for k in parts]
        return cell.compose(inputs, joined, Links(owner, torch.tensor(kinds)))
    kind = torch.zeros(1, cell.arity, dtype=torch.long)
    placed = [inputs.new_zeros(1, cell.arity, width) for width in cell.state_sizes]
    for child, slot, kind_of in zip(children, slots, kinds, strict=True):
        kind[0, slot] = kind_of
        for k in parts:
            placed[k][0, slot] = child[k][0]
    return cell.compose(inputs, placed, Links(kind[0, :0], kind))
