"""The transfer of integers from the host to a GPU in an ONNX graph: as one vector, which the GPU
splits, because onnxruntime's WebGPU provider has no kernel that slices integers."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

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
        self._made = 0
        self._learn(onnx.shape_inference.infer_shapes(model).graph)

    def _learn(self, graph: onnx.GraphProto) -> None:
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
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    self._learn(attribute.g)

    def node(
        self, kind: str, *inputs: str, dtype: int = INT64, **attributes: Any
    ) -> onnx.NodeProto:
        """Return a new node with one output, of this type."""
        self._made += 1
        name = f"placed_{kind}_{self._made}"
        self.types[name] = attributes.get("to", dtype)
        return helper.make_node(kind, [*inputs], [name], name=name, **attributes)

    def constant(self, value: NDArray[Any]) -> onnx.NodeProto:
        """Return a new constant."""
        node = self.node("Constant", value=numpy_helper.from_array(value))
        self.constants[node.name] = value
        return node


def cross(places: Places, values: Sequence[str]) -> tuple[list[onnx.NodeProto], dict[str, str]]:
    """Return nodes that transfer values to the GPU as one vector, and the names of the copies."""
    minus_one = places.constant(np.array([-1]))
    nodes, parts = [minus_one], list[str]()
    for value in values:
        small = places.node("Cast", value, to=INT32)
        flat = places.node("Reshape", small.name, minus_one.name, dtype=INT32)
        nodes, parts = [*nodes, small, flat], [*parts, flat.name]
    names = {}
    for value, part in zip(values, _there(places, parts, nodes), strict=True):
        if places.ranks.get(value) != 1:
            shape = places.node("Shape", value)
            reshaped = places.node("Reshape", part, shape.name, dtype=INT32, allowzero=1)
            nodes += [shape, reshaped]
            part = nodes[-1].name
            places.on_gpu.add(part)
        if places.types[value] == BOOL:
            nodes.append(places.node("Cast", part, to=BOOL))
            part = nodes[-1].name
            places.on_gpu.add(part)
        names[value] = part
    return nodes, names


def _there(places: Places, parts: list[str], nodes: list[onnx.NodeProto]) -> list[str]:
    """Return the parts on the GPU, where the last part of a Split may be split again."""
    if len(parts) == 1:
        places.on_gpu.add(parts[0])
        return parts
    groups = [parts[k : k + MOST_PARTS - 1] for k in range(0, len(parts), MOST_PARTS - 1)]
    whole = ""
    for group in reversed(groups):
        group += [whole] if whole else []
        whole = group[0]
        if len(group) > 1:
            nodes.append(places.node("Concat", *group, axis=0, dtype=INT32))
            whole = nodes[-1].name
    there: list[str] = []
    for group in groups:
        if len(group) == 1:
            return [*there, whole]
        lengths = [places.node("Shape", part) for part in group]
        sizes = places.node("Concat", *(part.name for part in lengths), axis=0)
        cuts = [f"{sizes.name}_{k}" for k in range(len(group))]
        split = helper.make_node("Split", [whole, sizes.name], cuts, f"{sizes.name}_cut", axis=0)
        nodes += [*lengths, sizes, split]
        places.on_gpu |= {*cuts}
        there, whole = [*there, *cuts], cuts[-1]
        if group is not groups[-1]:
            there.pop()
    return there
