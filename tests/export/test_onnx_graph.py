"""The graph builder: its values against what torch gives for the very same expression."""

import numpy as np
import onnx
import pytest
import torch
from export_models import runtimes

from thinstack.export.onnx.encoder import Table, mean_of_pieces
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


def run(g, output, dtype, rank, **inputs):
    """What both runtimes give for a value."""
    g.output(output, "found", dtype, [f"size_{k}" for k in range(rank)])
    return [run(None, inputs)[0] for run in runtimes(g.model({}))]


def test_what_nothing_reads_is_left_out():
    g = Graph("g")
    x = g.input("x", FLOAT, ["n", 2])
    g.op("Mul", x, g.weight(np.ones((7, 2), np.float32), "unread"))
    used = g.op("Neg", x)
    body = g.body("body")
    state = body.input("state", FLOAT, ["n", 2])
    body.output(state + used, "state_out", FLOAT, ["n", 2])  # `used` is read inside the loop only
    found = run(g, g.loop(body, 3, [x])[0], FLOAT, 2, x=np.ones((1, 2), np.float32))
    assert [values.tolist() for values in found] == [[[-2, -2]]] * 2
    model = onnx.load_from_string(g.model({}))
    operators = [node.op_type for node in model.graph.node if node.op_type != "Constant"]
    assert operators == ["Neg", "Loop", "Identity"]
    assert len(model.graph.initializer) == 0


def test_an_invalid_graph_is_refused():
    g = Graph("g")
    g.output(Value(g, "nowhere"), "y", FLOAT, ["n"])
    with pytest.raises(onnx.checker.ValidationError):
        g.model({})


def test_a_node_is_made_once_and_in_the_innermost_graph():
    g = Graph("g")
    x = g.input("x", INT64, ["n"])
    body = g.body("body")
    state = body.input("state", INT64, ["n"])
    outer, inner = x + 1, state + x
    assert ((x + 1).name, outer.graph) == (outer.name, g)
    assert ((state + x).name, inner.graph) == (inner.name, body)
    assert (x + 2).graph is g  # asked for in the body or not: it reads nothing of it
    body.output(inner + outer, "state_next", INT64, ["n"])
    (found,) = g.loop(body, 3, [x])
    expected = 1 + np.array([5, 7])
    for got in run(g, found, INT64, 1, x=np.array([5, 7])):
        np.testing.assert_array_equal(got, 4 * np.array([5, 7]) + 3 * expected)


def test_the_size_of_what_is_known_to_be_as_long_is_asked_once():
    g = Graph("g")
    x = g.input("x", INT64, ["n"])
    place = Value.arange(x.size(0))
    same = (2 * x.size(0) - place).index_select(0, torch.cumsum(place % 2, 0))
    known = torch.where(same > 0, same, 0)  # of no known shape
    every = [place, same, torch.zeros_like(same).scatter_add(0, place, x), known]
    sizes = [value.size(0) for value in every]
    assert [size.name == x.size(0).name for size in sizes] == [True, True, True, False]
    chosen = x.masked_select(x > 1)
    assert torch.ones_like(chosen).size(0).name == chosen.size(0).name != x.size(0).name
    assert (x.unsqueeze(1) + x).size(0).name != x.size(0).name
    for found in run(g, Value.cat([*sizes, chosen.size(0)]), INT64, 1, x=np.array([3, 1, 0])):
        assert found.tolist() == [3, 3, 3, 3, 1]


def test_a_loop_ends_when_there_is_nothing_to_go_on_for():
    g = Graph("g")
    x = g.input("x", INT64, [])
    body = g.body("body")
    state = body.input("state", INT64, [])
    half = state // 2
    body.output(half, "half", INT64, [])
    body.output(body.step + 0, "step_number", INT64, [])
    _, steps = g.loop(body, 63, [x], going=half > 1)
    for found in run(g, steps, INT64, 1, x=np.array(9)):
        assert found.ravel().tolist() == [0, 1, 2]


def test_words_of_one_equal_piece_are_one_word():
    g = Graph("g")
    table = Table(g, np.random.default_rng(1).normal(size=(20, 3)).astype(np.float32), "none")
    inputs = g.input("piece_ids", INT64, ["P"]), g.input("pieces_per_word", INT64, ["L"])
    words = mean_of_pieces(table, *inputs)
    g.output(words.vectors, "words", FLOAT, ["L", 3])
    g.output(words.distinct, "distinct", FLOAT, ["U", 3])
    g.output(words.rows, "rows", INT64, ["L"])
    counts = np.array([1, 2, 1, 1, 2, 1])
    ids = np.array([7, 7, 3, 3, 7, 7, 3, 0])  # 7, 7 3, 3, 7, 7 3, 0
    for run in runtimes(g.model({})):
        _, distinct, rows = run(None, {"piece_ids": ids, "pieces_per_word": counts})
        assert len(distinct) == 5
        assert rows[0] == rows[3]
        assert len(set(rows.tolist())) == 5
