"""Leaf embeddings in an ONNX graph: rows of a table, and means of pieces."""

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle.weights import LEVELS, SCALE
from thinstack.export.onnx.encoder import Words
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value
from thinstack.export.quantize import Quantize, quantize_rows

TABLE = "embedding.table"


class Table:
    """A table (V, X) of vectors, stored under `name` as `quantize` specifies. Only the rows that
    are looked up are cast back to float32."""

    def __init__(
        self, g: Graph, values: NDArray[np.float32], quantize: Quantize, name: str = TABLE
    ):
        self._scale: Value | None = None
        stored: NDArray[np.generic] = values
        if quantize in ("int8-tables", "int8"):
            stored, scale = quantize_rows(values)
            self._scale = g.store(scale, f"{name}{SCALE}")
        elif quantize == "fp16":
            stored = values.astype(np.float16)
        self._rows = g.store(stored, f"{name}{LEVELS}" if self._scale else name)
        self._is_float, self.width = quantize == "none", values.shape[1]

    def rows(self, ids: Value) -> Value:
        """Return vectors (n, X), float32, of the entries `ids` (n,)."""
        rows = self._rows.index_select(0, ids)
        if not self._is_float:
            rows = rows.float()
        return rows * self._scale.index_select(0, ids) if self._scale else rows


def mean_of_pieces(table: Table, piece_ids: Value, pieces_per_word: Value) -> Words:
    """Return vectors of words as the mean of their pieces, at least one each. Words of the same
    single piece are equal; words of several pieces are not compared."""
    counts = pieces_per_word.long()
    starts, owner = words_of(piece_ids, counts)
    vectors = mean_by_word(table.rows(piece_ids), table.width, owner, counts)
    # Negative numbers, which no piece has, are distinct for words of several pieces.
    keys = (counts < 2).where(piece_ids.index_select(0, starts).long(), -1 - starts)
    _, places, rows = distinct(keys)
    return Words(vectors, vectors.index_select(0, places), rows)


def words_of(piece_ids: Value, counts: Value) -> tuple[Value, Value]:
    """Return the first piece of each word (L,) and the word of each piece (P,), from `counts`."""
    starts = counts.sums_before()
    is_first = piece_ids.zeros_like().index_fill(0, starts, 1)
    return starts, is_first.cumsum(0) - 1


def mean_by_word(pieces: Value, width: int, owner: Value, counts: Value) -> Value:
    """Return the means (L, X) over each word's pieces, from their vectors (P, `width`), the word of
    each piece `owner` (P,), and the piece counts (L,)."""
    # Exact for a word of one piece, because 0 + x is x.
    none = pieces.graph.zeros(counts.size(0), width)
    sums = none.op("ScatterND", owner.unsqueeze(1), pieces, reduction="add")
    # Not 0 / 0 for a word without pieces.
    means = sums / counts.maximum(1).float().unsqueeze(1)
    means.length = counts.size(0)
    return means


def distinct(numbers: Value) -> tuple[Value, Value, Value]:
    """Return the distinct values (U,), the first place of each, and the index of each number."""
    values, places, rows, _ = numbers.graph.ops("Unique", numbers, outputs=4, sorted=1)
    return values, places, rows.shaped_as(numbers)
