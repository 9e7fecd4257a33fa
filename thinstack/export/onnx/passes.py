"""The two passes of a cell in an ONNX graph, as in `thinstack.core.depth_ordered`."""

import onnx

from thinstack.core.cell import Cell
from thinstack.export.onnx.graph import Graph, set_nodes
from thinstack.export.onnx.levels import Steps, Taken, take_steps
from thinstack.export.onnx.parts import Parts, inline
from thinstack.export.onnx.plan import Plan, Pools
from thinstack.export.onnx.value import Value


def depth_ordered(
    g: Graph,
    cell: Cell,
    parts: Parts,
    leaf_inputs: Value,
    leaf_rows: Value | None,
    inner_inputs: Value,
    plan: Plan,
    *,
    roots_only: bool = False,
) -> list[Value]:
    """Write the bottom-up pass. Returns what `parts` reads of the states of all nodes, (N, width)
    each, in stacked order, or with `roots_only` of the roots, (B, width) each.

    `leaf_inputs` (U, X) are those of leaves, of which equal ones may share a row; `leaf_rows` (L,)
    are the rows of leaves in stacked order, None if these are the same. `inner_inputs`
    (I, inner_size) are in stacked order.
    """
    widths, collected = cell.state_sizes, [] if roots_only else parts.widths
    leaves = inline(g, parts.leaf, [leaf_inputs])
    outputs = parts.read(g, leaves) if collected else []
    if leaf_rows is not None:
        outputs = [output.index_select(0, leaf_rows) for output in outputs]
    read = plan.by_slot if cell.arity > 0 else plan.by_edge
    pools = _first_states(g, leaves, leaf_rows, read, widths)

    def compose(body: Graph, previous: list[Value], rows: list[Value]) -> Taken:
        inputs, kinds, places, owners, *below = rows
        pool = [part.put(places, state) for part, state in zip(below, previous, strict=True)]
        links = [owners, kinds]
        if cell.arity > 0:
            links = [body.constant([]), kinds]
            pool = [
                part.view([-1, cell.arity, width]) for part, width in zip(pool, widths, strict=True)
            ]
        state = inline(body, parts.compose, [inputs, *links, *pool])
        return state, parts.read(body, state) if collected else []

    inner, below = plan.inner_counts, read.counts
    arrays = [
        (inner_inputs, inner),
        (plan.child_kinds, inner) if cell.arity > 0 else (plan.kinds, below),
        (read.places.unsqueeze(1), plan.before_counts),
        (plan.owners, below),
        *((part, below) for part in pools),
    ]
    steps = Steps(
        "compose_one_depth", compose, plan.steps, arrays, widths, collected, states=not collected
    )
    start = [g.zeros(0, width) for width in widths]
    results = take_steps(g, steps, start, outputs)
    if collected:
        return results
    before = plan.inner.size(0) - plan.before_counts[-1:]
    last = read.places[before:].unsqueeze(1)
    joining = below.op("ReduceSum", keepdims=1)
    ends = [pool[joining:].put(last, state) for pool, state in zip(pools, results, strict=True)]
    return parts.read(g, ends)


def _first_states(
    g: Graph, leaves: list[Value], leaf_rows: Value | None, pools: Pools, widths: list[int]
) -> list[Value]:
    """Return the initial states (P, width) of the pools, from those of the leaves."""
    if not pools.absent:
        rows = pools.leaves if leaf_rows is None else leaf_rows.index_select(0, pools.leaves)
        return [part.index_select(0, rows) for part in leaves]
    rows = pools.leaves
    if leaf_rows is not None:
        rows = Value.cat([g.constant([0]), leaf_rows + 1]).index_select(0, rows)
    absent = [g.zeros(1, width) for width in widths]
    tables = (Value.cat(pair) for pair in zip(absent, leaves, strict=True))
    return [table.index_select(0, rows) for table in tables]


def top_down(g: Graph, cell: Cell, parts: Parts, inputs: Value, plan: Plan) -> Value:
    """Write the top-down pass: outputs (N, H) from inputs (N, X), both in stacked order."""
    by_step = inputs.index_select(0, plan.rows)
    last = plan.rows.size(0) - plan.roots.size(0)
    roots = inline(g, parts.leaf, [by_step[last:]])
    outputs = parts.outputs(g, roots)

    def descend(body: Graph, previous: list[Value], rows: list[Value]) -> Taken:
        node_inputs, owners, slots = rows
        sides, above = slots + 1, [part.index_select(0, owners) for part in previous]
        if cell.arity > 0:
            links = [body.constant([]), sides.unsqueeze(1)]
            above = [part.unsqueeze(1) for part in above]
        else:
            links = [Value.arange(owners.size(0)), sides]
        state = inline(body, parts.compose, [node_inputs, *links, *above])
        return state, [parts.outputs(body, state)]

    below, collected = plan.by_edge.counts, [cell.hidden_size]
    arrays = [(by_step, below), (plan.above, below), (plan.slots, below)]
    steps = Steps(
        "descend_one_depth", descend, plan.steps, arrays, cell.state_sizes, collected, down=True
    )
    (states,) = take_steps(g, steps, roots, [outputs])
    position = Value.arange(plan.rows.size(0))
    return states.index_select(0, position.index_copy(0, plan.rows, position))


def without_softmax(parts: Parts) -> tuple[Parts, bool]:
    """Return the parts without a final softmax, for one over all rows, and whether there is one."""
    if parts.scores is None:
        return parts, False
    *before, last = parts.scores.node
    axis = [attribute.i for attribute in last.attribute if attribute.name == "axis"]
    of_output = [value.name for value in parts.scores.output] == [*last.output]
    if last.op_type != "Softmax" or axis not in ([1], [-1]) or not of_output:
        return parts, False
    logits = onnx.GraphProto()
    logits.CopyFrom(parts.scores)
    set_nodes(logits, before)
    logits.output[0].name = last.input[0]
    return parts._replace(scores=logits), True
