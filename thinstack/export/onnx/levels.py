"""The steps of a pass over trees, depth by depth, in an ONNX graph. On a GPU, a loop would pass its
states through the host, because onnxruntime's WebGPU provider has none; there, each of the first
steps is a branch in the previous step, which an `If` takes without a copy, and only deeper trees
reach a loop, in the last branch."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import onnx
from onnx import helper

from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64

MOST_UNROLLED: Final = 28
"""Nested steps in a graph for a GPU. Protobuf reads 100 nested messages, and a branch is three."""
CUT_AT_ONCE: Final = 6
"""Steps whose rows one node cuts from an array, with the rest in a seventh part, see `crossing`."""

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

    def wanted(self) -> list[int]:
        """Return the widths of the results."""
        return self.widths if self.states else self.collected

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
    """Write the steps from `first` on as a loop."""
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
    read = body.read()
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
    for k, (value, width) in enumerate(zip(values, steps.wanted(), strict=True)):
        g.output(value, f"given_{k}", FLOAT, [f"rows_{k}", width])
