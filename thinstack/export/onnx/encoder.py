"""The vectors of words in an ONNX graph, from rows of a table and means of pieces; and the export
of an encoder or another part by the module named in its class attribute `onnx`."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle.weights import LEVELS, SCALE
from thinstack.core.embedding import Embedding
from thinstack.core.encoder import Encoder
from thinstack.core.head import TaskHead
from thinstack.core.parser import Parser
from thinstack.errors import ExportError
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.parts import export_embedding, inline
from thinstack.export.onnx.value import Value
from thinstack.export.quantize import Quantize, quantize_rows

TABLE = "embedding.table"


class Words(NamedTuple):
    """Vectors (L, X) of the words of a batch, those of distinct words (U, X), and the row (L,) of
    each word among the latter; `rows` is None if both are the same."""

    vectors: Value
    distinct: Value
    rows: Value | None = None


class Encoding(NamedTuple):
    """The result of an encoder, as in `thinstack.core.encoder.Encoding`; None for missing values.
    `scores` (N, C) may replace `stacked` (N, H), from which they are computed."""

    root_nodes: Value
    places: Value | None = None
    stacked: Value | None = None
    scores: Value | None = None
    roots: Value | None = None
    words: Value | None = None
    inner: Value | None = None
    children: Value | None = None
    transitions: Value | None = None


def embed(
    g: Graph, embedding: Embedding, stored: Embedding, inputs: dict[str, Value], quantize: Quantize
) -> Words:
    """Write the vectors of words, where `stored` is the embedding with rounded weights. Raises
    ExportError as `writer_of` does."""
    if embedding.lookup == "context":
        words: Words = writer_of(embedding, "words")(g, stored, inputs, quantize)
        return words
    if embedding.lookup == "none":
        indices = [inputs[name].long() for name in embedding.index_names]
        (vectors,) = inline(g, export_embedding(stored), indices)
        return Words(vectors, vectors)
    rounds = embedding if quantize != "none" else stored  # already rounded
    table = Table(g, rounds.table.detach().cpu().float().numpy(), quantize)
    if embedding.lookup != "rows":
        return mean_of_pieces(table, inputs["piece_ids"], inputs["pieces_per_word"])
    ids, _, rows = distinct(inputs["token_ids"].long())
    return Words(table.rows(inputs["token_ids"]), table.rows(ids), rows)


def encode(
    g: Graph,
    encoder: Encoder,
    words: Words,
    inputs: dict[str, Value],
    *,
    head: TaskHead | None = None,
    roots_only: bool = False,
) -> Encoding:
    """Write the encoding of a forest, by the function `encode` of the module that the encoder
    names, which takes the same arguments.

    Args:
        g: the graph.
        encoder: the encoder.
        words: vectors of the words.
        inputs: inputs of the model by name, int32 or int64.
        head: a task head of single nodes, whose scores may replace the outputs in the encoding.
        roots_only: whether only `roots`, `root_nodes` and `transitions` are needed.

    Raises ExportError if there is no such module or function.
    """
    written = writer_of(encoder, "encode")
    encoding: Encoding = written(g, encoder, words, inputs, head=head, roots_only=roots_only)
    return encoding


def writer_of(part: Encoder | Embedding | Parser, function: str) -> Callable[..., Any]:
    """Return the function that exports a part of a model, from the module named in its class
    attribute `onnx`. Raises ExportError if the module or the function is missing."""
    try:
        module = import_module(part.onnx or "without a module")
        written: Callable[..., Any] = getattr(module, function)
    except (ImportError, AttributeError) as error:
        raise ExportError(
            f"{type(part).__name__} cannot be exported to ONNX: set onnx on its class to a "
            f"module with a function {function}, found {part.onnx!r} ({error})"
        ) from error
    return written


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
