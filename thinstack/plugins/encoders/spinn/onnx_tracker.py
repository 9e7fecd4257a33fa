"""SPINN's tracking LSTM and transition classifier in an ONNX graph."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value
from thinstack.plugins.encoders.spinn.tracking_lstm import TrackingLSTM

SHIFT, REDUCE, WAIT, FREE = range(4)
"""The actions of a sentence at a step. FREE leaves the choice to the tracking LSTM."""


def read_buffer(
    g: Graph, tracker: TrackingLSTM, outputs: Value, ends: Value
) -> tuple[Value, Value]:
    """Return the gates' part (L + B, 4T) of buffers, with b, from the outputs (L, H) of words and
    sentence ends (B,): in each sentence, a row for each first word of its buffer, then one for the
    empty buffer. Also the rows (B, 1) of empty buffers; with w words left, the row is w before."""
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
    return gates, empty.unsqueeze(1)


def step(
    tracker: TrackingLSTM, read: Value, buffer: Value, hidden: Value, memory: Value
) -> tuple[Value, Value]:
    """Return the next h and c (B, T), from the last ones, the outputs `read` (B, 2H) of the top two
    nodes of each stack, and the gates' part (B, 4T) of each buffer."""
    g, size = hidden.graph, tracker.size
    weight = torch.cat([*tracker.w_stack.chunk(2, 1), tracker.u])
    gates = buffer.addmm(Value.cat([read, hidden], 1), _weight(g, weight, "w_stack_u"))
    squashed, update = g.ops("Split", gates, [3 * size, size], outputs=2, axis=1)
    i, f, o = g.ops("Split", squashed.sigmoid(), outputs=3, axis=1, num_outputs=3)
    cell = f * memory + i * update.tanh()
    return o * cell.tanh(), cell


def choose(tracker: TrackingLSTM, hidden: Value, state: Value, wanted: Value) -> Value:
    """Return the action (B, 1) of each sentence, SHIFT, REDUCE or WAIT, from h (B, T), the `state`
    (B, 2), which is the number of words in the buffer and 1 + the number of nodes on the stack, and
    the `wanted` action (B, 1)."""
    g = hidden.graph
    limits = Value.cat([state, wanted], 1).minimum([1, 3, FREE])
    possible = g.constant(_possible()).op("GatherND", limits)
    weight, bias = (functional.pad(w, (0, 1)) for w in (tracker.w_transition, tracker.b_transition))
    added = possible + _weight(g, bias, "b_transition")
    scores = added.addmm(hidden, _weight(g, weight, "w_transition"))
    return scores.op("ArgMax", axis=1, keepdims=1)


def _possible() -> NDArray[np.float32]:
    """Return 0 where SHIFT, REDUCE or WAIT is possible, else -inf (2, 4, 4, 3): by whether words
    are left, by 1 + the number of nodes on the stack (3 for more), and by the wanted action."""
    table = np.full((2, 4, 4, 3), -np.inf, np.float32)
    for wanted in (SHIFT, REDUCE, WAIT):
        table[:, :, wanted, wanted] = 0
    table[1, :, FREE, SHIFT] = 0
    table[:, 3, FREE, REDUCE] = 0
    return table


def _weight(g: Graph, value: Tensor, name: str) -> Value:
    return g.weight(value, f"encoder.tracker.{name}")
