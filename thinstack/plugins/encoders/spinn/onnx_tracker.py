"""The tracking LSTM of `thinstack.plugins.encoders.spinn.tracking_lstm` and its classifier of
transitions, in an ONNX graph."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value
from thinstack.plugins.encoders.spinn.tracking_lstm import TrackingLSTM

__all__ = ["FREE", "REDUCE", "SHIFT", "WAIT", "Buffer", "choose", "read_buffer", "step"]

SHIFT, REDUCE, WAIT, FREE = range(4)
"""What a sentence is told to do at a step. FREE leaves the choice to the tracking LSTM."""


class Buffer(NamedTuple):
    """What the buffers add to the gates. Each sentence has one row for each word, for when that
    word is first in the buffer. A row for the empty buffer follows."""

    gates: Value  # (L + B, 4T), with b
    empty: Value  # (B, 1) the row of the empty buffer; with w words left, the row is w before that


def read_buffer(g: Graph, tracker: TrackingLSTM, outputs: Value, ends: Value) -> Buffer:
    """The buffers of all sentences, from the outputs (L, H) of their words and the word after the
    last word of each sentence, `ends` (B,)."""
    words = outputs.size(0)
    empty = ends + Value.arange(ends.size(0))
    is_empty = ends.new_zeros([words + ends.size(0)]).index_fill(0, empty, 1)
    sentence = is_empty.op("CumSum", 0, exclusive=1)
    position, after = Value.arange(words + ends.size(0)), empty.index_select(0, sentence)
    none = g.zeros(1, tracker.input_size)
    parts, read = Value.cat([outputs, none]), []
    for ahead in range(tracker.lookahead):
        row = position + ahead
        read.append(parts.index_select(0, (row < after).where(row - sentence, words)))
    weight = _weight(g, torch.cat(tracker.w_buffer.chunk(tracker.lookahead, 1)), "w_buffer")
    gates = _weight(g, tracker.b, "b").addmm(Value.cat(read, 1), weight)
    return Buffer(gates, empty.unsqueeze(1))


def step(
    tracker: TrackingLSTM, read: Value, buffer: Value, hidden: Value, memory: Value
) -> tuple[Value, Value]:
    """The next h and c (B, T) of the tracking LSTM.

    Args:
        tracker: the tracking LSTM.
        read: (B, 2H) outputs of the two nodes on top of each stack.
        buffer: (B, 4T) what each buffer adds to the gates.
        hidden, memory: (B, T) the last h and c.
    """
    g, size = hidden.graph, tracker.size
    weight = torch.cat([*tracker.w_stack.chunk(2, 1), tracker.u])
    gates = buffer.addmm(Value.cat([read, hidden], 1), _weight(g, weight, "w_stack_u"))
    squashed, update = g.ops("Split", gates, [3 * size, size], outputs=2, axis=1)
    i, f, o = g.ops("Split", squashed.sigmoid(), outputs=3, axis=1, num_outputs=3)
    cell = f * memory + i * update.tanh()
    return o * cell.tanh(), cell


def choose(tracker: TrackingLSTM, hidden: Value, state: Value, wanted: Value) -> Value:
    """What each sentence does (B, 1): SHIFT, REDUCE or WAIT.

    Args:
        hidden: (B, T) h of the tracking LSTM.
        state: (B, 2) how many words are left in the buffer, and one more than how many nodes are on
            the stack.
        wanted: (B, 1) what the sentence is told to do.
    """
    g = hidden.graph
    limits = Value.cat([state, wanted], 1).minimum([1, 3, FREE])
    possible = g.constant(_possible()).op("GatherND", limits)
    weight, bias = (functional.pad(w, (0, 1)) for w in (tracker.w_transition, tracker.b_transition))
    added = possible + _weight(g, bias, "b_transition")
    scores = added.addmm(hidden, _weight(g, weight, "w_transition"))
    return scores.op("ArgMax", axis=1, keepdims=1)


def _possible() -> NDArray[np.float32]:
    """0 where SHIFT, REDUCE or WAIT is possible, else -inf: by whether there are words left (2), by
    one more than the number of nodes on the stack, 3 for more (4), and by what the sentence is told
    (4)."""
    table = np.full((2, 4, 4, 3), -np.inf, np.float32)
    for wanted in (SHIFT, REDUCE, WAIT):
        table[:, :, wanted, wanted] = 0
    table[1, :, FREE, SHIFT] = 0
    table[:, 3, FREE, REDUCE] = 0
    return table


def _weight(g: Graph, value: Tensor, name: str) -> Value:
    return g.weight(value, f"encoder.tracker.{name}")
