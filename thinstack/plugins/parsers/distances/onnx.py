"""The parser `distances.v1` of `thinstack.plugins.parsers.distances.parser`, in an ONNX graph."""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from torch import nn

from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value
from thinstack.plugins.parsers.distances.parser import Distances, beside, sentence_bounds

__all__ = ["distances"]

# Gates of an LSTM: torch has i f g o, ONNX i o f c.
GATES = [0, 3, 1, 2]


def distances(g: Graph, parser: Distances, words: Value, lengths: Value) -> Value:
    """Distances (L,) of the gap after each word, see `thinstack.export.onnx.parser.distances`."""
    bounds = cast(Any, sentence_bounds)(lengths, words)
    states, width = _linear(g, parser.input, words), parser.input.out_features
    around = g.constant(parser.around.numpy())
    none, neighbours = _zeros(g, width), cast(Any, beside)(bounds, around)
    for k, convolution in enumerate(parser.convolutions):
        rows = Value.cat([none, states]).index_select(0, neighbours.narrow(1, 3 * k, 3))
        states = states + _linear(g, convolution, rows.view(-1, 3 * width)).relu()
    # Lengths that lie are an error further on, and not as much memory as they say.
    longest: Value = lengths.op("ReduceMax", keepdims=1).minimum(words.size(0))
    states = _both_ways(g, parser, states, bounds, g.zeros(longest, lengths.size(0), width))
    after = states.op("MatMul", g.weight(_transposed(parser.right), "parser.right"))
    after = Value.cat([after[1:], _zeros(g, parser.right.out_features)])
    hidden = (_linear(g, parser.left, states) + after).relu()
    return hidden.op("MatMul", g.weight(_transposed(parser.score), "parser.score")).squeeze(1)


def _both_ways(g: Graph, parser: Distances, states: Value, bounds: Any, grid: Value) -> Value:
    """Outputs (L, 2 lstm) of the LSTM in both directions, over a `grid` of zeros (T, B, width) that
    the states are put into."""
    forwards, backwards = (
        Value.cat([place, bounds.sentence], 1) for place in (bounds.before, bounds.behind)
    )
    forth = _lstm(g, parser.forwards, grid.put(forwards, states))
    back = _lstm(g, parser.backwards, grid.put(backwards, states))
    return Value.cat([forth.op("GatherND", forwards), back.op("GatherND", backwards)], 1)


def _lstm(g: Graph, lstm: nn.LSTM, rows: Value) -> Value:
    """Outputs (T, B, lstm) over rows (T, B, width)."""
    weights = [_gates(lstm, name)[None] for name in ("weight_ih_l0", "weight_hh_l0")]
    biases = np.concatenate([_gates(lstm, name) for name in ("bias_ih_l0", "bias_hh_l0")])
    stored = [g.weight(weight, "parser.lstm") for weight in (*weights, biases[None])]
    outputs: Value = rows.op("LSTM", *stored, hidden_size=lstm.hidden_size)  # (T, 1, B, lstm)
    return outputs.squeeze(1)


def _linear(g: Graph, layer: nn.Module, rows: Value) -> Value:
    weight = g.weight(_transposed(layer), "parser.weight")
    return rows.op("Gemm", weight, g.weight(_array(layer.bias), "parser.bias"))


def _zeros(g: Graph, width: int) -> Value:
    """A row of zeros."""
    return g.constant(np.zeros((1, width), np.float32))


def _transposed(layer: nn.Module) -> NDArray[np.float32]:
    return np.ascontiguousarray(_array(layer.weight).T)


def _gates(lstm: nn.LSTM, name: str) -> NDArray[np.float32]:
    return np.concatenate([np.split(_array(getattr(lstm, name)), 4)[gate] for gate in GATES])


def _array(weight: Any) -> NDArray[np.float32]:
    values: NDArray[np.float32] = weight.detach().cpu().numpy()
    return values
