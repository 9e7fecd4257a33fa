"""The encoder of input trees, `thinstack.core.model.tree_encoder`, in an ONNX graph."""

from typing import Any, cast

from thinstack.core.cell import Cell
from thinstack.core.distance_trees import BinaryTrees
from thinstack.core.encoder import Encoder
from thinstack.core.head import TaskHead
from thinstack.core.model.tree_encoder import TreeEncoder
from thinstack.core.schedule import parents_of_lengths
from thinstack.export.onnx.encoder import Encoding, Words
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.parts import Parts, export_cell
from thinstack.export.onnx.passes import depth_ordered, top_down, without_softmax
from thinstack.export.onnx.plan import Plan, plan_binary, plan_parents, trees_of
from thinstack.export.onnx.value import Value


def encode(
    g: Graph,
    encoder: TreeEncoder,
    words: Words,
    inputs: dict[str, Value],
    *,
    head: TaskHead | None = None,
    roots_only: bool = False,
) -> Encoding:
    """Write the encoding of input trees, see `thinstack.export.onnx.encoder.encode`. Over one
    bottom-up layer, `head` runs inside the loop, which then collects C numbers per node instead of
    H, except on a GPU, which has enough memory."""
    one_pass = len(encoder.layers) == 1 and encoder.stack()[0].down is None
    head = head if g.root.device == "cpu" else None
    if one_pass and (head or roots_only):
        cell = encoder.stack()[0].up.cell
        parts, has_softmax = without_softmax(export_cell(cell, head))
        states = in_one_pass(g, encoder, cell, parts, words, inputs, roots_only=roots_only)
        scores, roots = (
            value.op("Softmax", axis=1) if has_softmax and value is not None else value
            for value in (states.stacked, states.roots)
        )
        return states._replace(stacked=None, scores=scores, roots=roots)
    plan = _schedule(encoder, inputs, words.vectors)
    stacked, heads = _encode(g, encoder, words, plan)
    roots = stacked.index_select(0, plan.stacked.index_select(0, plan.roots))
    return Encoding(
        root_nodes=plan.roots,
        places=plan.stacked,
        stacked=stacked,
        roots=roots,
        words=heads,
        inner=plan.inner,
        children=plan.child_nodes,
    )


def in_one_pass(
    g: Graph,
    encoder: Encoder,
    cell: Cell,
    parts: Parts,
    words: Words,
    inputs: dict[str, Value],
    *,
    roots_only: bool,
) -> Encoding:
    """Write the encoding of input trees by one bottom-up pass. `stacked` is what `parts` reads of
    the states; with `roots_only`, there are `roots` instead."""
    plan = _schedule(encoder, inputs, words.vectors)
    read = _word_inputs(g, encoder, words, plan)
    states = depth_ordered(g, cell, parts, *read, plan, roots_only=roots_only)[0]
    if roots_only:
        return Encoding(plan.roots, roots=states)
    return Encoding(plan.roots, plan.stacked, states)


def _schedule(encoder: Encoder, inputs: dict[str, Value], words: Value) -> Plan:
    leaves = words.size(0) if encoder.words_at_leaves else None
    if "depths" in inputs:  # of a parser
        transitions, depths, last = (inputs[name] for name in BinaryTrees._fields)
        return plan_binary((transitions, depths, last), leaves)
    indices = {name: inputs[name].long() for name in encoder.input_names}
    if encoder.structure == "transitions":
        return plan_binary(trees_of(indices["transitions"]), leaves)
    arity = encoder.arity
    if encoder.structure == "lengths":
        lengths, arity = indices["lengths"], 1
        # Limited, so that the graph fails for false lengths, instead of taking as much memory.
        nodes = lengths.op("ReduceSum", keepdims=1).minimum(words.size(0))
        parents = cast(Any, parents_of_lengths)(lengths, nodes)
    else:
        parents = indices["parents"]
    slots = indices.get("slots", parents.zeros_like())
    kinds = indices.get("kinds", parents.ones_like())
    return plan_parents(parents, slots, kinds, arity)


def _encode(g: Graph, encoder: TreeEncoder, words: Words, plan: Plan) -> tuple[Value, Value | None]:
    """Return outputs (N, H) and head words (N, W) in stacked order, from words in node order."""
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
            leaf_rows = None
            down_inputs = outputs[-1] if encoder.separate else joined
        up, parts = layer.up.cell, export_cell(layer.up.cell)
        states = depth_ordered(g, up, parts, leaf_inputs, leaf_rows, inner_inputs, plan)
        outputs, heads = states[:1], states[1] if up.word_part >= 0 else None
        if layer.down is not None:
            read, down = heads or down_inputs, layer.down.cell
            outputs.append(top_down(g, down, export_cell(down), read, plan))
    if len(outputs) == 1:
        return outputs[0], heads
    parts_read = {"up": outputs[0], "down": outputs[1]}
    if encoder.mean is not None:
        cell = encoder.mean.cell
        (parts_read["leaves"],) = depth_ordered(
            g, cell, export_cell(cell), outputs[1][:leaves], None, none, plan
        )
    return Value.cat([parts_read[part] for part in encoder.readout], 1), heads


def _word_inputs(
    g: Graph, encoder: Encoder, words: Words, plan: Plan
) -> tuple[Value, Value | None, Value]:
    """Return inputs of leaves, the row among them of each stacked leaf (L,), or None if they are
    the same, and inputs of inner nodes in stacked order."""
    if encoder.words_at_leaves:
        rows, words_of_leaves = words.rows, plan.leaf_words
        if rows is not None and words_of_leaves is not None:
            rows = rows.index_select(0, words_of_leaves)
        return words.distinct, rows or words_of_leaves, g.zeros(plan.inner.size(0), 0)
    leaves = words.vectors.index_select(0, plan.leaves)
    return leaves, None, words.vectors.index_select(0, plan.inner)
