"""Bounds of the values of a graph: never below what occurs, and none where none can be told."""

from math import inf

import numpy as np
import onnx
import pytest

from thinstack.export.onnx.bounds import Bounds
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


def bounds(g, **known):
    found = Bounds(g.weights, known)
    found.follow(g.nodes)
    return found


def test_squashed_values_and_tables():
    g = Graph("g")
    x, ids = g.input("x", FLOAT, ["n", 3]), g.input("ids", INT64, ["n"])
    table = g.weight(np.array([[0.5, -2.5, 1]], np.float32), "table")
    rows, tanh = table.index_select(0, ids), x.tanh()
    ids_of_one, w = g.constant([0]), g.weight(np.ones((3, 3), np.float32), "w")
    expected = [
        (x, inf),
        (table, 2.5),
        (rows, 2.5),
        (tanh, 1),
        (Value.cat([rows, tanh]), 2.5),
        (Value.cat([tanh, rows]), 2.5),
        (tanh.maximum(rows), 2.5),
        (tanh.minimum(rows), 2.5),
        (rows + tanh, 3.5),
        (rows * -4.0, 10),
        (x * 0.0, inf),
        (g.op("Where", np.array(True), tanh, rows), 2.5),
        (tanh.op("MatMul", w), inf),
        (tanh.scatter(0, ids_of_one, rows), 2.5),
        (tanh.scatter_add(0, ids_of_one, rows), inf),
        ((tanh - x).op("Relu"), inf),
        (x.sigmoid()[:1], 1),
    ]
    found = bounds(g)
    assert [found[value.name] for value, _ in expected] == pytest.approx([b for _, b in expected])


@pytest.mark.parametrize(
    ("kind", "bound"), [("bounded", 1), ("halving", 8), ("growing", inf), ("through another", inf)]
)
def test_what_a_loop_carries(kind, bound):
    """A state that is squashed in each step, one that shrinks from 8, and memory that grows, by
    itself or by its neighbour."""
    g = Graph("g")
    start = g.constant(np.array([0.25 if kind == "bounded" else 8], np.float32))
    body = g.body("body")
    state, other = body.input("state", FLOAT, ["n"]), body.input("other", FLOAT, ["n"])
    following = {
        "bounded": (state + other).tanh(),
        "halving": state * 0.5,
        "growing": state + 0.5,
        "through another": other.op("Identity"),
    }[kind]
    body.output(following, "state_next", FLOAT, ["n"])
    body.output(other + 0.5, "other_next", FLOAT, ["n"])
    final, _ = g.loop(body, 9, [start, start])
    found = bounds(g)
    assert (found[final.name], found[state.name]) == (bound, bound)


def test_what_a_branch_gives_is_no_larger_than_what_either_can():
    g = Graph("g")
    x, asked = g.input("x", FLOAT, ["n"]), g.input("asked", onnx.TensorProto.BOOL, [])
    branches = Graph("then", outer=g), Graph("else", outer=g)
    inside = [
        x.within(branch).tanh() * scale for branch, scale in zip(branches, (2.0, 3.0), strict=True)
    ]
    for branch, value in zip(branches, inside, strict=True):
        branch.output(value, "y", FLOAT, ["n"])
        branch.output(x.within(branch).op("Abs"), "z", FLOAT, ["n"])
    y, z = g.choose(asked, *branches)
    found = bounds(g)
    assert [found[value.name] for value in (*inside, y, z)] == [2, 3, 3, inf]
