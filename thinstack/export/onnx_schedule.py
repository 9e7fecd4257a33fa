"""The schedule of `thinstack.core.schedule`, computed inside an ONNX graph by the same steps."""

from typing import NamedTuple

import numpy as np
import onnx

from thinstack.export.onnx_graph import Graph

__all__ = ["Forest", "Schedule", "forest_of_transitions", "schedule"]

BOOL, INT64 = onnx.TensorProto.BOOL, onnx.TensorProto.INT64


class Forest(NamedTuple):
    """Names of the values that describe the trees of N nodes.

    Attributes:
        parents: (N,) position of each node's parent, -1 for a root.
        slots: (N,) which child of its parent a node is; looked at for fixed arity alone.
    """

    parents: str
    slots: str


class Schedule(NamedTuple):
    """Names of the values that tell the loop what to compute; see `thinstack.core.schedule.Schedule` for the terms.

    Attributes:
        steps: scalar, the number of steps after that of the deepest leaves.
        bounds: (steps, 6) for each such step [start, end) of the leaves below it among all leaves, of its inner nodes among
            all inner nodes, and of the nodes below it among all nodes, each in stacked order or by step.
        leaf_words: (L,) the word of each stacked leaf.
        inner: (I,) positions of the inner nodes in stacked order.
        children: (I, arity) 1 + row of each child in the pool of the step below, 0 where there is none; arity 0: not there.
        owners: (N,) by step, the row of the parent among the inner nodes of the next step.
        roots: (B,) positions of the roots.
        stacked: (N,) the stacked row of each node.
    """

    steps: str
    bounds: str
    leaf_words: str
    inner: str
    children: str
    owners: str
    roots: str
    stacked: str


def forest_of_transitions(g: Graph, transitions: str) -> Forest:
    """The forest of binary trees that valid transitions (N,) describe, 0 SHIFT and 1 REDUCE."""
    actions = g.op("Cast", transitions, to=INT64)
    depth = g.op("CumSum", g.op("Sub", g.scalar(1), g.op("Mul", g.scalar(2), actions)), g.scalar(0))
    order = _sorted(g, depth)
    # A REDUCE's left child is the last earlier node at the stack depth it leaves behind: its neighbour when sorted by depth.
    later = g.op("Slice", order, g.vector(1), g.vector(2**62), g.vector(0))
    earlier = g.op("Slice", order, g.vector(0), g.vector(-1), g.vector(0))
    before = g.op("ScatterElements", _filled(g, 0, order), later, earlier, axis=0)
    reduces = _where(g, g.op("Cast", actions, to=BOOL))
    right = g.op("Sub", reduces, g.scalar(1))
    children = g.op("Concat", g.op("Gather", before, reduces), right, axis=0)
    owners = g.op("Concat", reduces, reduces, axis=0)
    parents = g.op("ScatterElements", _filled(g, -1, order), children, owners, axis=0)
    slots = g.op("ScatterElements", _filled(g, 0, order), right, _filled(g, 1, right), axis=0)
    return Forest(parents, slots)


def schedule(g: Graph, forest: Forest, arity: int) -> Schedule:
    """Schedule of a forest for a cell of this arity."""
    parents = forest.parents
    position = _positions(g, parents)
    is_root = g.op("Less", parents, g.scalar(0))
    up = g.op("Where", is_root, position, parents)
    child = _where(g, g.op("Not", is_root))
    parent_of = g.op("Gather", parents, child)
    inner = g.op("ScatterElements", _filled(g, 0, parents), parent_of, _filled(g, 1, child), axis=0)
    leaf = g.op("Sub", g.scalar(1), inner)
    depth = _depths(g, up, g.op("Cast", g.op("Not", is_root), to=INT64))
    # Without the zero the greatest depth of an empty forest would be the least int64.
    steps = g.op("ReduceMax", g.op("Concat", depth, g.vector(0), axis=0), keepdims=0)
    step = g.op("Sub", steps, depth)
    group = g.op("Add", g.op("Mul", step, g.scalar(2)), leaf)
    order = _sorted(g, group)
    levels, bounds = _bounds(g, group, steps)
    row = g.op("Sub", g.op("ScatterElements", position, order, position, axis=0), g.op("Gather", levels, step))

    is_inner = g.op("Cast", g.op("Gather", inner, order), to=BOOL)
    inner_ids = g.op("Compress", order, is_inner, axis=0)
    leaf_ids = g.op("Compress", order, g.op("Not", is_inner), axis=0)
    words = g.op("Sub", g.op("CumSum", leaf, g.scalar(0)), g.scalar(1))
    return Schedule(
        steps=steps,
        bounds=bounds,
        leaf_words=g.op("Gather", words, leaf_ids),
        inner=inner_ids,
        children=_children(g, forest, child, parent_of, row, inner_ids, arity) if arity else "",
        owners=g.op("Gather", row, g.op("Gather", up, order)),
        roots=_where(g, is_root),
        stacked=g.op("ScatterElements", position, g.op("Concat", leaf_ids, inner_ids, axis=0), position, axis=0),
    )


