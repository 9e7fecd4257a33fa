"""The schedule and the two passes of a cell in an ONNX graph, as in `thinstack.core.schedule`
and `depth_ordered`. The cell's own operations are put into the loops."""

from typing import Any, cast

import numpy as np
import onnx
from torch import Tensor

from thinstack.core.cell import Cell
from thinstack.core.schedule import jump, or_itself, schedule_depths
from thinstack.export.onnx.graph import Graph
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


def bounds(counts: list[Value]) -> Value:
    """The bounds (D, 2K) of each of D steps in arrays that all steps share: K starts, then K ends.

    Each of the `counts` (D,) says how many rows of one array belong to each step.
    """
    stacked = Value.stack(counts, 1)
    ends = stacked.cumsum(0)
    return Value.cat([ends - stacked, ends], 1)


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

    body = g.body("compose_one_depth")
    previous = _states(body, widths)
    collected = [body.input(f"outputs_{k}", FLOAT, ["done", width]) for k, width in enumerate(kept)]
    counts = [plan.leaf_counts[:-1], plan.inner_counts[1:]]
    if cell.arity == 0:
        counts.append(_nodes_below(plan))
    starts, ends = _bounds(body, counts, body.step)
    (leaf, inner), (leaf_end, inner_end) = starts[:2], ends[:2]
    leaf_step = [part[leaf:leaf_end] for part in leaves]
    if cell.arity > 0:
        links = [body.constant([]), plan.child_kinds[inner:inner_end]]
        index = plan.children[inner:inner_end]
        absent = [body.constant(np.zeros((1, width), np.float32)) for width in widths]
        pool = [
            Value.cat([absent[k], previous[k], leaf_step[k]]).index_select(0, index)
            for k in range(len(leaves))
        ]
    else:
        links = [plan.owners[starts[2] : ends[2]], plan.kinds[starts[2] : ends[2]]]
        pool = [Value.cat([previous[k], leaf_step[k]]) for k in range(len(leaves))]
    previous = inline(body, parts.compose, [inner_inputs[inner:inner_end], *links, *pool])
    found = inline(body, parts.read, previous) if kept else []
    collected = [Value.cat([collected[k], found[k]]) for k in range(len(kept))]
    _give(body, previous, widths, collected, kept)

    start = [g.constant(np.zeros((0, width), np.float32)) for width in widths]
    results = g.loop(body, _steps(plan), [*start, *outputs])
    if kept:
        return results[len(widths) :]
    joining = plan.leaves.size(0) - plan.leaf_counts[-1:]
    last = [Value.cat([results[k], leaves[k][joining:]]) for k in range(len(leaves))]
    return inline(g, parts.read, [part.index_select(0, plan.root_rows) for part in last])


def top_down(g: Graph, cell: Cell, parts: Parts, inputs: Value, plan: Plan) -> Value:
    """Outputs (N, H) of all nodes from their inputs (N, X), both in stacked order."""
    by_step = inputs.index_select(0, plan.rows)
    last = plan.rows.size(0) - (plan.leaf_counts + plan.inner_counts)[-1:]
    roots = inline(g, parts.leaf, [by_step[last:]])
    outputs = inline(g, parts.read, roots)[0]

    body = g.body("descend_one_depth")
    previous = _states(body, cell.state_sizes)
    collected = body.input("outputs", FLOAT, ["done", cell.hidden_size])
    (node,), (node_end,) = _bounds(body, [_nodes_below(plan)], _steps(plan) - body.step - 1)
    owners, sides = plan.owners[node:node_end], plan.slots[node:node_end] + 1
    above = [part.index_select(0, owners) for part in previous]
    if cell.arity > 0:
        links = [body.constant([]), sides.unsqueeze(1)]
        above = [part.unsqueeze(1) for part in above]
    else:
        links = [Value.arange(owners.size(0)), sides]
    previous = inline(body, parts.compose, [by_step[node:node_end], *links, *above])
    collected = Value.cat([inline(body, parts.read, previous)[0], collected])
    _give(body, previous, cell.state_sizes, [collected], [cell.hidden_size])

    states = g.loop(body, _steps(plan), [*roots, outputs])[-1]
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


def _bounds(body: Graph, counts: list[Value], step: Value) -> tuple[list[Value], list[Value]]:
    """The starts and the ends in the row of `bounds` for a step."""
    row, width = bounds(counts).index_select(0, step), 2 * len(counts)
    parts = body.ops("Split", row, outputs=width, axis=0, num_outputs=width)
    return parts[: len(counts)], parts[len(counts) :]


def _states(body: Graph, widths: list[int]) -> list[Value]:
    """The parts of the states that a loop's body gets from the step before."""
    return [
        body.input(f"previous_{k}", FLOAT, [f"rows_{k}", width]) for k, width in enumerate(widths)
    ]


def _give(
    body: Graph, state: list[Value], widths: list[int], collected: list[Value], kept: list[int]
) -> None:
    """Declare the outputs of a loop's body: the new state, then what is collected."""
    for k, width in enumerate(widths):
        body.output(state[k], f"state_{k}", FLOAT, [f"n_{k}", width])
    for k, width in enumerate(kept):
        body.output(collected[k], f"collected_{k}", FLOAT, ["done_next", width])
