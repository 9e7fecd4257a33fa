"""The transfer of integers from the host to a GPU in an ONNX graph: as one vector, which the GPU
splits, because onnxruntime's WebGPU provider has no kernel that slices integers."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from thinstack.export.onnx.graph import graphs_in

INT32, INT64, BOOL = TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL

MOST_PARTS: Final = 7
"""Maximum outputs of a Split: WebGPU guarantees this many buffers besides the input."""


class Places:
    """The element types, ranks, constants and places of the values of a model."""

    def __init__(self, model: onnx.ModelProto):
        self.types: dict[str, int] = {}
        self.ranks: dict[str, int] = {}
        self.constants: dict[str, NDArray[Any]] = {}
        self.on_gpu: set[str] = set()  # regardless of their type, like those `on_host`
        self.on_host: set[str] = set()
        self._added = 0
        for graph in graphs_in(onnx.shape_inference.infer_shapes(model).graph):
            for value in (*graph.value_info, *graph.input, *graph.output):
                tensor_type = value.type.tensor_type
                self.types[value.name] = tensor_type.elem_type
                if tensor_type.HasField("shape"):
                    self.ranks[value.name] = len(tensor_type.shape.dim)
            for weight in graph.initializer:
                self.constants[weight.name] = numpy_helper.to_array(weight)
            for node in graph.node:
                if node.op_type == "Constant":
                    self.constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)

    def add(
        self, nodes: list[onnx.NodeProto], kind: str, *inputs: str, dtype: int = INT64, **more: Any
    ) -> str:
        """Append a new node with these attributes and one output of this type. Returns its name."""
        self._added += 1
        name = f"placed_{kind}_{self._added}"
        self.types[name] = more.get("to", dtype)
        nodes.append(helper.make_node(kind, [*inputs], [name], name=name, **more))
        return name

    def add_constant(self, nodes: list[onnx.NodeProto], value: NDArray[Any]) -> str:
        """Append a new constant."""
        name = self.add(nodes, "Constant", value=numpy_helper.from_array(value))
        self.constants[name] = value
        return name


def cross(places: Places, values: Sequence[str]) -> tuple[list[onnx.NodeProto], dict[str, str]]:
    """Return nodes that transfer values to the GPU as one vector, and the names of the copies."""
    nodes, parts, names = list[onnx.NodeProto](), list[str](), dict[str, str]()
    minus_one = places.add_constant(nodes, np.array([-1]))
    for value in values:
        small = places.add(nodes, "Cast", value, to=INT32)
        parts.append(places.add(nodes, "Reshape", small, minus_one, dtype=INT32))
    for value, part in zip(values, _there(places, parts, nodes), strict=True):
        if places.ranks.get(value) != 1:
            shape = places.add(nodes, "Shape", value)
            part = places.add(nodes, "Reshape", part, shape, dtype=INT32, allowzero=1)
        if places.types[value] == BOOL:
            places.on_gpu.add(part)
            part = places.add(nodes, "Cast", part, to=BOOL)
        places.on_gpu.add(part)
        names[value] = part
    return nodes, names


def _there(places: Places, parts: list[str], nodes: list[onnx.NodeProto]) -> list[str]:
    """Return the parts on the GPU, where the last part of a Split may be split again."""
    groups = [parts[k : k + MOST_PARTS - 1] for k in range(0, len(parts), MOST_PARTS - 1)]
    whole = ""
    for group in reversed(groups):
        group += [whole] if whole else []
        whole = group[0]
        if len(group) > 1:
            whole = places.add(nodes, "Concat", *group, axis=0, dtype=INT32)
    there: list[str] = []
    for group in groups:
        if len(group) == 1:
            places.on_gpu.add(whole)
            return [*there, whole]
        lengths = [places.add(nodes, "Shape", part) for part in group]
        sizes = places.add(nodes, "Concat", *lengths, axis=0)
        cuts = [f"{sizes}_{k}" for k in range(len(group))]
        nodes.append(helper.make_node("Split", [whole, sizes], cuts, f"{sizes}_cut", axis=0))
        places.on_gpu |= {*cuts}
        there, whole = [*there, *cuts], cuts[-1]
        if group is not groups[-1]:
            there.pop()
    return there
