"""The slow, obvious SPINN that its executor is tested against: one transition after the other."""

from typing import NamedTuple

import torch
from torch import Tensor

from thinstack.core.transitions import REDUCE, SHIFT
from thinstack.testing.forests import compose_node


class SpinnNodes(NamedTuple):
    """What `encode_spinn` finds, one entry a node, in node order.

    Attributes:
        states: as `thinstack.testing.forests.encode` gives them.
        transitions: that made the nodes.
        choices: scores of SHIFT and REDUCE (1, 2) before each of them; (1, 0) without a classifier.
        free: whether both were possible.
    """

    states: list[list[Tensor]]
    transitions: list[int]
    choices: list[Tensor]
    free: list[bool]


def encode_spinn(cell, tracker, words, lengths, transitions=None):
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
        stack = []
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
                stack.append(compose_node(cell, e, [left, right], [0, 1], [1, 1]))
            nodes.states.append(stack[-1])
            nodes.transitions.append(transition)
            nodes.choices.append(scores)
            nodes.free.append(free)
    return nodes


def _track(cell, tracker, stack, buffer, hidden, memory):
    """Section 3.3: the LSTM reads the top two of the stack, the lower one first, and the next
    words; zeros for what is not there."""
    nothing = hidden.new_zeros([1, cell.hidden_size])
    reads = [nothing, nothing, *map(cell.output, stack)][-2:]
    reads += [*map(cell.output, buffer), *[nothing] * tracker.lookahead][: tracker.lookahead]
    gates = hidden @ tracker.u + tracker.b
    weights = [*tracker.w_stack.chunk(2, 1), *tracker.w_buffer.chunk(tracker.lookahead, 1)]
    for read, weight in zip(reads, weights, strict=True):
        gates = gates + read @ weight
    i, f, o, g = gates.chunk(4, 1)
    memory = f.sigmoid() * memory + i.sigmoid() * g.tanh()
    return o.sigmoid() * memory.tanh(), memory
