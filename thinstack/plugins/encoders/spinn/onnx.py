"""The encoder of SPINN, `thinstack.plugins.encoders.spinn.stack_encoder`, in an ONNX graph."""

from collections.abc import Sequence

import onnx

from thinstack.core.head import TaskHead
from thinstack.export.onnx.encoder import Encoding, Words
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.parser import is_unparsed
from thinstack.export.onnx.parts import export_cell, export_reading
from thinstack.export.onnx.tree_encoder import in_one_pass
from thinstack.export.onnx.value import Value
from thinstack.plugins.encoders.spinn.onnx_shift_reduce import shift_reduce
from thinstack.plugins.encoders.spinn.stack_encoder import StackEncoder

__all__ = ["encode"]

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


def encode(
    g: Graph,
    encoder: StackEncoder,
    words: Words,
    inputs: dict[str, Value],
    *,
    head: TaskHead | None = None,
    roots_only: bool = False,
) -> Encoding:
    """The encoding of sentences by SPINN, see `thinstack.export.onnx.encoder.encode`.

    Sentences that the encoder parses go transition by transition. So do given trees if the tracking
    LSTM feeds their composition. Other given trees go by depth, in a branch of their own.
    """
    cell = encoder.cell
    if encoder.feeds:
        parts = export_cell(cell)
        return shift_reduce(g, encoder, parts, words, inputs, parts.read)
    parts = export_cell(cell, head)
    if not encoder.parses:
        encoding = in_one_pass(g, encoder, cell, parts, words, inputs, roots_only=roots_only)
        return _with_scores(encoding, head)

    make, take = Graph("own_trees", outer=g), Graph("given_trees", outer=g)
    outputs = parts._replace(read=export_reading(cell)) if head else parts
    parsed = shift_reduce(make, encoder, outputs, *_within(make, words, inputs), parts.read)
    inside = _within(take, words, inputs)
    built = in_one_pass(take, encoder, cell, parts, *inside, roots_only=roots_only)
    built = built._replace(transitions=inside[1]["transitions"].long())
    wanted = ["roots"] if roots_only else ["stacked", "places"]
    wanted += ["root_nodes", "transitions"]
    width = parts.widths[0]
    for branch, encoding in ((make, parsed), (take, built)):
        _give(branch, encoding, wanted, width)
    unparsed = is_unparsed(inputs["transitions"], words.vectors)
    chosen = dict(zip(wanted, g.choose(unparsed, make, take), strict=True))
    return _with_scores(Encoding(**chosen), head)


def _within(g: Graph, words: Words, inputs: dict[str, Value]) -> tuple[Words, dict[str, Value]]:
    vectors, distinct, rows = words
    inside = Words(vectors.within(g), distinct.within(g), rows.within(g) if rows else None)
    return inside, {name: value.within(g) for name, value in inputs.items()}


def _give(g: Graph, encoding: Encoding, names: Sequence[str], width: int) -> None:
    for name in names:
        rows = name in ("roots", "stacked")
        value: Value = getattr(encoding, name)
        g.output(value, name, FLOAT if rows else INT64, ["n", width] if rows else ["n"])


def _with_scores(encoding: Encoding, head: TaskHead | None) -> Encoding:
    """The encoding; if the scores of `head` were read, they are called scores."""
    return encoding._replace(stacked=None, scores=encoding.stacked) if head else encoding
