"""Bounds of the values of a graph: never below what occurs, and none where none can be told."""

from math import inf

import numpy as np
import onnx
import pytest

from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.ranges import Bounds

FLOAT, INT64, BOOL = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL


def graph() -> Graph:
    return Graph("g")


def bounds(g: Graph, **known: float) -> Bounds:
    found = Bounds(g.weights, known)
    found.follow(g.nodes)
    return found


def test_squashed_values_and_tables() -> None:
    g = graph()
    x, ids = g.input("x", FLOAT, ["n", 3]), g.input("ids", INT64, ["n"])
    table = g.weight(np.array([[0.5, -2.5, 1]], np.float32), "table")
    rows, tanh = g.op("Gather", table, ids), g.op("Tanh", x)
    expected = {
        x: inf,
        table: 2.5,
        rows: 2.5,
        tanh: 1,
        g.op("Concat", rows, tanh, axis=0): 2.5,
        g.op("Concat", tanh, rows, axis=0): 2.5,
        g.op("Max", tanh, rows): 2.5,
        g.op("Min", tanh, rows): 2.5,
        g.op("Add", rows, tanh): 3.5,
        g.op("Mul", rows, g.constant(np.array(-4, np.float32))): 10,
        g.op("Mul", x, g.constant(np.array(0, np.float32))): inf,
        g.op("Where", g.constant(np.array(True)), tanh, rows): 2.5,
        g.op("MatMul", tanh, g.weight(np.ones((3, 3), np.float32), "w")): inf,
        g.op("ScatterElements", tanh, g.vector(0), rows, axis=0): 2.5,
        g.op("ScatterElements", tanh, g.vector(0), rows, axis=0, reduction="add"): inf,
        g.op("Relu", g.op("Sub", tanh, x)): inf,
        g.op("Slice", g.op("Sigmoid", x), g.vector(0), g.vector(1)): 1,
    }
    found = bounds(g)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_what_is_known_beforehand_is_taken_where_it_is_tighter() -> None:
    g = graph()
    x = g.input("x", FLOAT, ["n"])
    loose, tight = g.op("Div", x, x), g.op("Tanh", x)
    found = bounds(g, **{loose: 7.0, tight: 7.0})
    assert (found[loose], found[tight], found[g.op("Abs", loose)]) == (7, 1, inf)


@pytest.mark.parametrize(
    ("kind", "bound"), [("bounded", 1), ("halving", 8), ("growing", inf), ("through another", inf)]
)
def test_what_a_loop_carries(kind: str, bound: float) -> None:
    """A state that is squashed in each step, one that shrinks from 8, and memory that grows, by
    itself or by its neighbour."""
    g = graph()
    start = g.constant(np.array([0.25 if kind == "bounded" else 8], np.float32))
    body = g.subgraph("body")
    body.input("step", INT64, [])
    go_on = body.input("go_on", BOOL, [])
    state, other = body.input("state", FLOAT, ["n"]), body.input("other", FLOAT, ["n"])
    half = body.constant(np.array(0.5, np.float32))
    following = {
        "bounded": body.op("Tanh", body.op("Add", state, other)),
        "halving": body.op("Mul", state, half),
        "growing": body.op("Add", state, half),
        "through another": body.op("Identity", other),
    }[kind]
    body.output(go_on, "go_on_next", BOOL, [])
    body.output(following, "state_next", FLOAT, ["n"])
    body.output(body.op("Add", other, half), "other_next", FLOAT, ["n"])
    final, _ = g.ops(
        "Loop", g.scalar(9), g.constant(np.array(True)), start, start, outputs=2, body=body.build()
    )
    found = bounds(g)
    assert (found[final], found[state]) == (bound, bound)
