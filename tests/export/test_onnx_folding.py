"""What an export computes of a graph: values of weights alone, and bounds of the others."""

import tracemalloc
from math import inf

import numpy as np
import onnx
import pytest
from export_models import session_of
from onnx import helper

from thinstack.bundle.gate.onnx_gate import check_onnx
from thinstack.export.onnx.folding import fold_constants
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.int8 import Bounds
from thinstack.export.onnx.value import Value

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
SIZE = 400


def operators(graph):
    inner = [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return [node.op_type for node in graph.node] + [
        name for body in inner for name in operators(body)
    ]


@pytest.mark.parametrize("half", [False, True])
def test_a_masked_weight_is_stored_masked_in_the_graph_and_in_a_loop(half):
    """Three steps of x = (x + 1) (w * mask), from x (w * mask); the weight is large enough for
    runtimes to leave it be."""
    rng = np.random.default_rng(0)
    w = (rng.normal(size=(SIZE, SIZE)) / 20).astype(np.float16).astype(np.float32)
    mask = (rng.random((SIZE, SIZE)) < 0.5).astype(np.float32)
    g = Graph("g", half=half)
    x = g.input("x", FLOAT, ["n", "size"])
    weight, kept = g.weight(w, "w"), g.weight(mask, "mask")
    body = g.body("body")
    state = body.input("state", FLOAT, ["n", SIZE])
    one = body.op("Exp", 0.0).op("Sqrt")
    masked = body.unique("masked")
    body.nodes.append(helper.make_node("Mul", [weight.name, kept.name], [masked], name=masked))
    found = (state + one).op("MatMul", Value(body, masked))
    body.output(found, "state_next", FLOAT, ["n", SIZE])
    start = x.op("MatMul", weight * kept)
    g.output(g.loop(body, 3, [start])[0], "y", FLOAT, ["n", SIZE])
    before = g.model({})
    fold_constants(g)
    after = g.model({})

    proto = onnx.load_from_string(after)
    assert not {"Mul", "Exp", "Sqrt"} & set(operators(proto.graph))
    (stored,) = (weight for weight in proto.graph.initializer if len(weight.dims) > 1)
    assert list(stored.dims) == [SIZE, SIZE]
    assert stored.data_type == (onnx.TensorProto.FLOAT16 if half else FLOAT)
    check_onnx(after, source="g")
    values = rng.normal(size=(5, SIZE)).astype(np.float32)
    expected = values.astype(np.float64) @ (w * mask)
    for _ in range(3):
        expected = (expected + 1) @ (w.astype(np.float64) * mask)
    for file in (before, after):
        (found,) = session_of(file).run(None, {"x": values})
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_what_a_loop_gives_keeps_its_name():
    g = Graph("g")
    body = g.body("body")
    body.input("state", FLOAT, [1])
    body.output(body.op("Neg", g.weight(np.array([7], np.float32), "w")), "state_next", FLOAT, [1])
    x = g.input("x", FLOAT, ["n"])
    g.output(g.loop(body, 2, [x])[0], "y", FLOAT, ["m"])
    fold_constants(g)
    session = session_of(g.model({}))
    assert session.run(None, {"x": np.zeros(1, np.float32)})[0].tolist() == [-7]


def test_what_equals_a_weight_that_is_cast_later_is_read_behind_its_cast():
    value = np.eye(3, dtype=np.float32) * np.float32(0.5)
    g = Graph("g", half=True)
    first = g.op(
        "MatMul", g.input("x", FLOAT, ["n", "size"]), g.op("Neg", g.weight(-value, "negative"))
    )
    g.output(g.op("MatMul", first, g.weight(value, "positive")), "y", FLOAT, ["n", "size"])
    fold_constants(g)
    session = session_of(g.model({}))
    (found,) = session.run(None, {"x": np.eye(3, dtype=np.float32)})
    np.testing.assert_allclose(found, value @ value)


def test_one_matrix_of_a_weight_of_three_dimensions_stays_a_matrix():
    """The index is a scalar, and must not become a vector of one."""
    w = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    g = Graph("g")
    x = g.input("x", FLOAT, ["n", 3])
    g.output(x.op("MatMul", g.weight(w, "w").select(0, 1)), "y", FLOAT, ["n", 4])
    fold_constants(g)
    proto = onnx.load_from_string(g.model({}))
    assert [list(tensor.dims) for tensor in proto.graph.initializer] == [[3, 4]]


def test_what_the_evaluator_cannot_compute_is_left_to_the_runtime():
    g = Graph("g")
    three = g.weight(np.arange(3, dtype=np.float32), "w")
    g.output(three.op("Reshape", [2, 2]).op("Neg"), "y", FLOAT, [2, 2])
    fold_constants(g)
    assert {"Reshape", "Neg"} <= {node.op_type for node in g.nodes}


def test_for_8_bits_a_part_of_a_matrix_is_stored_too():
    w = np.arange(6, dtype=np.float32).reshape(2, 3)
    g = Graph("g")
    x, whole = g.input("x", FLOAT, ["n", 2]), g.weight(w, "w")
    g.output(x.op("MatMul", whole), "y", FLOAT, ["n", 3])
    g.output(x.op("MatMul", whole.op("Slice", [1], [3], [1])), "z", FLOAT, ["n", 2])
    fold_constants(g, apart=True)
    file = g.model({})
    assert "Slice" not in operators(onnx.load_from_string(file).graph)
    y, z = session_of(file).run(None, {"x": np.eye(2, dtype=np.float32)})
    np.testing.assert_array_equal(y, w)
    np.testing.assert_array_equal(z, w[:, 1:])


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
    levels = onnx.numpy_helper.from_array(np.full(10**6, -128, np.int8), "levels")
    tracemalloc.start()
    assert Bounds([levels], {})["levels"] == 128
    assert tracemalloc.get_traced_memory()[1] < 4e6, "a table is not copied to wider numbers"
    tracemalloc.stop()


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
