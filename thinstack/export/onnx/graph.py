"""A builder of ONNX graphs, which names nodes, stores each weight once, and builds subgraphs."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from torch import Tensor

from thinstack._version import __version__
from thinstack.export.onnx.value import Operand, Value, vector_of

OPSET = 18
IR_VERSION = 8

Array = NDArray[Any]


class Graph:
    """A graph under construction. The names of values are unique in the whole model.

    `outer` is the graph that contains this one, None for the main graph `root`, and `depth` the
    number of graphs around it. With `half`, float32 matrices are stored in float16 if that is
    lossless. `device` is the target of the model. In the body of a loop, `step` is the index of the
    step.
    """

    def __init__(
        self,
        name: str,
        *,
        outer: "Graph | None" = None,
        half: bool = False,
        device: Literal["cpu", "gpu"] = "cpu",
    ):
        self.name, self.outer, self.half, self.device = name, outer, half, device
        self.root: Graph = outer.root if outer else self
        self.depth: int = outer.depth + 1 if outer else 0
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.step: Value
        self._names: set[str] = set()
        self._stored: dict[tuple[str, tuple[int, ...], bytes], Value] = {}
        self._made: dict[bytes, list[Value]] = {}

    def unique(self, name: str) -> str:
        """Return `name`, with a number appended if the name is taken."""
        taken, candidate, number = self.root._names, name, 1
        while candidate in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate)
        return candidate

    def op(self, kind: str, *inputs: Operand, **attributes: Any) -> Value:
        """Return the output of a node with one output, see `ops`."""
        return self.ops(kind, *inputs, outputs=1, **attributes)[0]

    def ops(self, kind: str, *inputs: Operand, outputs: int, **attributes: Any) -> list[Value]:
        """Return the outputs of a node, new or equal to one in this graph or around it."""
        read = [one if isinstance(one, Value) else self.constant(one) for one in inputs]
        names = [value.name for value in read]
        node = helper.make_node(kind, names, [""] * outputs, **attributes)
        key, graph = node.SerializeToString(deterministic=True), self
        # Runtimes expect constants, such as shapes and axes, next to their use.
        while key not in graph._made and graph.outer and kind != "Constant":
            graph = graph.outer
        if key not in graph._made:
            node.name = self.unique(f"{kind}_{len(self.root._names)}")
            node.output[:] = [f"{node.name}_out{i}" for i in range(outputs)]
            if outputs == 1:
                node.output[:] = [node.name]
            self.nodes.append(node)
            self._made[key] = [Value(self, name) for name in node.output]
            graph = self
        return graph._made[key]

    def constant(self, value: Operand) -> Value:
        """Return a small constant: a scalar (int64 or float32), a vector of int64, or an array."""
        if isinstance(value, float):
            value = np.array(value, np.float32)
        array = value if isinstance(value, np.ndarray) else np.array(value, np.int64)
        if array.size:
            return self.op("Constant", value=numpy_helper.from_array(array))
        # OpenVINO mistakes a stored constant of no elements for a scalar.
        zero = numpy_helper.from_array(np.zeros(1, array.dtype))
        return self.op("ConstantOfShape", list(array.shape), value=zero)

    def zeros(self, *sizes: Value | int) -> Value:
        """Return float32 zeros of these sizes, each an integer or a vector of one."""
        numbers = [size for size in sizes if isinstance(size, int)]
        if len(numbers) == len(sizes):
            return self.constant(np.zeros(numbers, np.float32))
        shape = vector_of(self, sizes)
        if self.root.device == "cpu" or 0 in sizes:
            return self.op("ConstantOfShape", shape)
        return self.op("Expand", np.zeros(1, np.float32), shape)  # not computed on the host

    def weight(self, value: Array | Tensor, name: str) -> Value:
        """Return a weight, stored once by the root, which casts it back from float16 at load."""
        value = value.detach().cpu().numpy() if isinstance(value, Tensor) else value
        root, key = self.root, (value.dtype.str, value.shape, value.tobytes())
        if key not in root._stored:
            halved = value.astype(np.float16)
            is_matrix = value.dtype == np.float32 and value.ndim > 1
            half = root.half and is_matrix and np.array_equal(halved, value)
            stored = root.store(halved if half else value, name)
            root._stored[key] = stored.float() if half else stored
        return root._stored[key]

    def store(self, value: Array, name: str) -> Value:
        """Add an initializer to the root."""
        stored = self.root.unique(name)
        self.root.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), stored))
        return Value(self.root, stored)

    def input(self, name: str, dtype: int, shape: list[str | int]) -> Value:
        """Declare an input. Inputs keep the order of these calls."""
        name = self.unique(name)
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        value = Value(self, name)
        return value.as_vector() if len(shape) == 1 else value

    def output(self, value: Value, name: str, dtype: int, shape: list[str | int]) -> None:
        """Declare `value` an output, in the order of these calls. In the main graph, it is called
        `name`. In a body, it keeps the name of its node if possible, because runtimes would run a
        node that only renames an output at each step."""
        is_made_here = any(value.name in node.output for node in self.nodes)
        is_declared = any(value.name == output.name for output in self.outputs)
        if self is self.root or is_declared or not is_made_here:
            name = self.unique(name)
            node_name = self.unique(f"Identity_{name}")
            self.nodes.append(helper.make_node("Identity", [value.name], [name], name=node_name))
        else:
            name = value.name
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))

    def body(self, name: str) -> "Graph":
        """Return the body of a loop, with a `step`. Declare its outputs, then pass it to `loop`."""
        body = Graph(name, outer=self)
        body.step = body.input("step", onnx.TensorProto.INT64, [])
        body.input("going", onnx.TensorProto.BOOL, [])
        return body

    def loop(
        self, body: "Graph", steps: Operand, start: Sequence[Value], going: Value | None = None
    ) -> list[Value]:
        """Return the results of a loop: the last states, then the collected values. The outputs of
        its `body` are the next states, then the values to collect. `going`: a value of the body
        that is false after the last step, by default after `steps`."""
        # A constant, because a node that passes `going` on would run at each step.
        going = body.constant(np.array(True)) if going is None else going
        body.output(going, "going_on", onnx.TensorProto.BOOL, [])
        body.outputs.insert(0, body.outputs.pop())
        outputs = len(body.outputs) - 1
        return self.ops("Loop", steps, np.array(True), *start, outputs=outputs, body=body.build())

    def choose(self, condition: Value, then: "Graph", otherwise: "Graph") -> list[Value]:
        """Return the outputs of `then` or `otherwise`, graphs in this one without inputs."""
        branches = {"then_branch": then.build(), "else_branch": otherwise.build()}
        return self.ops("If", condition, outputs=len(then.outputs), **branches)

    def build(self) -> onnx.GraphProto:
        """Return the finished graph, without unused nodes and weights."""
        return graph_of(self.nodes, self.name, self.inputs, self.outputs, self.weights)

    def model(self, metadata: dict[str, str]) -> bytes:
        """Return the finished model as the bytes of a file, see `checked`."""
        return checked(self.proto(), metadata)

    def proto(self) -> onnx.ModelProto:
        """Return the finished model, without metadata."""
        return helper.make_model(
            self.build(),
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="thinstack",
            producer_version=__version__,
        )


def checked(model: onnx.ModelProto, metadata: dict[str, str]) -> bytes:
    """Return a model with metadata as bytes. Raises onnx.checker.ValidationError if invalid."""
    helper.set_model_props(model, metadata)
    onnx.checker.check_model(model, full_check=True)
    return serialized(model)


def serialized(model: onnx.ModelProto) -> bytes:
    """Serialize a model deterministically."""
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def subgraphs(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """Return the graphs in a node, such as the body of a loop."""
    return [attribute.g for attribute in node.attribute if attribute.HasField("g")]


def graphs_in(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Iterate over a graph and all graphs in its nodes."""
    yield graph
    for inner in chain.from_iterable(map(subgraphs, graph.node)):
        yield from graphs_in(inner)


