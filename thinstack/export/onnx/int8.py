"""Matrix products in 8 bits, with integers and scales in the form that runtimes recognize
(QuantizeLinear, DequantizeLinear). onnxruntime fuses them to an integer product; other runtimes
multiply the same numbers in float32.

The scale of activations is static, so that a row does not depend on others in its batch. It comes
from an upper bound (`Bounds`), or an observed one in a pretrained encoder. Weights have a scale per
column. Products of activations without a bound stay in float32, as do those of a parser, which in 8
bits would change the tree of every tenth sentence. In a model with a pretrained encoder, all
products outside it do too: they would save little time for as much loss of accuracy.
"""

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from thinstack.bundle.weights import LEVELS, SCALE, smoothing
from thinstack.export.onnx.graph import Graph, set_nodes, subgraphs, walk
from thinstack.export.onnx.parser import OWN_TREES
from thinstack.export.quantize import quantize_columns

FLOAT = onnx.TensorProto.FLOAT
NARROWEST = 16  # columns of a matrix; those of task heads need their precision, and cost little
ACTIVATION_LEVELS, ZERO = 127, 128
Array = NDArray[np.float32]
PLAIN = {"alpha": 1.0, "beta": 1.0, "transA": 0}  # attributes of a plain matrix product

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
FLOATS = (FLOAT, onnx.TensorProto.FLOAT16)
ROUNDS = 4  # of the body of a loop, after which values that still grow have no bound


def quantize_products(
    g: Graph, bounds: dict[str, float], factors: dict[str, Array] | None = None
) -> tuple[int, int]:
    """Rewrite the products of a finished graph to 8 bits. Returns the number of products in 8 bits,
    and of all products with a matrix of weights. `bounds`: bounds of values that do not follow from
    the graph. `factors`: by the name of a weight (K, W), bounds (K,) of the columns it is
    multiplied with; if any, only these products are rewritten."""
    rewriter = _Rewriter(g, bounds, factors or {})
    g.nodes[:] = rewriter.rewritten(g.nodes)
    return rewriter.done, rewriter.seen


class _Rewriter:
    """Replaces float32 products by products in 8 bits, with weights stored once."""

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
        parsing = (one for node in g.nodes for one in subgraphs(node) if one.name == OWN_TREES)
        self._parser = {node.name for graph in parsing for node in walk(graph.node)}
        # No second copy of a matrix that is read in float32 anyway.
        self._plain = {node.input[1] for node in products if not self._fits(node)}
        self.done, self.seen = 0, len(products)
        self._whole: dict[tuple[str, bytes], str] = {}

    def rewritten(self, nodes: Sequence[onnx.NodeProto]) -> list[onnx.NodeProto]:
        """Return the rewritten nodes. Nodes of subgraphs are rewritten in place."""
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
        """Return the weight (K, W) of a product with one; None for any other node."""
        weight = self._weights.get(node.input[1]) if node.op_type in ("Gemm", "MatMul") else None
        if weight is None or weight.ndim != 2 or weight.dtype != np.float32:
            return None
        return weight.T if _options(node).get("transB", 0) else weight

    def _fits(self, node: onnx.NodeProto) -> bool:
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
        """Return the initializer of the weight of a product, which may be cast first."""
        return self._sources.get(name := str(node.input[1]), name)

    def _integer_product(self, node: onnx.NodeProto, weight: Array) -> list[onnx.NodeProto]:
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
            # A no-op, which stops onnxruntime from fusing the product and sum to a float32 Gemm.
            shape = self._constant(nodes, np.array([0, 0], np.int64))
            product = self._write(nodes, "Reshape", product, shape)
            self._write(nodes, "Add", product, node.input[2])
        nodes[-1].output[:] = node.output
        return nodes

    def _rounded(
        self, nodes: list[onnx.NodeProto], rows: str, smooth: Array, unit: np.float32
    ) -> str:
        """Round smoothed rows, once for all products that read them."""
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
            elif node.op_type == "If":
                self._choice(node)
            else:
                bound, stated = self._of(node), self._stated
                self._bounds |= {name: min(bound, stated.get(name, inf)) for name in node.output}

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
        self._bounds |= {name: self[other] for name, other in zip(names, others, strict=False)}


def _largest(tensor: onnx.TensorProto) -> float:
    values = numpy_helper.to_array(tensor)
    if values.dtype.kind not in "fiu":
        return inf
    # Not by `np.abs`, which would copy a table, and is negative for the least integer.
    largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
    return largest if np.isfinite(largest) else inf
