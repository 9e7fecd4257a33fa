"""An encoder in an ONNX graph: the passes of its layers one after the other, as
`thinstack.core.encoder` runs them."""

from typing import NamedTuple

from thinstack.core.encoder import Encoder
from thinstack.core.head import TaskHead
from thinstack.export.onnx_graph import Graph
from thinstack.export.onnx_parts import export_cell, export_head, inline
from thinstack.export.onnx_passes import END, bottom_up, top_down
from thinstack.export.onnx_schedule import Schedule, positions

__all__ = ["Encoding", "Words", "encode", "encode_roots", "score_nodes"]


class Words(NamedTuple):
    """Names of values: vectors (U, X), and the row of each word among them (L,), or "" where each
    word has its own."""

    vectors: str
    rows: str = ""


class Encoding(NamedTuple):
    """Names of values: outputs (N, H) of all nodes, and their head-word vectors (N, W) or "", in
    stacked order."""

    stacked: str
    words: str


def score_nodes(g: Graph, encoder: Encoder, head: TaskHead, words: Words, plan: Schedule) -> str:
    """Scores (N, C) of all nodes in stacked order, by a head that reads single nodes, from the
    words in node order.

    Over one bottom-up layer the head runs inside the loop, which then collects C numbers a node
    instead of H.
    """
    if _is_one_pass(encoder):
        cell = encoder.stack()[0].up.cell
        return bottom_up(
            g, cell, export_cell(cell, head), *_word_inputs(g, encoder, words, plan), plan
        )[0]
    rows = encode(g, encoder, words, plan).stacked
    return inline(g, export_head(head, encoder.hidden_size), [rows])[0]


def encode_roots(g: Graph, encoder: Encoder, words: Words, plan: Schedule) -> str:
    """Outputs (B, H) of the roots, from the words in node order. Over one bottom-up layer no other
    node is kept."""
    if _is_one_pass(encoder):
        cell = encoder.stack()[0].up.cell
        inputs = _word_inputs(g, encoder, words, plan)
        return bottom_up(g, cell, export_cell(cell), *inputs, plan, roots_only=True)[0]
    return g.op(
        "Gather", encode(g, encoder, words, plan).stacked, g.op("Gather", plan.stacked, plan.roots)
    )


def encode(g: Graph, encoder: Encoder, words: Words, plan: Schedule) -> Encoding:
    """Outputs of all nodes, from the words (L,), or (N,) if every node has one, in node order."""
    leaf_inputs, leaf_rows, inner_inputs = _word_inputs(g, encoder, words, plan)
    down_inputs = (
        g.op("Concat", leaf_inputs, inner_inputs, axis=0) if not encoder.words_at_leaves else ""
    )
    outputs, heads = [""], ""
    for depth, layer in enumerate(encoder.stack()):
        if depth > 0:
            joined = outputs[0] if encoder.separate else g.op("Concat", *outputs, axis=1)
            leaf_inputs, inner_inputs = _split(g, joined, plan)
            leaf_rows = positions(g, plan.leaves)
            down_inputs = outputs[-1] if encoder.separate else joined
        cell = layer.up.cell
        up, *found = bottom_up(
            g, cell, export_cell(cell), leaf_inputs, leaf_rows, inner_inputs, plan
        )
        outputs, heads = [up], found[0] if found else ""
        if layer.down is not None:
            outputs.append(
                top_down(
                    g, layer.down.cell, export_cell(layer.down.cell), heads or down_inputs, plan
                )
            )
    if len(outputs) == 1:
        return Encoding(outputs[0], heads)
    parts = {"up": outputs[0], "down": outputs[1]}
    if encoder.mean is not None:
        cell = encoder.mean.cell
        leaves, _ = _split(g, outputs[1], plan)
        (parts["leaves"],) = bottom_up(
            g, cell, export_cell(cell), leaves, positions(g, plan.leaves), _no_inputs(g, plan), plan
        )
    return Encoding(g.op("Concat", *(parts[part] for part in encoder.readout), axis=1), heads)


def _is_one_pass(encoder: Encoder) -> bool:
    return len(encoder.layers) == 1 and encoder.stack()[0].down is None


def _word_inputs(g: Graph, encoder: Encoder, words: Words, plan: Schedule) -> tuple[str, str, str]:
    """Inputs of leaves, the row of each stacked leaf among them (L,), and inputs of inner nodes in
    stacked order."""
    if encoder.words_at_leaves:
        rows = g.op("Gather", words.rows, plan.leaf_words) if words.rows else plan.leaf_words
        return words.vectors, rows, _no_inputs(g, plan)
    leaves = g.op("Gather", words.vectors, plan.leaves)
    return leaves, positions(g, plan.leaves), g.op("Gather", words.vectors, plan.inner)


def _no_inputs(g: Graph, plan: Schedule) -> str:
    """An input of width 0 for every inner node."""
    return g.op("ConstantOfShape", g.op("Concat", g.op("Shape", plan.inner), g.vector(0), axis=0))


def _split(g: Graph, stacked: str, plan: Schedule) -> tuple[str, str]:
    """The rows of leaves and of inner nodes of values in stacked order."""
    leaves = g.op("Shape", plan.leaves)
    first = g.op("Slice", stacked, g.vector(0), leaves, g.vector(0))
    return first, g.op("Slice", stacked, leaves, g.vector(END), g.vector(0))
