"""The schedule and the two passes of a cell in an ONNX graph, as in `thinstack.core.schedule`
and `depth_ordered`. The cell's own operations are put into the loops."""

from typing import Any, cast

import numpy as np
import onnx
from torch import Tensor

from thinstack.core.cell import Cell
from thinstack.core.schedule import jump, or_itself, schedule_depths
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.levels import Steps, take_steps
from thinstack.export.onnx.parts import Parts, inline
from thinstack.export.onnx.value import Value

FLOAT, INT64, BOOL = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL

Plan = Any
"""A `Schedule` whose fields are values."""


def schedule_parents(
    parents: Any, slots: Any, kinds: Any, arity: int, depths: Value | None = None
) -> Plan:
    """The schedule of a forest of N nodes. `depths` (N,) are the nodes' depths if they are known.

    What is not read of a schedule costs nothing: the graph drops it.
    """
    depths = depths or depths_of(parents)
    # Without the zero the greatest depth of an empty forest would be the least int64.
    zero = depths.graph.constant([0])
    deepest: Any = Value.cat([depths, zero]).op("ReduceMax", keepdims=1)
    deepest.is_number = True
    return schedule_depths(parents, slots, kinds, cast(Tensor, depths), deepest, arity)


def depths_of(parents: Any) -> Value:
    """The distance (N,) of each node from its root."""
    g: Graph = parents.graph
    body = g.body("double_the_jump")
    depth, above = (body.input(name, INT64, ["N"]) for name in ("depth", "above"))
    added, further = cast(tuple[Value, Value], jump(cast(Tensor, depth), cast(Tensor, above)))
    body.output(depth + added, "depth_next", INT64, ["N"])
    body.output(further, "above_next", INT64, ["N"])
    start = [(parents >= 0).long(), cast(Value, or_itself(parents))]
    return g.loop(body, 63, start, going=added.sum().op("Cast", to=BOOL))[0].shaped_as(parents)


def depth_ordered(
    g: Graph,
    cell: Cell,
    parts: Parts,
    leaf_inputs: Value,
    leaf_rows: Value,
    inner_inputs: Value,
    plan: Plan,
    *,
    roots_only: bool = False,
) -> list[Value]:
    """What `parts` read of the states of all nodes, (N, width) each, in stacked order. With
    `roots_only`, what they read of the roots, (B, width) each.

    Args:
        g: the graph.
        cell: the cell.
        parts: its exported parts.
        leaf_inputs: (U, X) inputs of leaves; equal leaves may share one.
        leaf_rows: (L,) the row of `leaf_inputs` for each leaf in stacked order.
        inner_inputs: (I, inner_size) inputs of inner nodes in stacked order.
        plan: the schedule.
        roots_only: whether only roots are read.
    """
    widths, kept = cell.state_sizes, [] if roots_only else parts.widths
    leaves = inline(g, parts.leaf, [leaf_inputs])
    outputs = [x.index_select(0, leaf_rows) for x in inline(g, parts.read, leaves)] if kept else []
    leaves = [part.index_select(0, leaf_rows) for part in leaves]

    leaf, inner = plan.leaf_counts[:-1], plan.inner_counts[1:]
    arrays = [*((part, leaf) for part in leaves), (inner_inputs, inner)]
    if cell.arity > 0:
        arrays += [(plan.child_kinds, inner), (plan.children, inner)]
    else:
        below = _nodes_below(plan)
        arrays += [(plan.owners, below), (plan.kinds, below)]

    def compose(body: Graph, previous: list[Value], rows: list[Value]) -> Any:
        parts_of_leaves, (inputs, first, second) = rows[:-3], rows[-3:]
        pool = [Value.cat(pair) for pair in zip(previous, parts_of_leaves, strict=True)]
        links = [first, second]
        if cell.arity > 0:
            links = [body.constant([]), first]
            absent = [body.constant(np.zeros((1, width), np.float32)) for width in widths]
            pairs = zip(absent, previous, parts_of_leaves, strict=True)
            pool = [Value.cat(each).index_select(0, second) for each in pairs]
        state = inline(body, parts.compose, [inputs, *links, *pool])
        return state, inline(body, parts.read, state) if kept else []

    steps = Steps("compose_one_depth", compose, _steps(plan), arrays, widths, kept, states=not kept)
    start = [g.constant(np.zeros((0, width), np.float32)) for width in widths]
    results = take_steps(g, steps, start, outputs)
    if kept:
        return results
    joining = plan.leaves.size(0) - plan.leaf_counts[-1:]
    last = [Value.cat([results[k], leaves[k][joining:]]) for k in range(len(leaves))]
    return inline(g, parts.read, [part.index_select(0, plan.root_rows) for part in last])


def top_down(g: Graph, cell: Cell, parts: Parts, inputs: Value, plan: Plan) -> Value:
    """Outputs (N, H) of all nodes from their inputs (N, X), both in stacked order."""
    by_step = inputs.index_select(0, plan.rows)
    last = plan.rows.size(0) - (plan.leaf_counts + plan.inner_counts)[-1:]
    roots = inline(g, parts.leaf, [by_step[last:]])
    outputs = inline(g, parts.read, roots)[0]

    def descend(body: Graph, previous: list[Value], rows: list[Value]) -> Any:
        node_inputs, owners, slots = rows
        sides, above = slots + 1, [part.index_select(0, owners) for part in previous]
        if cell.arity > 0:
            links = [body.constant([]), sides.unsqueeze(1)]
            above = [part.unsqueeze(1) for part in above]
        else:
            links = [Value.arange(owners.size(0)), sides]
        state = inline(body, parts.compose, [node_inputs, *links, *above])
        return state, inline(body, parts.read, state)[:1]

    below, kept = _nodes_below(plan), [cell.hidden_size]
    arrays = [(by_step, below), (plan.owners, below), (plan.slots, below)]
    steps = Steps(
        "descend_one_depth", descend, _steps(plan), arrays, cell.state_sizes, kept, down=True
    )
    (states,) = take_steps(g, steps, roots, [outputs])
    position = Value.arange(plan.rows.size(0))
    return states.index_select(0, position.index_copy(0, plan.rows, position))


def _steps(plan: Plan) -> Value:
    """The number D of steps after that of the deepest leaves."""
    counts: Value = plan.leaf_counts
    return (counts.size(0) - 1).squeeze(0)


def _nodes_below(plan: Plan) -> Value:
    """How many nodes there are at the depth below each step (D,)."""
    counts: Value = (plan.leaf_counts + plan.inner_counts)[:-1]
    return counts
