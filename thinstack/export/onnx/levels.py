"""The steps of a pass over trees, depth by depth, in an ONNX graph: as a loop, or for a GPU one
within the other.

A loop hands its states on through the host, for onnxruntime's provider for WebGPU has no loop. So
for a GPU, each of the first steps stands in a branch of the step before, which an `If` takes
without a copy. Only trees that are deeper still come to a loop, in the last branch.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import onnx

from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value

FLOAT = onnx.TensorProto.FLOAT

MOST_UNROLLED: Final = 28
"""Steps that stand in a graph for a GPU. Protobuf reads 100 messages one in the other, and a branch
is three."""
CUT_AT_ONCE: Final = 6
"""Steps whose rows one node cuts from an array, beside the rest: 7 results, as in `crossing`."""

STEP: Final = "step_"
"""What the names of their graphs begin with."""

Step = Callable[[Graph, list[Value], list[Value]], tuple[list[Value], list[Value]]]
"""What a step does in a graph: from the states before and its rows of the arrays to the states
after it, and what is kept of them."""


class Steps(NamedTuple):
    """The steps of a pass.

    Attributes:
        name: of the loop.
        step: what a step does.
        number: how many there are, a scalar.
        arrays: arrays of which each step reads some rows, with the numbers of these (D,).
        widths, kept: widths of the states, and of what is kept.
        down: whether the first step reads the last rows, and what is kept of it comes last.
        states: whether the last states are wanted, and not all that was kept.
    """

    name: str
    step: Step
    number: Value
    arrays: list[tuple[Value, Value]]
    widths: list[int]
    kept: list[int]
    down: bool = False
    states: bool = False

    def wanted(self) -> list[int]:
        """Widths of the results."""
        return self.widths if self.states else self.kept

    def joined(self, graph: Graph, kept: Sequence[list[Value]]) -> list[Value]:
        """All that was kept, from what was kept of each step."""
        ordered = kept[::-1] if self.down else kept
        return [
            Value.cat([each.within(graph) for each in parts])
            for parts in zip(*ordered, strict=True)
        ]


def take_steps(g: Graph, steps: Steps, start: list[Value], kept: list[Value]) -> list[Value]:
    """The last states, or all that was kept, from the first states and what is kept of them."""
    if g.root.device == "cpu":
        return _looped(g, steps, 0, start, kept)
    return _unrolled(g, steps, 0, start, [kept], [])


def _looped(
    g: Graph, steps: Steps, first: int, start: list[Value], kept: list[Value]
) -> list[Value]:
    """The steps from the number `first` on, as a loop."""
    body = g.body(steps.name)
    previous = [
        body.input(f"previous_{k}", FLOAT, [f"rows_{k}", width])
        for k, width in enumerate(steps.widths)
    ]
    before = [
        body.input(f"outputs_{k}", FLOAT, ["done", width]) for k, width in enumerate(steps.kept)
    ]
    number = body.step + first if first else body.step
    rows = _rows(body, steps.arrays, steps.number - number - 1 if steps.down else number)
    state, found = steps.step(body, previous, rows)
    for k, width in enumerate(steps.widths):
        body.output(state[k], f"state_{k}", FLOAT, [f"n_{k}", width])
    for k, value in enumerate(steps.joined(body, [before, found])):
        body.output(value, f"collected_{k}", FLOAT, ["done_next", steps.kept[k]])
    results = g.loop(body, steps.number - first if first else steps.number, [*start, *kept])
    return results[: len(start)] if steps.states else results[len(start) :]


def _rows(body: Graph, arrays: list[tuple[Value, Value]], step: Value) -> list[Value]:
    """The rows of each array that a step reads."""
    counts = list({count.name: count for _, count in arrays}.values())
    width = len(counts)
    row = bounds(counts).index_select(0, step)
    ends = body.ops("Split", row, outputs=2 * width, axis=0, num_outputs=2 * width)
    of = {count.name: (ends[k], ends[width + k]) for k, count in enumerate(counts)}
    return [array[slice(*of[count.name])] for array, count in arrays]


def bounds(counts: list[Value]) -> Value:
    """The bounds (D, 2K) of each of D steps in arrays that all steps share: K starts, then K ends.

    Each of the `counts` (D,) says how many rows of one array belong to each step.
    """
    stacked = Value.stack(counts, 1)
    ends = stacked.cumsum(0)
    return Value.cat([ends - stacked, ends], 1)


def _unrolled(
    g: Graph,
    steps: Steps,
    done: int,
    start: list[Value],
    kept: list[list[Value]],
    rows: list[list[Value]],
) -> list[Value]:
    """The steps from the number `done` on, each in a branch of the step before.

    Args:
        kept: what is kept of each step so far; one node joins it after the last.
        rows: for each array its rows for the next steps, then the rows that are left.
    """
    more, over = Graph(f"{STEP}{done}", outer=g), Graph(f"after_step_{done}", outer=g)
    _give(over, steps, start if steps.states else steps.joined(over, kept))
    inside = [value.within(more) for value in start]
    if done == MOST_UNROLLED:
        _give(more, steps, _looped(more, steps, done, inside, steps.joined(more, kept)))
    else:
        if done % CUT_AT_ONCE == 0:
            left = [each[0] for each in rows] or [_read(*each, steps) for each in steps.arrays]
            rows = [
                _cut(more, array, count, done, down=steps.down)
                for array, (_, count) in zip(left, steps.arrays, strict=True)
            ]
        own = [each[0].within(more) for each in rows]
        state, found = steps.step(more, inside, own)
        others = [each[1:] for each in rows]
        _give(more, steps, _unrolled(more, steps, done + 1, state, [*kept, found], others))
    return g.choose(steps.number.within(g) > done, more, over)


def _read(array: Value, counts: Value, steps: Steps) -> Value:
    """The rows that are read: the last ones of a pass down are those of roots."""
    return array[: counts.op("ReduceSum", keepdims=1)] if steps.down else array


def _cut(g: Graph, array: Value, counts: Value, done: int, *, down: bool) -> list[Value]:
    """The rows of an array for the next steps, then the rows that are left."""
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
