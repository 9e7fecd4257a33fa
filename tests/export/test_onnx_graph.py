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