def walk(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Iterate over these nodes and the nodes of all graphs in them."""
    for node in nodes:
        yield node
        for graph in subgraphs(node):
            yield from walk(graph.node)


def graph_of(
    nodes: Sequence[onnx.NodeProto],
    name: str,
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    weights: Sequence[onnx.TensorProto],
) -> onnx.GraphProto:
    """Return a graph of the nodes and weights that its outputs depend on."""
    # Not onnx's `Extractor`, which omits values that branches read from the graph around them.
    needed = names_read({output.name for output in outputs}, nodes)
    read = [node for node in nodes if needed.intersection(node.output)]
    stored = [weight for weight in weights if weight.name in needed]
    return helper.make_graph(read, name, inputs, outputs, stored)


def names_read(outputs: Iterable[str], nodes: Sequence[onnx.NodeProto]) -> set[str]:
    """Return the names of `outputs` and of all values that they depend on, including those that
    graphs in a node read from the graph around them."""
    needed = set(outputs)
    for node in reversed(nodes):
        if needed.intersection(node.output):
            for inner in walk([node]):
                needed.update(inner.input)
                needed.update(end.name for graph in subgraphs(inner) for end in graph.output)
    return needed


def nodes_read(outputs: Iterable[str], nodes: Sequence[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """Return the nodes that `outputs` depend on, and remove unused nodes from the graphs in them,
    because onnxruntime warns of unused constants."""
    for node in nodes:
        for graph in subgraphs(node):
            set_nodes(graph, nodes_read([end.name for end in graph.output], graph.node))
    needed = names_read(outputs, nodes)
    return [node for node in nodes if needed.intersection(node.output)]


def set_nodes(graph: onnx.GraphProto, nodes: Iterable[onnx.NodeProto]) -> None:
    """Replace the nodes of a graph by copies of these, which may be from the same graph."""
    copies = onnx.GraphProto(node=nodes)
    del graph.node[:]
    graph.node.extend(copies.node)
