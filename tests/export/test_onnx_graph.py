"""The graph builder on its own."""

import numpy as np
import onnx
import pytest
from export_models import runtimes

from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value

FLOAT = onnx.TensorProto.FLOAT


def run(g, **inputs):
    return runtimes(g.model({}))[1](None, inputs)


def weights_of(g):
    model = onnx.load_from_string(g.model({}))
    return {weight.name: weight for weight in model.graph.initializer}


def add_weights(g, *weights):
    x = g.input("x", FLOAT, ["n", 2])
    for number, weight in enumerate(weights):
        g.output(g.op("Mul", x, g.weight(weight, "w")), f"y{number}", FLOAT, ["n", 2])


def test_equal_weights_are_stored_once_and_others_get_names_of_their_own():
    g = Graph("g")
    first, second = np.array([[0.1, 2]], np.float32), np.array([[0.1, 3]], np.float32)
    add_weights(g, first, second, first.copy())
    assert list(weights_of(g)) == ["w", "w_2"]
    x = np.ones((1, 2), np.float32)
    for found, expected in zip(run(g, x=x), (first, second, first), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_what_nothing_reads_is_left_out():
    g = Graph("g")
    x = g.input("x", FLOAT, ["n", 2])
    g.op("Mul", x, g.weight(np.ones((7, 2), np.float32), "unread"))
    used = g.op("Neg", x)
    body = g.body("body")
    state = body.input("state", FLOAT, ["n", 2])
    body.output(state + used, "state_out", FLOAT, ["n", 2])  # `used` is read inside the loop only
    g.output(g.loop(body, 3, [x])[0], "y", FLOAT, ["n", 2])
    model = onnx.load_from_string(g.model({}))
    operators = [node.op_type for node in model.graph.node if node.op_type != "Constant"]
    assert operators == ["Neg", "Loop", "Identity"]
    assert len(model.graph.initializer) == 0
    np.testing.assert_array_equal(run(g, x=np.ones((1, 2), np.float32))[0], [[-2, -2]])


def test_an_invalid_graph_is_refused():
    g = Graph("g")
    g.output(Value(g, "nowhere"), "y", FLOAT, ["n"])
    with pytest.raises(onnx.checker.ValidationError):
        g.model({})
