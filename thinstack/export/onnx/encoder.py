"""What exports an encoder: the module that its class names as `onnx`, with a function `encode`."""

from importlib import import_module
from typing import NamedTuple

from thinstack.core.encoder import Encoder
from thinstack.core.head import TaskHead
from thinstack.errors import ExportError
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value

__all__ = ["Encoding", "Words", "encode"]


class Words(NamedTuple):
    """Vectors of the L words.

    Attributes:
        vectors: (L, X), one for each word.
        distinct: (U, X), those of equal words once, or `vectors`.
        rows: (L,) the row of each word in `distinct`; None where each has its own.
    """

    vectors: Value
    distinct: Value
    rows: Value | None = None


class Encoding(NamedTuple):
    """As `thinstack.core.encoder.Encoding`; what is not wanted, or not there, is None.

    Attributes:
        root_nodes: (B,) positions of the roots.
        places: (N,) the row of each node in `stacked`.
        stacked: (N, H) outputs of all nodes.
        scores: in place of `stacked`, the scores (N, C) of these outputs.
        roots: (B, H) outputs of the roots.
        words: (N, W) head-word vectors, as `stacked`.
        inner: (I,) positions of the nodes with children.
        children: (I, arity) 1 + position of each child of these.
        transitions: (N,) int64 that were taken.
    """

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
    try:
        written = import_module(encoder.onnx or "without a module").encode
    except (ImportError, AttributeError) as error:
        raise ExportError(
            f"{type(encoder).__name__} cannot be exported to ONNX: its class must name a module "
            f"with a function `encode` as `onnx`, found {encoder.onnx!r} ({error})"
        ) from error
    encoding: Encoding = written(g, encoder, words, inputs, head=head, roots_only=roots_only)
    return encoding
