"""Matrix products in 8 bits: rows are made whole numbers, multiplied by whole numbers, and brought
back to float32.

The scale of the activations is static, from what they can at most be (`ranges`), so a row's
result does not depend on the rows beside it; the weights have a scale a column. A product of
activations without a known bound stays in float32.
"""

from math import inf
from typing import Any, NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.ranges import Bounds
from thinstack.export.quantize import quantize_columns
from thinstack.models.weights import LEVELS

__all__ = ["Products", "quantize_products"]

NARROWEST = 16  # columns of a matrix; a task head's few are worth their digits, and cost nothing
ACTIVATION_LEVELS, ZERO = 127, 128


class Products(NamedTuple):
    """How many of the products with a matrix of weights are computed in 8 bits."""

    int8: int
    all: int


def quantize_products(g: Graph, known: dict[str, float]) -> Products:
    """Rewrite the products of a finished graph, and of the loops in it; `known` are bounds of
    values beside those found."""
    bounds = Bounds(g.weights, known)
    bounds.follow(g.nodes)
    rewriter = _Rewriter(g, bounds)
    g.nodes[:] = rewriter.rewritten(g.nodes)
    return Products(rewriter.done, rewriter.seen)


class _Rewriter:
    """Puts products in 8 bits in the place of those in float32; weights go to the root, once."""

    def __init__(self, g: Graph, bounds: Bounds):
        self._g, self._bounds = g, bounds
        self._weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in g.weights}
        self._sources: dict[str, str] = {}
        for node in g.nodes:
            if (
                node.op_type == "Cast"
                and node.input[0] in self._weights
                and node.attribute[0].i == onnx.TensorProto.FLOAT
            ):
                self._sources[node.output[0]] = node.input[0]
                self._weights[node.output[0]] = self._weights[node.input[0]].astype(np.float32)
        self._stored: dict[tuple[str, bool, float], tuple[str, str]] = {}
        self.done = self.seen = 0

    def rewritten(self, nodes: list[onnx.NodeProto]) -> list[onnx.NodeProto]:
        """The nodes, with those of subgraphs rewritten in place."""
        found: list[onnx.NodeProto] = []
        for node in nodes:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    inner = self.rewritten(list(attribute.g.node))
                    del attribute.g.node[:]
                    attribute.g.node.extend(inner)
            found.extend(self._product(node) or [node])
        return found

    def _product(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        """The nodes in place of a product that can be computed in 8 bits; none for any other
        node."""
        weight = self._weights.get(node.input[1]) if node.op_type in ("Gemm", "MatMul") else None
        options = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        transposed = bool(options.get("transB", 0))
        scaled = {options.get("alpha", 1.0), options.get("beta", 1.0)} != {1.0}
        plain = not scaled and not options.get("transA", 0)
        if weight is None or weight.ndim != 2 or weight.dtype != np.float32:
            return []
        self.seen += 1
        bound = self._bounds[node.input[0]]
        if not plain or bound in (0, inf) or weight.shape[0 if transposed else 1] < NARROWEST:
            return []
        self.done += 1
        added = len(node.input) == 3 and node.input[2] != ""
        made = self._integer_product(
            node.input[0], bound, node.input[1], weight.T if transposed else weight, transposed
        )
        last = made[-1]
        if added:
            inputs, name = [last.output[0], node.input[2]], self._unique("Add")
            made.append(helper.make_node("Add", inputs, list(node.output), name=name))
        else:
            last.output[0] = node.output[0]
        return made

    def _integer_product(
        self, rows: str, bound: float, name: str, weight: NDArray[np.float32], transposed: bool
    ) -> list[onnx.NodeProto]:
        unit = np.float32(bound / ACTIVATION_LEVELS)
        levels, scales = self._columns(name, weight, transposed, unit)
        nodes: list[onnx.NodeProto] = []

        def op(kind: str, *inputs: str, **attributes: Any) -> str:
            output = self._unique(kind)
            nodes.append(helper.make_node(kind, list(inputs), [output], name=output, **attributes))
            return output

        def constant(value: Any) -> str:
            return op("Constant", value=numpy_helper.from_array(np.asarray(value)))

        zero = constant(np.uint8(ZERO))
        product = op(
            "MatMulInteger", op("QuantizeLinear", rows, constant(unit), zero), levels, zero
        )
        op("Mul", op("Cast", product, to=onnx.TensorProto.FLOAT), scales)
        return nodes

    def _columns(
        self, name: str, weight: NDArray[np.float32], transposed: bool, unit: np.float32
    ) -> tuple[str, str]:
        """The stored columns in 8 bits, and what brings their product with rows of this unit back:
        (W,)."""
        key = (name, transposed, float(unit))
        if key not in self._stored:
            (levels, scales), source = quantize_columns(weight), self._sources.get(name, name)
            self._stored[key] = (
                self._g.weight(levels, source + LEVELS).name,
                self._g.weight(scales * unit, f"{source}.product_scale").name,
            )
        return self._stored[key]

    def _unique(self, kind: str) -> str:
        return self._g.unique(f"{kind}_int8")