def _children(g: Graph, forest: Forest, child: str, parent_of: str, row: str, inner_ids: str, arity: int) -> str:
    place = g.op("Add", g.op("Mul", parent_of, g.scalar(arity)), g.op("Gather", forest.slots, child))
    empty = g.op("ConstantOfShape", g.op("Mul", g.op("Shape", row), g.vector(arity)), value=_tensor(0))
    table = g.op("ScatterElements", empty, place, g.op("Add", g.op("Gather", row, child), g.scalar(1)), axis=0)
    shape = g.op("Concat", g.op("Shape", row), g.vector(arity), axis=0)
    return g.op("Gather", g.op("Reshape", table, shape), inner_ids)


def _depths(g: Graph, up: str, depth: str) -> str:
    """Distance of each node from its root, by pointer jumping in log2(depth) rounds; `up` is the parent, roots their own."""
    body = g.subgraph("double_the_jump")
    body.input("round", INT64, [])
    body.input("go_on", BOOL, [])
    so_far, above = body.input("depth", INT64, ["N"]), body.input("above", INT64, ["N"])
    further = body.op("Gather", above, above)
    moved = body.op("ReduceSum", body.op("Abs", body.op("Sub", further, above)), keepdims=0)
    body.output(body.op("Cast", moved, to=BOOL), "any_moved", BOOL, [])
    body.output(body.op("Add", so_far, body.op("Gather", so_far, above)), "depth_next", INT64, ["N"])
    body.output(further, "above_next", INT64, ["N"])
    rounds = g.scalar(63)
    true = g.constant(np.array(True))
    return g.ops("Loop", rounds, true, depth, up, outputs=2, body=body.build())[0]


def _bounds(g: Graph, group: str, steps: str) -> tuple[str, str]:
    """First row of each step among all nodes (steps + 1,), and `Schedule.bounds`."""
    size = g.op("Mul", g.op("Add", g.op("Unsqueeze", steps, g.vector(0)), g.vector(1)), g.vector(2))
    empty = g.op("ConstantOfShape", size, value=_tensor(0))
    counts = g.op("ScatterElements", empty, group, _filled(g, 1, group), axis=0, reduction="add")
    pairs = g.op("Reshape", counts, g.vector(-1, 2))  # inner nodes, leaves
    ends = g.op("CumSum", pairs, g.scalar(0))
    starts = g.op("Sub", ends, pairs)
    level_starts = g.op("ReduceSum", starts, g.vector(1), keepdims=1)
    level_ends = g.op("ReduceSum", ends, g.vector(1), keepdims=1)
    below = g.op("Concat", starts, ends, level_starts, level_ends, axis=1)
    below = g.op("Slice", below, g.vector(0), g.vector(-1), g.vector(0))
    above = g.op("Slice", g.op("Concat", starts, ends, axis=1), g.vector(1), g.vector(2**62), g.vector(0))
    table = g.op("Concat", below, above, axis=1)
    # Columns: below = inner, leaf starts, inner, leaf ends, level start, end; above = inner, leaf starts, inner, leaf ends.
    bounds = g.op("Gather", table, g.vector(1, 3, 6, 8, 4, 5), axis=1)
    return g.op("Squeeze", level_starts, g.vector(1)), bounds


def _sorted(g: Graph, key: str) -> str:
    """Positions (N,) in ascending order of `key`, equal keys by position: made distinct, as TopK promises no stable order."""
    size = g.op("Shape", key)
    distinct = g.op("Add", g.op("Mul", key, size), _positions(g, key))
    return g.ops("TopK", distinct, size, outputs=2, axis=0, largest=0, sorted=1)[1]


def _positions(g: Graph, like: str) -> str:
    return g.op("Range", g.scalar(0), g.op("Size", like), g.scalar(1))


def _filled(g: Graph, value: int, like: str) -> str:
    return g.op("ConstantOfShape", g.op("Shape", like), value=_tensor(value))


def _where(g: Graph, mask: str) -> str:
    return g.op("Squeeze", g.op("NonZero", mask), g.vector(0))


def _tensor(value: int) -> onnx.TensorProto:
    return onnx.helper.make_tensor("value", INT64, [1], [value])
