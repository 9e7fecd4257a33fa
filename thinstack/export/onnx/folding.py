"""What a graph computes from its weights only, computed once, when it is exported.

Otherwise a runtime would compute it each time that it loads the file. It also makes large values
easy to judge: they are all weights, so `thinstack.bundle.gate.onnx_gate.check_onnx` can tell the
file from a bomb.
"""

from collections.abc import Iterable

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from thinstack.export.onnx.graph import OPSET, Graph, set_nodes, subgraphs

# Weights of half precision are cast, and vectors of no elements made, where they are read.
KEPT = {"Constant", "ConstantOfShape", "Cast"}


def fold_constants(g: Graph) -> None:
    """Replace nodes that read nothing but weights by weights, in a finished main graph and in the
    loops in it."""
    nodes, g.nodes[:] = list(g.nodes), []
    left = _Folder(g).folded(nodes, kept={output.name for output in g.outputs})
    stored = {tensor.name for tensor in g.weights}
    # New weights of half precision are cast as well, and all of them before anything reads them.
    g.nodes += left
    g.nodes.sort(key=lambda node: not (node.op_type == "Cast" and node.input[0] in stored))


class _Folder:
    def __init__(self, g: Graph):
        self._g = g
        self._known = {tensor.name: numpy_helper.to_array(tensor) for tensor in g.weights}
        self._renamed: dict[str, str] = {}

    def folded(self, nodes: Iterable[onnx.NodeProto], kept: set[str]) -> list[onnx.NodeProto]:
        """The nodes that are left. Nodes of subgraphs are replaced in place. Values in `kept` keep
        their names."""
        constants = []
        for node in nodes:
            node.input[:] = [self._renamed.get(name, name) for name in node.input]
            for graph in (graphs := subgraphs(node)):
                set_nodes(graph, self.folded(graph.node, {value.name for value in graph.output}))
            values = None if graphs else self._values(node)
            self._known |= dict(zip(node.output, values or [], strict=False))
            if values is None or node.op_type in KEPT or kept.intersection(node.output):
                constants.append(node)
                continue
            for name, value in zip(node.output, values, strict=True):
                self._store(constants, name, value)
        return constants

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
        """What a node gives where all that it reads is known, and the evaluator has its operator;
        else None."""
        names = [name for name in node.input if name]
        if not (names or node.op_type == "Constant") or not self._known.keys() >= set(names):
            return None
        weights = [
            # Not np.ascontiguousarray, which makes a vector of a scalar.
            numpy_helper.from_array(np.asarray(self._known[name], order="C"), name)
            for name in dict.fromkeys(names)
        ]
        outputs = [helper.make_empty_tensor_value_info(name) for name in node.output]
        graph = helper.make_graph([node], "constant", [], outputs, weights)
        opsets = [helper.make_opsetid("", OPSET)]
        try:
            values = ReferenceEvaluator(helper.make_model(graph, opset_imports=opsets)).run(
                None, {}
            )
        except Exception:  # of many kinds; the node is then left to the runtime
            return None
        return [np.asarray(value) for value in values]
