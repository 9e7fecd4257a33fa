"""An encoder in an ONNX graph, as `thinstack.core.encoder` has it."""

from typing import NamedTuple

from thinstack.core.encoder import Encoder
from thinstack.core.head import TaskHead
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.parts import export_cell, export_head, inline
from thinstack.export.onnx.passes import Plan, depth_ordered, top_down
from thinstack.export.onnx.value import Value

__all__ = ["Encoding", "Words", "encode", "encode_roots", "score_nodes"]


class Words(NamedTuple):
    """Vectors (U, X), and the row of each word among them (L,), or None where each word has its
    own."""

    vectors: Value
    rows: Value | None = None


class Encoding(NamedTuple):
    """Outputs (N, H) of all nodes, and their head-word vectors (N, W) or None, in stacked order."""

    stacked: Value
    words: Value | None


def score_nodes(g: Graph, encoder: Encoder, head: TaskHead, words: Words, plan: Plan) -> Value:
    """Scores (N, C) of all nodes in stacked order, by a head that reads single nodes, from the
    words in node order.

    Over one bottom-up layer the head runs inside the loop, which then collects C numbers a node
    instead of H.
    """
    if _is_one_pass(encoder):
        cell, inputs = encoder.stack()[0].up.cell, _word_inputs(g, encoder, words, plan)
        return depth_ordered(g, cell, export_cell(cell, head), *inputs, plan)[0]
    rows = encode(g, encoder, words, plan).stacked
    return inline(g, export_head(head, encoder.hidden_size), [rows])[0]


def encode_roots(g: Graph, encoder: Encoder, words: Words, plan: Plan) -> Value:
    """Outputs (B, H) of the roots, from the words in node order. Over one bottom-up layer no other
    node is kept."""
    if _is_one_pass(encoder):
        cell, inputs = encoder.stack()[0].up.cell, _word_inputs(g, encoder, words, plan)
        return depth_ordered(g, cell, export_cell(cell), *inputs, plan, roots_only=True)[0]
    stacked = encode(g, encoder, words, plan).stacked
    return stacked.index_select(0, plan.stacked.index_select(0, plan.roots))


def encode(g: Graph, encoder: Encoder, words: Words, plan: Plan) -> Encoding:
    """Outputs of all nodes, from the words (L,), or (N,) if every node has one, in node order."""
    leaf_inputs, leaf_rows, inner_inputs = _word_inputs(g, encoder, words, plan)
    none, leaves = g.zeros(plan.inner.size(0), 0), plan.leaves.size(0)
    down_inputs = leaf_inputs
    if encoder.reads_words_twice:
        down_inputs = Value.cat([leaf_inputs, inner_inputs])
    outputs: list[Value] = []
    heads: Value | None = None
    for depth, layer in enumerate(encoder.stack()):
        if depth > 0:
            joined = outputs[0] if encoder.separate else Value.cat(outputs, 1)
            leaf_inputs, inner_inputs = joined[:leaves], joined[leaves:]
            leaf_rows = Value.arange(leaves)
            down_inputs = outputs[-1] if encoder.separate else joined
        up, parts = layer.up.cell, export_cell(layer.up.cell)
        found = depth_ordered(g, up, parts, leaf_inputs, leaf_rows, inner_inputs, plan)
        outputs, heads = found[:1], found[1] if up.word_part >= 0 else None
        if layer.down is not None:
            read, down = heads or down_inputs, layer.down.cell
            outputs.append(top_down(g, down, export_cell(down), read, plan))
    if len(outputs) == 1:
        return Encoding(outputs[0], heads)
    parts_read = {"up": outputs[0], "down": outputs[1]}
    if encoder.mean is not None:
        cell = encoder.mean.cell
        (parts_read["leaves"],) = depth_ordered(
            g, cell, export_cell(cell), outputs[1][:leaves], Value.arange(leaves), none, plan
        )
    return Encoding(Value.cat([parts_read[part] for part in encoder.readout], 1), heads)


def _is_one_pass(encoder: Encoder) -> bool:
    return len(encoder.layers) == 1 and encoder.stack()[0].down is None


def _word_inputs(
    g: Graph, encoder: Encoder, words: Words, plan: Plan
) -> tuple[Value, Value, Value]:
    """Inputs of leaves, the row of each stacked leaf among them (L,), and inputs of inner nodes in
    stacked order."""
    if encoder.words_at_leaves:
        rows = words.rows.index_select(0, plan.leaf_words) if words.rows else plan.leaf_words
        return words.vectors, rows, g.zeros(plan.inner.size(0), 0)
    leaves = words.vectors.index_select(0, plan.leaves)
    inner = words.vectors.index_select(0, plan.inner)
    return leaves, Value.arange(plan.leaves.size(0)), inner
