"""The parser `distances.v1` in an ONNX graph."""

from typing import Any, cast

import torch
from torch import Tensor, nn

from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value
from thinstack.plugins.parsers.distances import Distances, beside, sentence_bounds

GATES = [0, 3, 1, 2]  # of an LSTM: torch has the order i f g o, ONNX i o f c


def distances(g: Graph, parser: Distances, words: Value, lengths: Value) -> Value:
    """Write the distances (L,) of gaps, see `thinstack.export.onnx.parser.distances`."""
    bounds = cast(Any, sentence_bounds)(lengths, words)
    states, width = _linear(g, parser.input, words), parser.input.out_features
    around = g.constant(parser.around.numpy())
    none, neighbours = g.zeros(1, width), cast(Any, beside)(bounds, around)
    for k, convolution in enumerate(parser.convolutions):
        rows = Value.cat([none, states]).index_select(0, neighbours.narrow(1, 3 * k, 3))
        states = states + _linear(g, convolution, rows.view(-1, 3 * width)).relu()
    # Limited, so that false lengths cause an error later instead of taking as much memory.
    longest: Value = lengths.op("ReduceMax", keepdims=1).minimum(words.size(0))
    states = _both_ways(g, parser, states, bounds, g.zeros(longest, lengths.size(0), width))
    after = states.op("MatMul", g.weight(parser.right.weight.T, "parser.right"))
    after = Value.cat([after[1:], g.zeros(1, parser.right.out_features)])
    hidden = (_linear(g, parser.left, states) + after).relu()
    return hidden.op("MatMul", g.weight(parser.score.weight.T, "parser.score")).squeeze(1)


def _both_ways(g: Graph, parser: Distances, states: Value, bounds: Any, grid: Value) -> Value:
    """Return the outputs (L, 2 lstm) in both directions, by a `grid` of zeros (T, B, width)."""
    forwards, backwards = (
        Value.cat([place, bounds.sentence], 1) for place in (bounds.before, bounds.behind)
    )
    forth = _lstm(g, parser.forwards, grid.put(forwards, states))
    back = _lstm(g, parser.backwards, grid.put(backwards, states))
    return Value.cat([forth.op("GatherND", forwards), back.op("GatherND", backwards)], 1)


def _lstm(g: Graph, lstm: nn.LSTM, rows: Value) -> Value:
    """Return the outputs (T, B, lstm) for rows (T, B, width)."""
    weights = [_gates(lstm, name) for name in ("weight_ih_l0", "weight_hh_l0")]
    biases = torch.cat([_gates(lstm, name) for name in ("bias_ih_l0", "bias_hh_l0")])
    stored = [g.weight(weight[None], "parser.lstm") for weight in (*weights, biases)]
    outputs: Value = rows.op("LSTM", *stored, hidden_size=lstm.hidden_size)  # (T, 1, B, lstm)
    return outputs.squeeze(1)


def _linear(g: Graph, layer: Any, rows: Value) -> Value:
    weight = g.weight(layer.weight.T, "parser.weight")
    return rows.op("Gemm", weight, g.weight(layer.bias, "parser.bias"))


def _gates(lstm: nn.LSTM, name: str) -> Tensor:
    gates = getattr(lstm, name).chunk(4)
    return torch.cat([gates[gate] for gate in GATES])
