"""Matrix products in 8 bits: rows and weights are whole numbers with scales, in the form that
runtimes know (QuantizeLinear, DequantizeLinear). onnxruntime makes one operator of a product, which
multiplies whole numbers; a runtime without one multiplies the same numbers in float32.

The scale of the activations is static, so a row's result does not depend on the rows beside it. It
comes from a bound of the values: what they can at most be (`Bounds`), or what they seldom exceed in
a pretrained encoder. Weights have a scale for each column.

A product of activations without a known bound stays in float32. So do all products of a parser: in
8 bits it makes other trees of every tenth sentence. If there is a pretrained encoder, all products
outside it stay in float32 too: in 8 bits they would gain little time, and lose as much accuracy as
the encoder does.
"""

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from thinstack.bundle.weights import LEVELS, SCALE, smoothing
from thinstack.export.onnx.bounds import Bounds
from thinstack.export.onnx.graph import Graph, set_nodes, subgraphs, walk
from thinstack.export.onnx.parser import OWN_TREES
from thinstack.export.quantize import quantize_columns

FLOAT = onnx.TensorProto.FLOAT
NARROWEST = 16  # columns of a matrix; a task head's few are worth their digits, and cost nothing
ACTIVATION_LEVELS, ZERO = 127, 128
Array = NDArray[np.float32]
PLAIN = {"alpha": 1.0, "beta": 1.0, "transA": 0}
"""Attributes of a plain matrix product."""


def quantize_products(
    g: Graph, bounds: dict[str, float], factors: dict[str, Array] | None = None
) -> tuple[int, int]:
    """Rewrite the products of a finished graph, and of the loops in it, to 8 bits.

    Args:
        g: the finished graph.
        bounds: bounds of values by name, beside those that follow from the graph.
        factors: by the name of a weight (K, W), bounds (K,) of the columns that it is multiplied
            with. If there are any, only these products are rewritten.

    Returns the number of products with a matrix of weights that are computed in 8 bits, and the
    number of all such products.
    """
    rewriter = _Rewriter(g, bounds, factors or {})
    g.nodes[:] = rewriter.rewritten(g.nodes)
    return rewriter.done, rewriter.seen


class _Rewriter:
    """Puts products in 8 bits in the place of those in float32; weights go to the root, once."""

    def __init__(self, g: Graph, bounds: dict[str, float], factors: dict[str, Array]):
        self._g, self._bounds, self._factors = g, Bounds(g.weights, bounds), factors
        self._bounds.follow(g.nodes)
        self._weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in g.weights}
        self._sources: dict[str, str] = {}
        for node in g.nodes:
            if node.op_type == "Cast" and node.input[0] in self._weights:
                self._sources[node.output[0]] = node.input[0]
                self._weights[node.output[0]] = self._weights[node.input[0]].astype(np.float32)
        products = [node for node in walk(g.nodes) if self._matrix(node) is not None]
        self._parser = {node.name for node in walk(_parsing(g.nodes))}
        # Of a matrix that is read in float32 anyway there is no second copy.
        self._plain = {node.input[1] for node in products if not self._fits(node)}
        self.done, self.seen = 0, len(products)
        self._whole: dict[tuple[str, bytes], str] = {}

    def rewritten(self, nodes: Sequence[onnx.NodeProto]) -> list[onnx.NodeProto]:
        """The nodes after rewriting. Nodes of subgraphs are rewritten in place."""
        written: list[onnx.NodeProto] = []
        for node in nodes:
            for graph in subgraphs(node):
                set_nodes(graph, self.rewritten(graph.node))
            weight = self._matrix(node)
            if weight is None or node.input[1] in self._plain:
                written.append(node)
            else:
                self.done += 1
                written.extend(self._integer_product(node, weight))
        return written

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
        bounded = self._bound(node) not in (0, inf)
        wide = matrix is not None and matrix.shape[1] >= NARROWEST
        return plain and bounded and wide and node.name not in self._parser

    def _bound(self, node: onnx.NodeProto) -> float:
        if not self._factors:
            return self._bounds[node.input[0]]
        factor = self._factors.get(self._source(node))
        return inf if factor is None else float((factor / smoothing(factor)).max())

    def _source(self, node: onnx.NodeProto) -> str:
        """The initializer of the weight of a product, which may be cast first."""
        return self._sources.get(name := str(node.input[1]), name)

    def _integer_product(self, node: onnx.NodeProto, weight: Array) -> list[onnx.NodeProto]:
        """What gives the output of a product with a weight."""
        nodes: list[onnx.NodeProto] = []
        source, unit = self._source(node), np.float32(self._bound(node) / ACTIVATION_LEVELS)
        smooth = smoothing(self._factors[source]) if self._factors else np.ones(1, np.float32)
        levels, scales = quantize_columns(weight * smooth[:, np.newaxis])
        columns = self._g.weight(levels, source + LEVELS).name
        stored = self._g.weight(scales, source + SCALE).name
        rows = self._rounded(nodes, node.input[0], smooth, unit)
        factors = self._write(nodes, "DequantizeLinear", columns, stored, axis=1)
        product = self._write(nodes, "MatMul", rows, factors)
        if len(node.input) == 3:
            # It changes nothing, but keeps onnxruntime from making a Gemm in float32 of a product
            # and a sum.
            shape = self._constant(nodes, np.array([0, 0], np.int64))
            product = self._write(nodes, "Reshape", product, shape)
            self._write(nodes, "Add", product, node.input[2])
        nodes[-1].output[:] = node.output
        return nodes

    def _rounded(
        self, nodes: list[onnx.NodeProto], rows: str, smooth: Array, unit: np.float32
    ) -> str:
        """Rows, divided by what smooths their columns, rounded; once for all products of an encoder
        that read them."""
        key = rows, smooth.tobytes()
        if self._factors and key in self._whole:
            return self._whole[key]
        if self._factors:
            rows = self._write(nodes, "Mul", rows, self._constant(nodes, 1 / smooth))
        scale, zero = self._constant(nodes, unit), self._constant(nodes, np.uint8(ZERO))
        whole = self._write(nodes, "QuantizeLinear", rows, scale, zero)
        self._whole[key] = self._write(nodes, "DequantizeLinear", whole, scale, zero)
        return self._whole[key]

    def _constant(self, nodes: list[onnx.NodeProto], value: Any) -> str:
        return self._write(nodes, "Constant", value=numpy_helper.from_array(np.asarray(value)))

    def _write(
        self, nodes: list[onnx.NodeProto], kind: str, *inputs: str, **attributes: Any
    ) -> str:
        """Append a node of the one output that is returned."""
        output: str = self._g.unique(f"{kind}_int8")
        nodes.append(helper.make_node(kind, list(inputs), [output], name=output, **attributes))
        return output


def _options(node: onnx.NodeProto) -> dict[str, Any]:
    return {one.name: helper.get_attribute_value(one) for one in node.attribute}


def _parsing(nodes: Iterable[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """The nodes of the graph in which a parser makes trees."""
    graphs = (graph for node in nodes for graph in subgraphs(node) if graph.name == OWN_TREES)
    return [node for graph in graphs for node in graph.node]
