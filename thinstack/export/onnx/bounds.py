"""Upper bounds of the values in a graph, for products in 8 bits."""

from collections.abc import Iterable
from math import inf

import numpy as np
import onnx
from onnx import numpy_helper

from thinstack.export.onnx.graph import subgraphs

SQUASHING = {"Tanh", "Sigmoid", "Softmax"}
# Operators whose outputs do not exceed these inputs.
MOVING: dict[str, slice] = {
    **dict.fromkeys(("Concat", "Max", "Min"), slice(None)),
    **dict.fromkeys(("Gather", "GatherElements", "GatherND", "Slice", "Split"), slice(1)),
    **dict.fromkeys(("Identity", "Cast", "Reshape", "Flatten", "Squeeze", "Unsqueeze"), slice(1)),
    **dict.fromkeys(("Compress", "Expand", "Tile", "Transpose", "Relu", "Abs", "Neg"), slice(1)),
    "Where": slice(1, 3),
    **dict.fromkeys(("ScatterElements", "ScatterND"), slice(0, 3, 2)),
}
FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)
ROUNDS = 4  # of the body of a loop, after which values that still grow have no bound


class Bounds:
    """Bounds of the absolute values in a model, by name; infinite if unknown. Outputs of tanh,
    sigmoid and softmax are at most 1, looked-up values at most the greatest entry of their table,
    and moving values keeps their bounds. Matrix products and sums over rows have none, because a
    true one would be far too high. `stated` are bounds that do not follow from the operators."""

    def __init__(self, weights: Iterable[onnx.TensorProto], stated: dict[str, float]):
        self._stated = stated
        self._bounds = {tensor.name: _largest(tensor) for tensor in weights}

    def __getitem__(self, name: str) -> float:
        return self._bounds.get(name, inf)

    def follow(self, nodes: Iterable[onnx.NodeProto]) -> None:
        """Add the bounds of all values in these nodes; names are unique in a model."""
        for node in nodes:
            if node.op_type == "Loop":
                self._loop(node)
                continue
            if node.op_type == "If":
                self._choice(node)
                continue
            bound = self._of(node)
            self._bounds |= {name: min(bound, self._stated.get(name, inf)) for name in node.output}

    def _of(self, node: onnx.NodeProto) -> float:
        read = [self[name] for name in node.input]
        attributes = {attribute.name: attribute for attribute in node.attribute}
        if node.op_type in ("Constant", "ConstantOfShape"):
            return _largest(attributes["value"].t) if "value" in attributes else inf
        if node.op_type == "Cast" and attributes["to"].i not in FLOATS:
            return inf  # a negative number would become a large unsigned one
        if node.op_type in SQUASHING:
            return 1.0
        if node.op_type in MOVING and "reduction" not in attributes:
            return max(read[MOVING[node.op_type]])
        if node.op_type in ("Add", "Sub"):
            return sum(read)
        if node.op_type == "Mul" and inf not in read:
            return read[0] * read[1]
        return inf

    def _choice(self, node: onnx.NodeProto) -> None:
        branches = subgraphs(node)
        for graph in branches:
            self.follow(graph.node)
        for name, *results in zip(node.output, *(graph.output for graph in branches), strict=True):
            self._bounds[name] = max(self[value.name] for value in results)

    def _loop(self, node: onnx.NodeProto) -> None:
        body = next(attribute.g for attribute in node.attribute if attribute.name == "body")
        carried = [value.name for value in body.input][2:]
        results = [value.name for value in body.output][1:]
        self._take(carried, node.input[2:])
        rounds, grown = 0, carried
        while grown:
            self.follow(body.node)
            larger = {
                name: self[result]
                for name, result in zip(carried, results, strict=False)
                if self[result] > self[name]
            }
            rounds, grown = rounds + 1, list(larger)
            self._bounds |= larger if rounds < ROUNDS else dict.fromkeys(larger, inf)
        self._take(node.output, results)
        self._take(node.output, carried)

    def _take(self, names: Iterable[str], others: Iterable[str]) -> None:
        """Copy the bounds of other values."""
        self._bounds |= {name: self[other] for name, other in zip(names, others, strict=False)}


def _largest(tensor: onnx.TensorProto) -> float:
    values = numpy_helper.to_array(tensor)
    if not values.size or values.dtype.kind not in "fiu":
        return 0.0 if values.dtype.kind in "fiu" else inf
    largest = max(float(values.max()), -float(values.min()))
    return largest if np.isfinite(largest) else inf
