"""The loops of the executors in an ONNX graph: a cell run over a forest by depth, from the leaves
up or from the roots down.

They follow `thinstack.core.depth_ordered` and `thinstack.core.top_down`; the cell's own operations
are put into their bodies.
"""

import numpy as np
import onnx

from thinstack.core.cell import Cell
from thinstack.export.onnx_graph import Graph
from thinstack.export.onnx_parts import Parts, inline
from thinstack.export.onnx_schedule import Schedule

__all__ = ["bottom_up", "top_down"]

FLOAT, INT64, BOOL = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL

END = 2**62


def bottom_up(
    g: Graph,
    cell: Cell,
    parts: Parts,
    leaf_inputs: str,
    leaf_rows: str,
    inner_inputs: str,
    plan: Schedule,
    *,
    roots_only: bool = False,
) -> list[str]:
    """What `parts` read of the states of all nodes, (N, width) each in stacked order; or of the
    roots alone, (B, width) each.

    `leaf_inputs` (U, X), of which each leaf in stacked order has the row that `leaf_rows` (L,)
    says; equal leaves may share one. `inner_inputs` (I, inner_size) are in stacked order.
    """
    widths = cell.state_sizes
    leaves = inline(g, parts.leaf, [leaf_inputs])
    body = g.subgraph("compose_one_depth")
    step = body.input("step", INT64, [])
    go_on = body.input("go_on", BOOL, [])
    previous = [
        body.input(f"previous_{k}", FLOAT, [f"rows_{k}", width]) for k, width in enumerate(widths)
    ]
    kept = [] if roots_only else parts.widths
    collected = [
        body.input(f"collected_{k}", FLOAT, ["done", width]) for k, width in enumerate(kept)
    ]

    bounds = body.ops(
        "Split", body.op("Gather", plan.bounds, step), outputs=6, axis=0, num_outputs=6
    )
    below, here, level = bounds[0:2], bounds[2:4], bounds[4:6]
    joining = body.op("Slice", leaf_rows, *below, body.vector(0))
    pool = [body.op("Gather", part, joining) for part in leaves]
    if cell.arity:
        rows = body.op("Slice", plan.children, *here, body.vector(0))
        for k, width in enumerate(widths):
            absent = body.constant(np.zeros((1, width), np.float32))
            pool[k] = body.op(
                "Gather", body.op("Concat", absent, previous[k], pool[k], axis=0), rows
            )
        owner, kind = (
            body.constant(np.zeros(0, np.int64)),
            body.op("Slice", plan.child_kinds, *here, body.vector(0)),
        )
    else:
        pool = [body.op("Concat", previous[k], part, axis=0) for k, part in enumerate(pool)]
        owner, kind = (
            body.op("Slice", values, *level, body.vector(0)) for values in (plan.owners, plan.kinds)
        )
    inputs = body.op("Slice", inner_inputs, *here, body.vector(0))
    state = inline(body, parts.compose, [inputs, owner, kind, *pool])
    found = inline(body, parts.read, state) if kept else []
    _outputs(
        body,
        go_on,
        state,
        widths,
        [body.op("Concat", *pair, axis=0) for pair in zip(collected, found, strict=True)],
        kept,
    )

    start = [g.constant(np.zeros((0, width), np.float32)) for width in widths]
    first = (
        [g.op("Gather", part, leaf_rows) for part in inline(g, parts.read, leaves)] if kept else []
    )
    results = _loop(g, plan, body, [*start, *first])
    if kept:
        return results[len(widths) :]
    joining = g.op("Slice", leaf_rows, plan.last_leaves, g.vector(END), g.vector(0))
    last = [g.op("Gather", part, joining) for part in leaves]
    last = [g.op("Concat", results[k], part, axis=0) for k, part in enumerate(last)]
    return inline(g, parts.read, [g.op("Gather", part, plan.root_rows) for part in last])


def top_down(g: Graph, cell: Cell, parts: Parts, inputs: str, plan: Schedule) -> str:
    """Outputs (N, H) of all nodes from their inputs (N, X), both in stacked order."""
    widths = cell.state_sizes
    by_step = g.op("Gather", inputs, plan.rows)
    roots = inline(g, parts.leaf, [g.op("Slice", by_step, plan.last, g.vector(END), g.vector(0))])
    body = g.subgraph("descend_one_depth")
    done = body.input("steps_done", INT64, [])
    go_on = body.input("go_on", BOOL, [])
    previous = [
        body.input(f"previous_{k}", FLOAT, [f"rows_{k}", width]) for k, width in enumerate(widths)
    ]
    collected = body.input("outputs", FLOAT, ["done", cell.hidden_size])

    step = body.op("Sub", body.op("Sub", plan.steps, done), body.scalar(1))
    bounds = body.ops(
        "Split", body.op("Gather", plan.bounds, step), outputs=6, axis=0, num_outputs=6
    )
    here = bounds[4:6]
    parent, slots = (
        body.op("Slice", values, *here, body.vector(0)) for values in (plan.owners, plan.slots)
    )
    kind = body.op("Add", slots, body.scalar(1))
    above = [body.op("Gather", part, parent) for part in previous]
    if cell.arity:
        above = [body.op("Unsqueeze", part, body.vector(1)) for part in above]
        owner, kind = (
            body.constant(np.zeros(0, np.int64)),
            body.op("Unsqueeze", kind, body.vector(1)),
        )
    else:
        owner = body.op("Range", body.scalar(0), body.op("Size", parent), body.scalar(1))
    state = inline(
        body, parts.compose, [body.op("Slice", by_step, *here, body.vector(0)), owner, kind, *above]
    )
    found = inline(body, parts.read, state)[0]
    _outputs(
        body,
        go_on,
        state,
        widths,
        [body.op("Concat", found, collected, axis=0)],
        [cell.hidden_size],
    )

    results = _loop(g, plan, body, [*roots, inline(g, parts.read, roots)[0]])
    return g.op("Gather", results[-1], plan.places)


def _outputs(
    body: Graph,
    go_on: str,
    state: list[str],
    widths: list[int],
    collected: list[str],
    collected_widths: list[int],
) -> None:
    """Declare the outputs of a loop's body: the new state, then what is collected."""
    body.output(go_on, "go_on_next", BOOL, [])
    for k, width in enumerate(widths):
        body.output(state[k], f"state_{k}", FLOAT, [f"n_{k}", width])
    for k, width in enumerate(collected_widths):
        body.output(collected[k], f"collected_next_{k}", FLOAT, ["done_next", width])


def _loop(g: Graph, plan: Schedule, body: Graph, start: list[str]) -> list[str]:
    return g.ops(
        "Loop",
        plan.steps,
        g.constant(np.array(True)),
        *start,
        outputs=len(start),
        body=body.build(),
    )
