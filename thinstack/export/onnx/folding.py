"""Constant folding: values that depend only on weights are computed at export, instead of by
runtimes at each load. Only parts of a matrix are left to runtimes if all of it is stored anyway. A
reshape of a reshape is merged with it."""

from collections.abc import Iterable

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from thinstack.export.onnx.graph import OPSET, Graph, nodes_read, set_nodes, subgraphs, walk
from thinstack.export.onnx.value import Value

# Half-precision weights are cast, and empty vectors created, where they are read.
KEPT = {"Constant", "ConstantOfShape", "Cast"}


def fold_constants(g: Graph, *, apart: bool = False) -> None:
    """Replace nodes that read only weights by weights. `apart`: store parts of whole matrices."""
    nodes, g.nodes[:] = list(g.nodes), []
    folder, outputs = _Folder(g, apart), {output.name for output in g.outputs}
    left = folder.folded(nodes, outputs)
    folder.cut(left)
    stored = {tensor.name for tensor in g.weights}
    # New half-precision weights are also cast, all before their first use.
    cut = {node.name for node in g.nodes}
    g.nodes += left
    g.nodes[:] = nodes_read(outputs, sorted(g.nodes, key=lambda node: _rank(node, stored, cut)))


def _rank(node: onnx.NodeProto, stored: set[str], cut: set[str]) -> int:
    """Sort constants and casts of weights first, then parts of matrices."""
    if node.op_type == "Constant" or (node.op_type == "Cast" and node.input[0] in stored):
        return 0
    return 1 if node.name in cut else 2


class _Folder:
    def __init__(self, g: Graph, apart: bool):
        self._g, self._apart = g, apart
        self._known = {tensor.name: numpy_helper.to_array(tensor) for tensor in g.weights}
        self._renamed: dict[str, str] = {}
        self._reshaped: dict[str, str] = {}
        self._parts: dict[str, list[tuple[onnx.NodeProto, NDArray[np.generic]]]] = {}

    def folded(self, nodes: Iterable[onnx.NodeProto], outputs: set[str]) -> list[onnx.NodeProto]:
        """Return the remaining nodes; subgraphs change in place. `outputs` keep their names."""
        constants = []
        for node in nodes:
            node.input[:] = [self._renamed.get(name, name) for name in node.input]
            for graph in (graphs := subgraphs(node)):
                set_nodes(graph, self.folded(graph.node, {value.name for value in graph.output}))
            values = None if graphs else self._values(node)
            self._known |= dict(zip(node.output, values or [], strict=False))
            self._reshape_once(node)
            if values is None or node.op_type in KEPT or outputs.intersection(node.output):
                constants.append(node)
                continue
            for name, value in zip(node.output, values, strict=True):
                if node.op_type == "Slice" and value.dtype == np.float32 and value.ndim == 2:
                    self._parts.setdefault(node.input[0], []).append((node, value))
                else:
                    self._store(constants, name, value)
        return constants

    def _reshape_once(self, node: onnx.NodeProto) -> None:
        """Let a reshape to a known shape skip a previous reshape."""
        if node.op_type != "Reshape":
            return
        shape = self._known.get(node.input[1])
        if node.input[0] in self._reshaped and shape is not None and 0 not in shape:
            node.input[0] = self._reshaped[node.input[0]]
        self._reshaped[node.output[0]] = node.input[0]

    def cut(self, nodes: list[onnx.NodeProto]) -> None:
        """Replace the nodes that slice matrices: by a Slice at the root, which runtimes compute
        once, or by stored parts if these are smaller than the matrix."""
        every, names = list(walk(nodes)), dict[str, str]()
        read = {name for node in every for name in node.input}
        for whole, parts in self._parts.items():
            sizes = {value.tobytes(): value.size for _, value in parts}
            apart = whole not in read and sum(sizes.values()) < self._known[whole].size
            apart = apart or self._apart
            for node, value in parts:
                bounds = [self._known[name] for name in node.input[1:]]
                matrix = Value(self._g, whole)
                part = self._g.weight(value, node.name) if apart else matrix.op("Slice", *bounds)
                names[node.output[0]] = part.name
        for node in every:
            node.input[:] = [names.get(name, name) for name in node.input]

    def _store(self, nodes: list[onnx.NodeProto], name: str, value: NDArray[np.generic]) -> None:
        if value.ndim and value.dtype == np.float32 and value.size:
            self._renamed[name] = self._g.weight(value, name).name
            self._known[self._renamed[name]] = value
        elif value.size:
            stored = numpy_helper.from_array(value)
            nodes.append(helper.make_node("Constant", [], [name], name=name, value=stored))
        else:
            shape, sizes = self._g.unique(f"{name}_shape"), np.array(value.shape, np.int64)
            stored, none = map(numpy_helper.from_array, (sizes, np.zeros(1, value.dtype)))
            nodes.append(helper.make_node("Constant", [], [shape], value=stored))
            nodes.append(helper.make_node("ConstantOfShape", [shape], [name], value=none))

    def _values(self, node: onnx.NodeProto) -> list[NDArray[np.generic]] | None:
        """Return a node's outputs if its inputs are known and the evaluator has it, else None."""
        names = [name for name in node.input if name]
        if not (names or node.op_type == "Constant") or not self._known.keys() >= set(names):
            return None
        # Not np.ascontiguousarray, which turns a scalar into a vector.
        inputs = {name: np.asarray(self._known[name], order="C") for name in names}
        outputs = [helper.make_empty_tensor_value_info(name) for name in node.output]
        graph = helper.make_graph([node], "constant", [], outputs)
        try:
            values = ReferenceEvaluator(graph, opsets={"": OPSET}).run(None, inputs)
        except Exception:  # of many types; the runtime then computes the node
            return None
        return [np.asarray(value) for value in values]
