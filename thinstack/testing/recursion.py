"""The slow, obvious recursion that every executor is tested against: one node at a time. It is
never optimised."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links
from thinstack.core.forest import Forest
from thinstack.core.transitions import REDUCE, SHIFT
from thinstack.plugins.encoders.spinn.tracking_lstm import TrackingLSTM


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
            states[node] = _compose(cell, inner_inputs[row : row + 1], children, slots, kinds)
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
            visit(child, _compose(cell, x, [state], [0], [kind]))

    for root in np.flatnonzero(forest.parents < 0):
        visit(int(root), cell.leaf(inputs[root : root + 1]))
    return [states[node] for node in range(len(forest.parents))]


class SpinnNodes(NamedTuple):
    """What `encode_spinn` finds, one entry a node, in node order.

    Attributes:
        states: as `encode` gives them.
        transitions: that made the nodes.
        choices: scores of SHIFT and REDUCE (1, 2) before each of them; (1, 0) without a classifier.
        free: whether both were possible.
    """

    states: list[list[Tensor]]
    transitions: list[int]
    choices: list[Tensor]
    free: list[bool]


def encode_spinn(
    cell: Cell,
    tracker: TrackingLSTM,
    words: Tensor,
    lengths: Tensor,
    transitions: Tensor | None = None,
) -> SpinnNodes:
    """SPINN as Bowman et al. 2016 tell it in 3.1-3.4: a stack and a buffer for each sentence, one
    transition after the other.

    Args:
        cell: of arity 2, or 0, any number; its `inner_size` is that of the tracking LSTM, whose h
            is then its e, or 0.
        words: (L, X) of all sentences; lengths: (B,), how many are each one's.
        transitions: (N,); without them the likelier transition is taken wherever both are possible,
            SHIFT on a tie.
    """
    nodes = SpinnNodes([], [], [], [])
    for sentence in torch.split(words, lengths.tolist()):
        stack: list[list[Tensor]] = []
        buffer = [cell.leaf(word) for word in torch.split(sentence, 1)]
        hidden = memory = words.new_zeros([1, tracker.size])
        for _ in range(2 * len(sentence) - 1):
            hidden, memory = _track(cell, tracker, stack, buffer, hidden, memory)
            scores = hidden @ tracker.w_transition + tracker.b_transition
            free = len(buffer) > 0 and len(stack) > 1
            if transitions is not None:
                transition = int(transitions[len(nodes.states)])
            elif free:
                transition = REDUCE if scores[0, REDUCE] > scores[0, SHIFT] else SHIFT
            else:
                transition = SHIFT if buffer else REDUCE
            if transition == SHIFT:
                stack.append(buffer.pop(0))
            else:
                right, left = stack.pop(), stack.pop()
                e = hidden[:, : cell.inner_size]
                stack.append(_compose(cell, e, [left, right], [0, 1], [1, 1]))
            nodes.states.append(stack[-1])
            nodes.transitions.append(transition)
            nodes.choices.append(scores)
            nodes.free.append(free)
    return nodes


def _track(
    cell: Cell,
    tracker: TrackingLSTM,
    stack: list[list[Tensor]],
    buffer: list[list[Tensor]],
    hidden: Tensor,
    memory: Tensor,
) -> tuple[Tensor, Tensor]:
    """Section 3.3: the LSTM reads the top two of the stack, the lower one first, and the next
    words; zeros for what is not there."""
    nothing = hidden.new_zeros([1, cell.hidden_size])
    reads = [nothing, nothing, *map(cell.output, stack)][-2:]
    reads += [*map(cell.output, buffer), *[nothing] * tracker.lookahead][: tracker.lookahead]
    gates = hidden @ tracker.u + tracker.b
    weights = [*tracker.w_stack.chunk(2, 1), *tracker.w_buffer.chunk(tracker.lookahead, 1)]
    for read, weight in zip(reads, weights, strict=True):
        gates = gates + read @ weight
    i, o, f, g = gates.chunk(4, 1)
    memory = f.sigmoid() * memory + i.sigmoid() * g.tanh()
    return o.sigmoid() * memory.tanh(), memory


def _children(forest: Forest) -> list[list[int]]:
    return [np.flatnonzero(forest.parents == node).tolist() for node in range(len(forest.parents))]


def _compose(
    cell: Cell, inputs: Tensor, children: list[list[Tensor]], slots: list[int], kinds: list[int]
) -> list[Tensor]:
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
