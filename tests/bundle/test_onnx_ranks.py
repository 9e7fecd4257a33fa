"""What the gate is certain of about forms of values holds where random graphs are computed."""

import random

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from thinstack.bundle.gate.onnx_values import Value, form_of

CONSTANTS = {
    "zero": np.array(0),
    "one": np.array([1]),
    "first": np.array([0]),
    "last": np.array([-1]),
    "two": np.array([0, 1]),
    "grid": np.array([[1]]),
    "nothing": np.zeros(0, np.int64),
}
GIVEN = [np.array(3), np.array([2]), np.array([1, 0, 2]), np.zeros(0, np.int64), np.ones((1, 2))]
OPERATORS = {
    **dict.fromkeys(("Abs", "Identity"), 1),
    **dict.fromkeys(("Add", "Max", "Mul", "Sub", "Gather"), 2),
    "Concat": 2,
    "Shape": 1,
    "Size": 1,
    "ReduceMax": 1,
    "ReduceSum": 1,
    **dict.fromkeys(("Squeeze", "Unsqueeze"), 2),
}


class Attribute:
    """As the gate reads one."""

    def __init__(self, value):
        self.value = value

    def integer(self, field):
        return self.value


def node(rng, names):
    operator = rng.choice([*OPERATORS, "Squeeze", "Shape", "Unsqueeze"])
    inputs = [rng.choice(names) for _ in range(OPERATORS[operator])]
    attributes = {}
    if operator == "Squeeze" and rng.random() < 0.6:
        inputs = inputs[:1]
    elif "queeze" in operator:
        inputs[1] = rng.choice(["first", "last", "two", "nothing"])
    elif operator == "Shape":
        attributes = {name: rng.randint(-2, 3) for name in ("start", "end") if rng.random() < 0.6}
    elif operator == "Concat":
        attributes = {"axis": 0}
    elif operator.startswith("Reduce"):
        attributes = {"keepdims": rng.randint(0, 1), "noop_with_empty_axes": rng.randint(0, 1)}
        inputs += ["first"] * rng.randint(0, 1)
    return operator, inputs, attributes


def found(operator, values, attributes):
    """What the node computes, None if it fails."""
    names = [f"i{place}" for place in range(len(values))]
    made = helper.make_node(operator, names, ["y"], **attributes)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, None) for name in names]
    output = helper.make_tensor_value_info("y", TensorProto.INT64, None)
    opsets = [helper.make_opsetid("", 18)]
    model = helper.make_model(
        helper.make_graph([made], "g", inputs, [output]), opset_imports=opsets
    )
    try:
        return ReferenceEvaluator(model).run(None, dict(zip(names, values, strict=True)))[0]
    except Exception:
        return None


def value_of(array):
    from thinstack.bundle.gate.onnx_tensor import Tensor
    from thinstack.bundle.gate.protobuf import ProtobufReader

    content = numpy_helper.from_array(array).SerializeToString()
    return Value.of(Tensor(ProtobufReader(1000).read(memoryview(content))))


@pytest.mark.parametrize("seed", range(8))
def test_what_is_certain_holds(seed):
    rng, certain = random.Random(seed), 0
    for _ in range(25):
        arrays = dict(CONSTANTS)
        values = {name: value_of(array) for name, array in arrays.items()}
        arrays["x"], values["x"] = rng.choice(GIVEN).astype(np.int64), Value()
        for place in range(12):
            operator, inputs, attributes = node(rng, [*arrays])
            made = found(operator, [arrays[name] for name in inputs], attributes)
            if made is None:
                continue
            told = {name: Attribute(value) for name, value in attributes.items()}
            known = told
            form = form_of(operator, [values[name] for name in inputs], known)
            array = np.asarray(made, np.int64)
            case = operator, [arrays[name] for name in inputs], attributes, form, array.shape
            assert form.rank in (None, array.ndim), case
            assert form.least <= array.ndim, case
            assert array.size == 1 or not form.one, case
            certain += form.one
            arrays[f"v{place}"], values[f"v{place}"] = array, form
    assert certain > 50
