"""A small builder of ONNX graphs: nodes with generated names, weights stored once at the root,
subgraphs for loops."""

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

__all__ = ["IR_VERSION", "OPSET", "Graph"]

OPSET = 18
IR_VERSION = 8

Array = NDArray[Any]


class Graph:
    """A graph under construction. Values are named by strings that are unique in the whole model.

    Args:
        name: of the graph.
        outer: the graph whose node will hold this one, None for the main graph.
        half: store matrices of float32 in float16 wherever no digit is lost by it, and cast them
            back before use.
    """

    def __init__(self, name: str, *, outer: "Graph | None" = None, half: bool = False):
        self.name = name
        self.root: Graph = outer.root if outer else self
        self.half = half
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._names: set[str] = set()
        self._stored: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def unique(self, name: str) -> str:
        """`name`, with a number after it if the model has it already."""
        taken, candidate, number = self.root._names, name, 1
        while candidate in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate)
        return candidate

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Append a node of one output; returns the output's name."""
        return self.ops(kind, *inputs, outputs=1, **attributes)[0]

    def ops(self, kind: str, *inputs: str, outputs: int, **attributes: Any) -> list[str]:
        """Append a node of several outputs; returns their names."""
        name = self._node_name(kind)
        names = [name] if outputs == 1 else [f"{name}_out{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=name, **attributes))
        return names

    def _node_name(self, kind: str) -> str:
        return self.unique(f"{kind}_{len(self.root._names)}")

    def append(self, node: onnx.NodeProto) -> None:
        """Append a finished node, whose names must be `unique` ones."""
        self.nodes.append(node)

    def constant(self, value: Array) -> str:
        """A small constant, kept in this very graph: runtimes look for shapes and axes next to
        where they are used."""
        key = _key(value)
        if key not in self._constants:
            self._constants[key] = self._made(value)
        return self._constants[key]

    def _made(self, value: Array) -> str:
        if value.size:
            return self.op("Constant", value=numpy_helper.from_array(value))
        # OpenVINO takes a stored constant of no elements for a scalar.
        return self.op(
            "ConstantOfShape",
            self.vector(*value.shape),
            value=numpy_helper.from_array(np.zeros(1, value.dtype)),
        )

    def scalar(self, value: int) -> str:
        """An int64 scalar."""
        return self.constant(np.array(value, np.int64))

    def vector(self, *values: int) -> str:
        """A vector of int64."""
        return self.constant(np.array(values, np.int64))

    def weight(self, value: Array, name: str) -> str:
        """A weight, stored once at the root however often an equal one is asked for.

        With `half`, a float32 matrix that float16 holds without loss is stored so, and cast back at
        the root, where runtimes do it once and for all when they load the model.
        """
        root, key = self.root, _key(value)
        if key not in root._stored:
            halved = value.astype(np.float16)
            half = (
                root.half
                and value.dtype == np.float32
                and value.ndim > 1
                and bool((halved.astype(np.float32) == value).all())
            )
            stored = root.store(halved if half else value, name)
            root._stored[key] = (
                root.op("Cast", stored, to=onnx.TensorProto.FLOAT) if half else stored
            )
        return root._stored[key]

    def store(self, value: Array, name: str) -> str:
        """An initializer of the root, as it is."""
        stored = self.root.unique(name)
        self.root.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), stored))
        return stored

    def input(self, name: str, dtype: int, shape: list[str | int]) -> str:
        """Declare an input, in order."""
        name = self.unique(name)
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, value: str, name: str, dtype: int, shape: list[str | int]) -> None:
        """Declare `value` an output, in order: of this name in the main graph, where names matter;
        a body's are its nodes' own.

        Runtimes cannot leave out a node that does nothing but give an output its name, and run it
        at each step.
        """
        made = any(value in node.output for node in self.nodes)
        if self is not self.root and made and all(value != output.name for output in self.outputs):
            self.outputs.append(helper.make_tensor_value_info(value, dtype, shape))
            return
        name = self.unique(name)
        self.nodes.append(
            helper.make_node("Identity", [value], [name], name=self._node_name("Identity"))
        )
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))

    def subgraph(self, name: str) -> "Graph":
        """A graph for the body of a loop; it sees the values of this one."""
        return Graph(name, outer=self)

    def build(self) -> onnx.GraphProto:
        """The finished graph, without nodes and weights that nothing reads."""
        needed = {output.name for output in self.outputs}
        nodes: list[onnx.NodeProto] = []
        for node in reversed(self.nodes):
            if needed.intersection(node.output):
                nodes.append(node)
                needed |= _reads(node)
        weights = [weight for weight in self.weights if weight.name in needed]
        return helper.make_graph(nodes[::-1], self.name, self.inputs, self.outputs, weights)

    def model(self, metadata: dict[str, str], *, producer_version: str) -> bytes:
        """The finished model as a file, checked. Raises onnx.checker.ValidationError if it is no
        valid ONNX."""
        model = helper.make_model(
            self.build(),
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="thinstack",
            producer_version=producer_version,
        )
        helper.set_model_props(model, metadata)
        onnx.checker.check_model(model, full_check=True)
        serialized: bytes = model.SerializeToString(deterministic=True)
        return serialized


def _key(value: Array) -> tuple[str, tuple[int, ...], bytes]:
    return value.dtype.str, value.shape, value.tobytes()


def _reads(node: onnx.NodeProto) -> set[str]:
    """Names that a node reads, its subgraphs included."""
    names = set(node.input)
    for attribute in node.attribute:
        for graph in (
            [attribute.g, *attribute.graphs]
            if attribute.type in (attribute.GRAPH, attribute.GRAPHS)
            else ()
        ):
            for inner in graph.node:
                names |= _reads(inner)
    return names
