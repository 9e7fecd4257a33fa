"""Exports an encoder, by the module that its class names as `onnx`. That module has a function
`encode`."""

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
    """Vectors (L, X) of the L words of a batch; those of distinct words (U, X), or the same; and
    the row (L,) of each word among the latter, None where each has its own."""

    vectors: Value
    distinct: Value
    rows: Value | None = None


class Encoding(NamedTuple):
    """What an encoder gives, as `thinstack.core.encoder.Encoding` has it. A value that is not
    wanted, or not there, is None. `scores` (N, C) may be given in place of `stacked` (N, H), from
    which they are made."""

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
    """The encoding of a forest in the graph `g`, as written by the module that the encoder names.
    Its function `encode` takes the same arguments.

    Args:
        g: the graph.
        encoder: the encoder.
        words: vectors of the words.
        inputs: inputs of the model by name, int32 or int64.
        head: a task head that reads single nodes. The encoding may hold its scores in place of the
            outputs that they are made from.
        roots_only: whether only `roots`, `root_nodes` and `transitions` are wanted.

    Raises ExportError if there is no such module or function.
    """
    written = writer_of(encoder, "encode")
    encoding: Encoding = written(g, encoder, words, inputs, head=head, roots_only=roots_only)
    return encoding


def writer_of(part: Encoder | Embedding | Parser, function: str) -> Callable[..., Any]:
    """The function that exports a part of a model, from the module that the part's class names as
    `onnx`. Raises ExportError if the module or the function is missing."""
    try:
        module = import_module(part.onnx or "without a module")
        written: Callable[..., Any] = getattr(module, function)
    except (ImportError, AttributeError) as error:
        raise ExportError(
            f"{type(part).__name__} cannot be exported to ONNX: its class must name a module "
            f"with a function `{function}` as `onnx`, found {part.onnx!r} ({error})"
        ) from error
    return written
