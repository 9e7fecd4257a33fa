"""Matrix products in 8 bits: rows are made whole numbers, multiplied by whole numbers, and brought
back to float32.

The scale of the activations is static, from what they can at most be (`ranges`), so a row's
result does not depend on the rows beside it; the weights have a scale a column. A product of
activations without a known bound stays in float32.
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
from thinstack.models.weights import LEVELS

__all__ = ["quantize_products"]

FLOAT = onnx.TensorProto.FLOAT
NARROWEST = 16  # columns of a matrix; a task head's few are worth their digits, and cost nothing
ACTIVATION_LEVELS, ZERO = 127, 128
PLAIN = {"alpha": 1.0, "beta": 1.0, "transA": 0}
"""Attributes of a product that is one and nothing else."""


def quantize_products(g: Graph, known: dict[str, float]) -> tuple[int, int]:
    """Rewrite the products of a finished graph, and of the loops in it; `known` are bounds of
    values beside those found.

    Returns how many of the products with a matrix of weights are computed in 8 bits, and how many
    there are.
    """
    rewriter = _Rewriter(g, known)
    g.nodes[:] = rewriter.rewritten(g.nodes)
    return rewriter.done, rewriter.seen


class _Rewriter:
    """Puts products in 8 bits in the place of those in float32; weights go to the root, once."""

    def __init__(self, g: Graph, known: dict[str, float]):
        self._g, self._bounds = g, Bounds(g.weights, known)
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
        bounded = self._bounds[node.input[0]] not in (0, inf)
        return plain and bounded and matrix is not None and matrix.shape[1] >= NARROWEST

    def _integer_product(
        self, node: onnx.NodeProto, bound: float, weight: NDArray[np.float32]
    ) -> list[onnx.NodeProto]:
        """What gives the outputs of `node`, of rows up to this bound and a weight (K, W)."""
        unit, name = np.float32(bound / ACTIVATION_LEVELS), node.input[1]
        (levels, scales), source = quantize_columns(weight), self._sources.get(name, name)
        columns = self._g.weight(levels, source + LEVELS).name
        units = self._g.weight(scales * unit, f"{source}.product_scale").name
        nodes: list[onnx.NodeProto] = []

        def op(kind: str, *inputs: str, **attributes: Any) -> str:
            output = self._g.unique(f"{kind}_int8")
            nodes.append(helper.make_node(kind, list(inputs), [output], name=output, **attributes))
            return output

        def constant(value: Any) -> str:
            return op("Constant", value=numpy_helper.from_array(np.asarray(value)))

        zero = constant(np.uint8(ZERO))
        rows = op("QuantizeLinear", node.input[0], constant(unit), zero)
        product = op("MatMulInteger", rows, columns, zero)
        product = op("Mul", op("Cast", product, to=FLOAT), units)
        if len(node.input) == 3 and node.input[2]:
            op("Add", product, node.input[2])
        nodes[-1].output[0] = node.output[0]
        return nodes


def _options(node: onnx.NodeProto) -> dict[str, Any]:
    return {one.name: helper.get_attribute_value(one) for one in node.attribute}
