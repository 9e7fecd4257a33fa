"""The tracking LSTM of `thinstack.spinn.tracking_lstm` and its transition classifier, in an ONNX
graph."""

from typing import NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from torch import Tensor

from thinstack.export.onnx_graph import Graph
from thinstack.export.onnx_schedule import filled, positions
from thinstack.export.onnx_sentences import FREE, REDUCE, SHIFT, WAIT, Sentences
from thinstack.spinn.tracking_lstm import TrackingLSTM

__all__ = ["Buffer", "choose", "read_buffer", "track"]

INT64 = onnx.TensorProto.INT64

Floats = NDArray[np.float32]


class Buffer(NamedTuple):
    """What the buffers add to the gates. Each sentence has a row for each word, when that is the
    first of its buffer, and one for the empty buffer after them.

    Attributes:
        gates: (L + B, 4T), with b.
        empty: (B, 1) the row of each sentence's empty buffer; with w words left, the row is w
            before that.
    """

    gates: str
    empty: str


def read_buffer(g: Graph, tracker: TrackingLSTM, outputs: str, batch: Sentences) -> Buffer:
    """The buffers of all sentences, from the outputs (L, H) of their words."""
    count = g.op("Shape", outputs, start=0, end=1)
    empty = g.op("Add", batch.ends, positions(g, batch.ends))
    rows = g.op("Expand", g.vector(0), g.op("Add", count, g.op("Shape", batch.ends)))
    sentence = g.op(
        "CumSum",
        g.op("ScatterElements", rows, empty, filled(g, 1, empty), axis=0),
        g.scalar(0),
        exclusive=1,
    )
    row, end = positions(g, rows), g.op("Gather", empty, sentence)
    none = g.constant(np.zeros((1, tracker.input_size), np.float32))
    words, read = g.op("Concat", outputs, none, axis=0), []
    for ahead in range(tracker.lookahead):
        place = g.op("Add", row, g.scalar(ahead))
        word = g.op("Where", g.op("Less", place, end), g.op("Sub", place, sentence), count)
        read.append(g.op("Gather", words, word))
    weight = _columns(tracker.w_buffer, tracker.lookahead)
    gates = g.op(
        "Gemm",
        g.op("Concat", *read, axis=1),
        _weight(g, weight, "w_buffer"),
        _weight(g, _values(tracker.b), "b"),
    )
    return Buffer(gates, g.op("Unsqueeze", empty, g.vector(1)))


def track(
    g: Graph, tracker: TrackingLSTM, read: str, buffer: str, hidden: str, memory: str
) -> tuple[str, str]:
    """The next h and c (B, T) from the outputs of the two nodes on top of each stack (B, 2H), what
    its buffer adds to the gates (B, 4T), and the last h and c."""
    weight = np.concatenate([_columns(tracker.w_stack, 2), _values(tracker.u)])
    gates = g.op(
        "Gemm", g.op("Concat", read, hidden, axis=1), _weight(g, weight, "w_stack_u"), buffer
    )
    squashed, update = g.ops(
        "Split", gates, g.vector(3 * tracker.size, tracker.size), outputs=2, axis=1
    )
    i, o, f = g.ops("Split", g.op("Sigmoid", squashed), outputs=3, axis=1, num_outputs=3)
    cell = g.op("Add", g.op("Mul", f, memory), g.op("Mul", i, g.op("Tanh", update)))
    return g.op("Mul", o, g.op("Tanh", cell)), cell


def choose(g: Graph, tracker: TrackingLSTM, hidden: str, state: str, told: str) -> str:
    """What each sentence does (B, 1): SHIFT, REDUCE or WAIT.

    Args:
        hidden: (B, T) h of the tracking LSTM.
        state: (B, 2) how many words are left in the buffer, and one more than how many nodes are on
            the stack.
        told: (B, 1) what the sentence is told to do.
    """
    limits = g.op("Min", g.op("Concat", state, told, axis=1), g.vector(1, 3, FREE))
    possible = g.op("GatherND", g.constant(_possible()), limits)
    weight, bias = (
        np.zeros((*part.shape[:-1], 3), np.float32)
        for part in (tracker.w_transition, tracker.b_transition)
    )
    weight[:, :2], bias[:2] = _values(tracker.w_transition), _values(tracker.b_transition)
    scores = g.op(
        "Gemm",
        hidden,
        _weight(g, weight, "w_transition"),
        g.op("Add", possible, _weight(g, bias, "b_transition")),
    )
    return g.op("ArgMax", scores, axis=1, keepdims=1)


def _possible() -> Floats:
    """0 where SHIFT, REDUCE or WAIT is possible, else -inf: by whether there are words left (2), by
    one more than the number of nodes on the stack, 3 for more (4), and by what the sentence is told
    (4)."""
    table = np.full((2, 4, 4, 3), -np.inf, np.float32)
    for told in (SHIFT, REDUCE, WAIT):
        table[:, :, told, told] = 0
    table[1, :, FREE, SHIFT] = 0
    table[:, 3, FREE, REDUCE] = 0
    return table


def _columns(weight: Tensor, blocks: int) -> Floats:
    """A matrix (H, blocks * W), for the same inputs, as one (blocks * H, W) for inputs side by
    side."""
    return np.concatenate(np.split(_values(weight), blocks, axis=1))


def _values(tensor: Tensor) -> Floats:
    values: Floats = tensor.detach().numpy()
    return values


def _weight(g: Graph, value: Floats, name: str) -> str:
    return g.weight(value, f"encoder.tracker.{name}")
