"""The two passes of a cell in an ONNX graph, as in `thinstack.core.depth_ordered`, depth by depth.
On a GPU, a loop would pass its states through the host, because onnxruntime's WebGPU provider has
none; there, each of the first steps is a branch in the previous step, which an `If` takes without a
copy, and only deeper trees reach a loop, in the last branch."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import onnx
from onnx import helper

from thinstack.core.cell import Cell
from thinstack.export.onnx.graph import Graph, names_read, set_nodes
from thinstack.export.onnx.parts import Parts, inline
from thinstack.export.onnx.plan import Plan, Pools
from thinstack.export.onnx.value import Value

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64

MOST_UNROLLED: Final = 28
"""Nested steps in a graph for a GPU. Protobuf reads 100 nested messages, and a branch is three."""
CUT_AT_ONCE: Final = 6
"""Steps whose rows one node cuts from an array, with the rest in a seventh part, the most that
`crossing` allows."""

STEP: Final = "step_"  # prefix of the names of their graphs

Taken = tuple[list[Value], list[Value]]
"""The states after a step, and the values to collect."""
Step = Callable[[Graph, list[Value], list[Value]], Taken]
"""A function that writes a step to a graph, from the states before it and its rows of arrays."""


class Steps(NamedTuple):
    """The steps of a pass."""

    name: str  # of the loop
    step: Step
    number: Value  # of steps, a scalar
    arrays: list[tuple[Value, Value]]  # of which each step reads some rows, with their counts (D,)
    widths: list[int]  # of the states
    collected: list[int]  # widths of the collected values
    down: bool = False  # whether the first step reads the last rows, and collects the last values
    states: bool = False  # whether to return the last states instead of the collected values

    def joined(self, graph: Graph, collected: Sequence[list[Value]]) -> list[Value]:
        """Concatenate the collected values of the steps."""
        ordered = collected[::-1] if self.down else collected
        return [
            Value.cat([part.within(graph) for part in parts])
            for parts in zip(*ordered, strict=True)
        ]


def take_steps(g: Graph, steps: Steps, start: list[Value], collected: list[Value]) -> list[Value]:
    """Write the steps, from the first states and the values collected from them."""
    if g.root.device == "cpu":
        return _looped(g, steps, 0, start, collected)
    return _unrolled(g, steps, 0, start, [collected], [])


def _looped(
    g: Graph, steps: Steps, first: int, start: list[Value], collected: list[Value]
) -> list[Value]:
    body = g.body(steps.name)
    previous = [
        body.input(f"previous_{k}", FLOAT, [f"rows_{k}", width])
        for k, width in enumerate(steps.widths)
    ]
    counts = list({count.name: count for _, count in steps.arrays}.values())
    before = [
        body.input(f"outputs_{k}", FLOAT, ["done", width])
        for k, width in enumerate(steps.collected)
    ]
    edges = [body.input(f"edge_{k}", INT64, [1]) for k in range(len(counts))]
    number = body.step + first if first else body.step
    if steps.down:
        number = steps.number - number - 1
    next_edges = [edges_of(count, last=not steps.down).index_select(0, number) for count in counts]
    ends = (next_edges, edges) if steps.down else (edges, next_edges)
    rows_of = {n.name: slice(*pair) for n, *pair in zip(counts, *ends, strict=True)}
    state, outputs = steps.step(
        body, previous, [array[rows_of[n.name]] for array, n in steps.arrays]
    )
    for k, width in enumerate(steps.widths):
        body.output(state[k], f"state_{k}", FLOAT, [f"n_{k}", width])
    for k, value in enumerate(steps.joined(body, [before, outputs])):
        body.output(value, f"collected_{k}", FLOAT, ["done_next", steps.collected[k]])
    # Omit the edges of unused arrays.
    read = names_read([end.name for end in body.outputs], body.nodes)
    wanted = [k for k, pair in enumerate(zip(*ends, strict=True)) if read & {e.name for e in pair}]
    del body.inputs[len(body.inputs) - len(edges) :]
    body.inputs += [helper.make_tensor_value_info(edges[k].name, INT64, [1]) for k in wanted]
    for k in wanted:
        body.output(next_edges[k], f"edge_{k}", INT64, [1])
    begin = [_first_edge(g, steps, first, counts[k]) for k in wanted]
    left = steps.number - first if first else steps.number
    results = g.loop(body, left, [*start, *collected, *begin])
    states = len(start)
    return results[:states] if steps.states else results[states : states + len(collected)]


def edges_of(counts: Value, *, last: bool) -> Value:
    """Return the start or end (D, 1) of the rows of each step, from counts (D,) of rows."""
    edges: Value = counts.cumsum(0) if last else counts.sums_before()
    return edges.unsqueeze(1)


def _first_edge(g: Graph, steps: Steps, first: int, counts: Value) -> Value:
    """Return the start (1,) of the rows of the step `first`, or their end in a pass down."""
    if not first:
        return counts.op("ReduceSum", keepdims=1) if steps.down else g.constant([0])
    # Belongs to this graph, because only it has so many steps.
    edges = edges_of(counts, last=steps.down).within(g)
    return edges.select(0, steps.number - first - 1 if steps.down else first)


def _unrolled(
    g: Graph,
    steps: Steps,
    done: int,
    start: list[Value],
    collected: list[list[Value]],
    rows: list[list[Value]],
) -> list[Value]:
    """Write the steps from `done` on, each in a branch of the previous step. `collected`: the
    values of each step so far, which one node concatenates at the end. `rows`: for each array its
    rows for the next steps, then the remaining rows."""
    more, over = Graph(f"{STEP}{done}", outer=g), Graph(f"after_step_{done}", outer=g)
    _give(over, steps, start if steps.states else steps.joined(over, collected))
    inside = [value.within(more) for value in start]
    if done == MOST_UNROLLED:
        _give(more, steps, _looped(more, steps, done, inside, steps.joined(more, collected)))
    else:
        if done % CUT_AT_ONCE == 0:
            left = [parts[0] for parts in rows] or [array for array, _ in steps.arrays]
            if steps.down and not rows:  # the roots, which come last, are not read
                left = [array[: n.op("ReduceSum", keepdims=1)] for array, n in steps.arrays]
            rows = [
                _cut(more, array, count, done, down=steps.down)
                for array, (_, count) in zip(left, steps.arrays, strict=True)
            ]
        state, outputs = steps.step(more, inside, [parts[0].within(more) for parts in rows])
        others = [parts[1:] for parts in rows]
        results = _unrolled(more, steps, done + 1, state, [*collected, outputs], others)
        _give(more, steps, results)
    return g.choose(steps.number.within(g) > done, more, over)


def _cut(g: Graph, array: Value, counts: Value, done: int, *, down: bool) -> list[Value]:
    """Return the rows of an array for the next steps, then the remaining rows."""
    none = g.constant(np.zeros(CUT_AT_ONCE, np.int64))
    first = Value.cat([counts.flip([0]) if down else counts, none])
    sizes = first.within(g)[done : done + CUT_AT_ONCE]
    rest = array.within(g).size(0) - sizes.op("ReduceSum", keepdims=1)
    all_sizes = Value.cat([rest, sizes.flip([0])] if down else [sizes, rest])
    parts = g.ops("Split", array, all_sizes, outputs=CUT_AT_ONCE + 1, axis=0)
    return parts[::-1] if down else parts


def _give(g: Graph, steps: Steps, values: list[Value]) -> None:
    widths = steps.widths if steps.states else steps.collected
    for k, (value, width) in enumerate(zip(values, widths, strict=True)):
        g.output(value, f"given_{k}", FLOAT, [f"rows_{k}", width])


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
