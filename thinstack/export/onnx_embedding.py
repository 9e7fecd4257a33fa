"""Leaf embeddings as ONNX: words looked up in a table, or put together from their pieces."""

import numpy as np
import onnx
from numpy.typing import NDArray

from thinstack.export.onnx_graph import Graph
from thinstack.export.quantize import Quantize, quantize_rows
from thinstack.models.weights import LEVELS, SCALE

__all__ = ["Table", "distinct", "mean_of_pieces"]

TABLE = "embedding.table"
FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


class Table:
    """A table (V, X) of vectors, stored as `quantize` says; only the rows that are looked up are
    brought back to float32."""

    def __init__(self, g: Graph, values: NDArray[np.float32], quantize: Quantize):
        self._g = g
        self._scale = ""
        stored: NDArray[np.generic] = values
        if quantize in ("int8-tables", "int8"):
            stored, scale = quantize_rows(values)
            self._scale = g.store(scale, f"{TABLE}{SCALE}")
        elif quantize == "fp16":
            stored = values.astype(np.float16)
        self._rows = g.store(stored, f"{TABLE}{LEVELS}" if self._scale else TABLE)
        self._is_float = quantize == "none"

    def rows(self, ids: str) -> str:
        """Vectors (n, X) of `ids` (n,)."""
        g = self._g
        rows = g.op("Gather", self._rows, ids)
        if not self._is_float:
            rows = g.op("Cast", rows, to=FLOAT)
        return g.op("Mul", rows, g.op("Gather", self._scale, ids)) if self._scale else rows


def mean_of_pieces(g: Graph, table: Table, piece_ids: str, pieces_per_word: str) -> str:
    """Vectors (L, X) of words: the mean of the vectors of their pieces (P,), of which each has at
    least one.

    Most words are one piece: each takes its first piece as it is, and only further ones are added.
    """
    counts = g.op("Cast", pieces_per_word, to=INT64)
    shares = g.op(
        "Cast", g.op("Max", counts, g.scalar(1)), to=FLOAT
    )  # a word without pieces would be 0 / 0
    starts = g.op("CumSum", counts, g.scalar(0), exclusive=1)
    none = g.op(
        "ConstantOfShape",
        g.op("Shape", piece_ids),
        value=onnx.helper.make_tensor("value", INT64, [1], [0]),
    )
    one = g.op(
        "ConstantOfShape",
        g.op("Shape", starts),
        value=onnx.helper.make_tensor("value", INT64, [1], [1]),
    )
    is_first = g.op("ScatterElements", none, starts, one, axis=0)
    word = g.op("Sub", g.op("CumSum", is_first, g.scalar(0)), g.scalar(1))
    further = g.op("Squeeze", g.op("NonZero", g.op("Sub", g.scalar(1), is_first)), g.vector(0))
    added = table.rows(g.op("Gather", piece_ids, further))
    owner = g.op(
        "Expand",
        g.op("Unsqueeze", g.op("Gather", word, further), g.vector(1)),
        g.op("Shape", added),
    )
    first = table.rows(g.op("Gather", piece_ids, starts))
    total = g.op("ScatterElements", first, owner, added, axis=0, reduction="add")
    return g.op("Div", total, g.op("Unsqueeze", shares, g.vector(1)))


def distinct(g: Graph, ids: str) -> tuple[str, str]:
    """The different ones (U,) among `ids` (L,), and the row of each id among them (L,)."""
    found, _, rows, _ = g.ops("Unique", g.op("Cast", ids, to=INT64), outputs=4, sorted=1)
    return found, rows
