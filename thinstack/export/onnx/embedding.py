"""Leaf embeddings as ONNX: words looked up in a table, or put together from their pieces."""

import numpy as np
from numpy.typing import NDArray

from thinstack.export.onnx.encoder import Words
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value
from thinstack.export.quantize import Quantize, quantize_rows
from thinstack.models.weights import LEVELS, SCALE

__all__ = ["Table", "distinct", "mean_of_pieces"]

TABLE = "embedding.table"


class Table:
    """A table (V, X) of vectors, stored as `quantize` says; only the rows that are looked up are
    brought back to float32."""

    def __init__(self, g: Graph, values: NDArray[np.float32], quantize: Quantize):
        self._scale: Value | None = None
        stored: NDArray[np.generic] = values
        if quantize in ("int8-tables", "int8"):
            stored, scale = quantize_rows(values)
            self._scale = g.store(scale, f"{TABLE}{SCALE}")
        elif quantize == "fp16":
            stored = values.astype(np.float16)
        self._rows = g.store(stored, f"{TABLE}{LEVELS}" if self._scale else TABLE)
        self._is_float = quantize == "none"

    def rows(self, ids: Value) -> Value:
        """Vectors (n, X) of `ids` (n,)."""
        rows = self._rows.index_select(0, ids)
        if not self._is_float:
            rows = rows.float()
        return rows * self._scale.index_select(0, ids) if self._scale else rows


def mean_of_pieces(table: Table, piece_ids: Value, pieces_per_word: Value) -> Words:
    """Vectors of L words: the mean of the vectors of their pieces (P,), of which each has at least
    one.

    Most words are one piece: each takes its first piece as it is, and only further ones are added.
    Words that are the same piece are equal, those of several pieces are not looked at.
    """
    counts = pieces_per_word.long()
    shares = counts.maximum(1).float()  # a word without pieces would be 0 / 0
    starts = counts.op("CumSum", 0, exclusive=1)
    is_first = piece_ids.zeros_like().index_fill(0, starts, 1)
    word = is_first.cumsum(0) - 1
    further = Value.arange(piece_ids.size(0)).masked_select(is_first < 1)
    added = table.rows(piece_ids.index_select(0, further))
    owner = word.index_select(0, further).unsqueeze(1).op("Expand", added.op("Shape"))
    firsts = piece_ids.index_select(0, starts)
    vectors = table.rows(firsts).scatter_add(0, owner, added) / shares.unsqueeze(1)
    alone = counts < 2
    _, places, rows = distinct(alone.where(firsts.long(), -1 - Value.arange(counts.size(0))))
    return Words(vectors, vectors.index_select(0, places), rows)


def distinct(numbers: Value) -> tuple[Value, Value, Value]:
    """The different ones (U,) among `numbers` (L,), where each stands first, and which of them each
    number is (L,)."""
    found, places, rows, _ = numbers.graph.ops("Unique", numbers, outputs=4, sorted=1)
    return found, places, rows.shaped_as(numbers)
