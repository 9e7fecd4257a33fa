"""What exports an encoder: the module that its class names as `onnx`, with a function `encode`."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from thinstack.core.encoder import Encoder
from thinstack.core.head import TaskHead
from thinstack.errors import ExportError
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value

__all__ = ["Encoding", "Words", "encode", "writer_of"]


class Words(NamedTuple):
    """Vectors of the L words."""

    vectors: Value  # (L, X), one for each word
    distinct: Value  # (U, X), those of equal words once, or `vectors`
    rows: Value | None = (
        None  # (L,) the row of each word in `distinct`; None where each has its own
    )


class Encoding(NamedTuple):
    """As `thinstack.core.encoder.Encoding`; what is not wanted, or not there, is None. `scores`
    (N, C) may be given in place of the outputs `stacked` (N, H) that they are made of."""

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
    """Encode a forest in a graph, by the module that the encoder names; what it writes is called
    with the same arguments.

    `inputs` are those of the model, of whatever integers. `head`: one that reads single nodes; its
    scores may be given in place of the outputs that they are made of. `roots_only`: nothing but
    `roots`, `root_nodes` and `transitions` is wanted. Raises ExportError if there is no such
    module.
    """
    written = writer_of(encoder, encoder.onnx, "encode")
    encoding: Encoding = written(g, encoder, words, inputs, head=head, roots_only=roots_only)
    return encoding


def writer_of(part: object, module: str, function: str) -> Callable[..., Any]:
    """The function that exports a part of a model, of the module that its class names as `onnx`.
    Raises ExportError if there is none."""
    try:
        written: Callable[..., Any] = getattr(import_module(module or "without a module"), function)
    except (ImportError, AttributeError) as error:
        raise ExportError(
            f"{type(part).__name__} cannot be exported to ONNX: its class must name a module "
            f"with a function `{function}` as `onnx`, found {module!r} ({error})"
        ) from error
    return written
