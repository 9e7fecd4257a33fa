"""Export of an encoder, by the module named in its class attribute `onnx`."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from thinstack.core.embedding import Embedding
from thinstack.core.encoder import Encoder
from thinstack.core.head import TaskHead
from thinstack.core.parser import Parser
from thinstack.errors import ExportError
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value


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
