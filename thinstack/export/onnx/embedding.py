"""Leaf embeddings in an ONNX graph: words are looked up in a table, or put together from their
pieces."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle.weights import LEVELS, SCALE
from thinstack.export.onnx.encoder import Words
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value
from thinstack.export.quantize import Quantize, quantize_rows

TABLE = "embedding.table"


class Table:
    """A table (V, X) of vectors, stored under `name` as `quantize` says.

    Only the rows that are looked up are cast back to float32.
    """

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
        self._is_float = quantize == "none"

    def rows(self, ids: Value) -> Value:
        """Vectors (n, X), float32, of the entries `ids` (n,)."""
        rows = self._rows.index_select(0, ids)
        if not self._is_float:
            rows = rows.float()
        return rows * self._scale.index_select(0, ids) if self._scale else rows


def mean_of_pieces(table: Table, piece_ids: Value, pieces_per_word: Value) -> Words:
    """Vectors of L words: the mean of the vectors of their pieces. There are P pieces, and each
    word has at least one.

    Most words are one piece. So each word takes its first piece as it is, and only further pieces
    are added. Words that are the same single piece are equal; words of several pieces are never
    compared.
    """
    counts = pieces_per_word.long()
    words = words_of(piece_ids, counts)
    added = table.rows(piece_ids.index_select(0, words.further))
    firsts = piece_ids.index_select(0, words.starts)
    vectors = mean_by_word(table.rows(firsts), added, words)
    alone = counts < 2
    _, places, rows = distinct(alone.where(firsts.long(), -1 - Value.arange(counts.size(0))))
    return Words(vectors, vectors.index_select(0, places), rows)


class PiecesOfWords(NamedTuple):
    """Which of P pieces make L words."""

    starts: Value  # (L,) the first piece of each word
    further: Value  # (F,) the pieces that are no word's first
    owner: Value  # (F,) their words
    shares: Value  # (L, 1) float32, how many pieces each word has


def words_of(piece_ids: Value, counts: Value) -> PiecesOfWords:
    """Which of the pieces (P,) make the words, by the numbers of pieces `counts` (L,) of each
    word."""
    starts = counts.op("CumSum", 0, exclusive=1)
    is_first = piece_ids.zeros_like().index_fill(0, starts, 1)
    further = Value.arange(piece_ids.size(0)).masked_select(is_first < 1)
    owner = (is_first.cumsum(0) - 1).index_select(0, further)
    # A word without pieces would be 0 / 0.
    return PiecesOfWords(starts, further, owner, counts.maximum(1).float().unsqueeze(1))


def mean_by_word(firsts: Value, added: Value, words: PiecesOfWords) -> Value:
    """The means (L, X) over each word's pieces, from the vectors of the first pieces (L, X) and of
    the further ones (F, X)."""
    across = words.owner.unsqueeze(1).op("Expand", added.op("Shape"))
    return firsts.scatter_add(0, across, added) / words.shares


def distinct(numbers: Value) -> tuple[Value, Value, Value]:
    """The different values (U,) in `numbers` (L,), the place where each occurs first (U,), and for
    each number its place among the different ones (L,)."""
    found, places, rows, _ = numbers.graph.ops("Unique", numbers, outputs=4, sorted=1)
    return found, places, rows.shaped_as(numbers)
