"""Matrix products in 8 bits: rows are made whole numbers, multiplied by whole numbers, and brought
back to float32.

The scale of the activations is static, from what they can at most be (`ranges`), or, beside a
pretrained encoder, that of each row; so a row's result does not depend on the rows beside it. The
weights have a scale a column. Other products of activations without a known bound stay in float32.
"""

from collections.abc import Iterable
from math import inf
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from thinstack.export.onnx.graph import Graph, set_nodes, subgraphs, walk
from thinstack.export.onnx.ranges import Bounds
from thinstack.export.quantize import quantize_columns
from thinstack.models.weights import LEVELS, SCALE

__all__ = ["quantize_products"]

FLOAT = onnx.TensorProto.FLOAT
NARROWEST = 16  # columns of a matrix; a task head's few are worth their digits, and cost nothing
LARGE = 1 << 15  # entries of a matrix from which a scale of each row pays
ACTIVATION_LEVELS, ZERO, SMALLEST = 127, 128, 1e-12
PLAIN = {"alpha": 1.0, "beta": 1.0, "transA": 0}
"""Attributes of a product that is one and nothing else."""


def quantize_products(
    g: Graph, known: dict[str, float], *, by_row: bool = False
) -> tuple[int, int]:
    """Rewrite the products of a finished graph, and of the loops in it; `known` are bounds of
    values beside those found. `by_row`: where there is no bound, large products take a scale of
    each row.

    Returns how many of the products with a matrix of weights are computed in 8 bits, and how many
    there are.
    """
    rewriter = _Rewriter(g, known, by_row)
    g.nodes[:] = rewriter.rewritten(g.nodes)
    return rewriter.done, rewriter.seen


class _Rewriter:
    """Puts products in 8 bits in the place of those in float32; weights go to the root, once."""

    def __init__(self, g: Graph, known: dict[str, float], by_row: bool):
        self._g, self._bounds, self._by_row = g, Bounds(g.weights, known), by_row
        self._bounds.follow(g.nodes)
        self._weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in g.weights}
        self._sources: dict[str, str] = {}
        casts = [
            node for node in g.nodes if node.op_type == "Cast" and node.attribute[0].i == FLOAT
        ]
        for node in casts:
            if node.input[0] in self._weights:
                self._sources[node.output[0]] = node.input[0]
                self._weights[node.output[0]] = self._weights[node.input[0]].astype(np.float32)
        products = [node for node in walk(g.nodes) if self._matrix(node) is not None]
        # Of a matrix that is read in float32 anyway there is no second copy.
        self._plain = {node.input[1] for node in products if not self._fits(node)}
        self.done, self.seen = 0, len(products)

    def rewritten(self, nodes: Iterable[onnx.NodeProto]) -> list[onnx.NodeProto]:
        """The nodes, with those of subgraphs rewritten in place."""
        found: list[onnx.NodeProto] = []
        for node in nodes:
            for graph in subgraphs(node):
                set_nodes(graph, self.rewritten(graph.node))
            matrix = self._matrix(node)
            if matrix is None or node.input[1] in self._plain:
                found.append(node)
                continue
            self.done += 1
            found.extend(self._integer_product(node, self._bounds[node.input[0]], matrix))
        return found

    def _matrix(self, node: onnx.NodeProto) -> NDArray[np.float32] | None:
        """The weight (K, W) of a product with one; None for any other node."""
        weight = self._weights.get(node.input[1]) if node.op_type in ("Gemm", "MatMul") else None
        if weight is None or weight.ndim != 2 or weight.dtype != np.float32:
            return None
        return weight.T if _options(node).get("transB", 0) else weight

    def _fits(self, node: onnx.NodeProto) -> bool:
        """Whether a product can be computed in 8 bits."""
        options, matrix = _options(node), self._matrix(node)
        plain = all(options.get(name, value) == value for name, value in PLAIN.items())
        bound = self._bounds[node.input[0]]
        if not plain or matrix is None or matrix.shape[1] < NARROWEST or bound == 0:
            return False
        by_row = self._by_row and node.op_type == "Gemm" and matrix.size >= LARGE
        return bound < inf or by_row

    def _integer_product(
        self, node: onnx.NodeProto, bound: float, weight: NDArray[np.float32]
    ) -> list[onnx.NodeProto]:
        """What gives the outputs of `node`, of rows up to this bound and a weight (K, W)."""
        name = node.input[1]
        (levels, scales), source = quantize_columns(weight), self._sources.get(name, name)
        columns = self._g.weight(levels, source + LEVELS).name
        nodes: list[onnx.NodeProto] = []

        def op(kind: str, *inputs: str, **attributes: Any) -> str:
            output = self._g.unique(f"{kind}_int8")
            nodes.append(helper.make_node(kind, list(inputs), [output], name=output, **attributes))
            return output

        def constant(value: Any) -> str:
            return op("Constant", value=numpy_helper.from_array(np.asarray(value)))

        def rounded(rows: str) -> tuple[str, str, str]:
            """Rows as whole numbers, their zero, and what a unit of the product stands for."""
            zero = constant(np.uint8(ZERO))
            if bound < inf:
                unit = np.float32(bound / ACTIVATION_LEVELS)
                units = self._g.weight(scales * unit, f"{source}.product_scale").name
                return op("QuantizeLinear", rows, constant(unit), zero), zero, units
            last, levels = constant(np.array([1])), constant(np.float32(1 / ACTIVATION_LEVELS))
            largest = op("ReduceMax", op("Abs", rows), last, keepdims=1)
            unit_of_row = op("Max", op("Mul", largest, levels), constant(np.float32(SMALLEST)))
            flat = op("Squeeze", unit_of_row, last)
            zeros = op("Expand", zero, op("Shape", flat))
            whole = op("QuantizeLinear", rows, flat, zeros, axis=0)
            stored = self._g.weight(scales, source + SCALE).name
            return whole, zero, op("Mul", unit_of_row, stored)

        rows, zero, units = rounded(node.input[0])
        product = op("Cast", op("MatMulInteger", rows, columns, zero), to=FLOAT)
        product = op("Mul", product, units)
        if len(node.input) == 3 and node.input[2]:
            op("Add", product, node.input[2])
        nodes[-1].output[0] = node.output[0]
        return nodes


def _options(node: onnx.NodeProto) -> dict[str, Any]:
    return {one.name: helper.get_attribute_value(one) for one in node.attribute}
