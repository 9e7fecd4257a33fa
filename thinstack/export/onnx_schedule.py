"""The schedule of `thinstack.core.schedule`, computed inside an ONNX graph by the same steps."""

from typing import NamedTuple

import numpy as np
import onnx

from thinstack.export.onnx_graph import Graph

__all__ = [
    "Forest",
    "Schedule",
    "filled",
    "forest_of_lengths",
    "forest_of_transitions",
    "nonzero",
    "positions",
    "schedule",
]

BOOL, INT64 = onnx.TensorProto.BOOL, onnx.TensorProto.INT64


class Forest(NamedTuple):
    """Names of the values that describe the trees of N nodes.

    Attributes:
        parents: (N,) position of each node's parent, -1 for a root.
        slots: (N,) which child of its parent a node is, from 0.
        kinds: (N,) >= 1, the type of the edge to the parent; "" if all are 1.
    """

    parents: str
    slots: str
    kinds: str = ""


class Schedule(NamedTuple):
    """Names of the values that tell the loop what to compute; see
    `thinstack.core.schedule.Schedule` for the terms.

    Attributes:
        steps: scalar, the number of steps after that of the deepest leaves.
        bounds: (steps, 6) for each such step [start, end) of the leaves below it among all leaves,
            of its inner nodes among all inner nodes, and of the nodes below it among all nodes,
            each in stacked order or by step.
        last, last_leaves: (1,) where the last step starts among all nodes, by step, and among all
            leaves.
        leaf_words: (L,) the word of each stacked leaf.
        leaves, inner: (L,) and (I,) positions of the leaves and of the inner nodes in stacked
            order.
        children: (I, arity) 1 + row of each child in the pool of the step below, 0 where there is
            none.
        child_kinds: (I, arity) edge type of each child, 0 where there is none.
        child_rows: (I, arity) the stacked row of each child, 0 where there is none.
        owners: (N,) by step, the row of the parent among the inner nodes of the next step.
        kinds: (N,) by step, the type of the edge to the parent.
        slots: (N,) by step, which child of its parent a node is.
        roots, root_rows: (B,) positions of the roots, and their rows in the last step.
        stacked: (N,) the stacked row of each node.
        rows, places: (N,) the stacked row of each node by step, and the inverse of that.
        trees: (N,) the tree of each node, where roots come last in their trees.
    """

    steps: str
    bounds: str
    last: str
    last_leaves: str
    leaf_words: str
    leaves: str
    inner: str
    children: str
    child_kinds: str
    child_rows: str
    owners: str
    kinds: str
    slots: str
    roots: str
    root_rows: str
    stacked: str
    rows: str
    places: str
    trees: str


def forest_of_transitions(g: Graph, transitions: str) -> Forest:
    """The forest of binary trees that valid transitions (N,) describe, 0 SHIFT and 1 REDUCE."""
    actions = g.op("Cast", transitions, to=INT64)
    depth = g.op("CumSum", g.op("Sub", g.scalar(1), g.op("Mul", g.scalar(2), actions)), g.scalar(0))
    order = _sorted(g, depth)
    # A REDUCE's left child is the last earlier node at the stack depth it leaves behind: its
    # neighbour when sorted by depth.
    later = g.op("Slice", order, g.vector(1), g.vector(2**62), g.vector(0))
    earlier = g.op("Slice", order, g.vector(0), g.vector(-1), g.vector(0))
    before = g.op("ScatterElements", filled(g, 0, order), later, earlier, axis=0)
    reduces = nonzero(g, g.op("Cast", actions, to=BOOL))
    right = g.op("Sub", reduces, g.scalar(1))
    children = g.op("Concat", g.op("Gather", before, reduces), right, axis=0)
    owners = g.op("Concat", reduces, reduces, axis=0)
    parents = g.op("ScatterElements", filled(g, -1, order), children, owners, axis=0)
    slots = g.op("ScatterElements", filled(g, 0, order), right, filled(g, 1, right), axis=0)
    return Forest(parents, slots)


def forest_of_lengths(g: Graph, lengths: str, words: str) -> Forest:
    """The chains of sentences of so many words (B,), at least 1 each: a word's one child is the
    word before it.

    Lengths that add up to more than `words` (L, ...) has rows are an error once the graph runs.
    """
    ends = g.op("CumSum", g.op("Cast", lengths, to=INT64), g.scalar(0))
    # Without the zero an empty batch would have no last end.
    told = g.op("ReduceMax", g.op("Concat", g.vector(0), ends, axis=0), keepdims=0)
    count = g.op("Min", told, g.op("Squeeze", g.op("Shape", words, start=0, end=1)))
    following = g.op("Range", g.scalar(1), g.op("Add", count, g.scalar(1)), g.scalar(1))
    parents = g.op(
        "ScatterElements", following, g.op("Sub", ends, g.scalar(1)), filled(g, -1, ends), axis=0
    )
    return Forest(parents, filled(g, 0, parents))


def schedule(g: Graph, forest: Forest, arity: int) -> Schedule:
    """Schedule of a forest for cells of this arity. What is not read of it costs nothing: the graph
    drops it."""
    parents = forest.parents
    position = positions(g, parents)
    is_root = g.op("Less", parents, g.scalar(0))
    up = g.op("Where", is_root, position, parents)
    child = nonzero(g, g.op("Not", is_root))
    parent_of = g.op("Gather", parents, child)
    inner = g.op("ScatterElements", filled(g, 0, parents), parent_of, filled(g, 1, child), axis=0)
    leaf = g.op("Sub", g.scalar(1), inner)
    depth = _depths(g, up, g.op("Cast", g.op("Not", is_root), to=INT64))
    # Without the zero the greatest depth of an empty forest would be the least int64.
    steps = g.op("ReduceMax", g.op("Concat", depth, g.vector(0), axis=0), keepdims=0)
    step = g.op("Sub", steps, depth)
    group = g.op("Add", g.op("Mul", step, g.scalar(2)), leaf)
    order = _sorted(g, group)
    starts, bounds = _bounds(g, group, steps)
    levels = g.op("ReduceSum", starts, g.vector(1), keepdims=0)
    row = g.op(
        "Sub",
        g.op("ScatterElements", position, order, position, axis=0),
        g.op("Gather", levels, step),
    )

    is_inner = g.op("Cast", g.op("Gather", inner, order), to=BOOL)
    inner_ids = g.op("Compress", order, is_inner, axis=0)
    leaf_ids = g.op("Compress", order, g.op("Not", is_inner), axis=0)
    words = g.op("Sub", g.op("CumSum", leaf, g.scalar(0)), g.scalar(1))
    stacked = g.op(
        "ScatterElements", position, g.op("Concat", leaf_ids, inner_ids, axis=0), position, axis=0
    )
    rows, roots = g.op("Gather", stacked, order), nonzero(g, is_root)
    kinds = forest.kinds or filled(g, 1, parents)
    place = g.op(
        "Add", g.op("Mul", parent_of, g.scalar(arity)), g.op("Gather", forest.slots, child)
    )

    def by_parent(values: str) -> str:
        return g.op(
            "Gather", _table(g, place, g.op("Gather", values, child), position, arity), inner_ids
        )

    return Schedule(
        steps=steps,
        bounds=bounds,
        last=g.op("Gather", levels, g.op("Unsqueeze", steps, g.vector(0))),
        last_leaves=g.op(
            "Gather",
            g.op("Gather", starts, g.scalar(1), axis=1),
            g.op("Unsqueeze", steps, g.vector(0)),
        ),
        leaf_words=g.op("Gather", words, leaf_ids),
        leaves=leaf_ids,
        inner=inner_ids,
        children=by_parent(g.op("Add", row, g.scalar(1))),
        child_kinds=by_parent(kinds),
        child_rows=by_parent(stacked),
        owners=g.op("Gather", row, g.op("Gather", up, order)),
        kinds=g.op("Gather", kinds, order),
        slots=g.op("Gather", forest.slots, order),
        roots=roots,
        root_rows=g.op("Gather", row, roots),
        stacked=stacked,
        rows=rows,
        places=g.op("ScatterElements", position, rows, position, axis=0),
        trees=g.op("CumSum", g.op("Cast", is_root, to=INT64), g.scalar(0), exclusive=1),
    )


def _table(g: Graph, place: str, values: str, like: str, arity: int) -> str:
    """A table (N, arity) of `values` (E,) at their flat `place`, 0 elsewhere; N is the length of
    `like`."""
    empty = g.op(
        "ConstantOfShape", g.op("Mul", g.op("Shape", like), g.vector(arity)), value=_tensor(0)
    )
    table = g.op("ScatterElements", empty, place, values, axis=0)
    return g.op("Reshape", table, g.op("Concat", g.op("Shape", like), g.vector(arity), axis=0))


def _depths(g: Graph, up: str, depth: str) -> str:
    """Distance of each node from its root, by pointer jumping in log2(depth) rounds; `up` is the
    parent, roots their own."""
    body = g.subgraph("double_the_jump")
    body.input("round", INT64, [])
    body.input("go_on", BOOL, [])
    so_far, above = body.input("depth", INT64, ["N"]), body.input("above", INT64, ["N"])
    added = body.op("Gather", so_far, above)
    # Nothing is added once all have jumped to their roots.
    body.output(
        body.op("Cast", body.op("ReduceSum", added, keepdims=0), to=BOOL), "any_added", BOOL, []
    )
    body.output(body.op("Add", so_far, added), "depth_next", INT64, ["N"])
    body.output(body.op("Gather", above, above), "above_next", INT64, ["N"])
    rounds = g.scalar(63)
    true = g.constant(np.array(True))
    return g.ops("Loop", rounds, true, depth, up, outputs=2, body=body.build())[0]


def _bounds(g: Graph, group: str, steps: str) -> tuple[str, str]:
    """First inner node and first leaf of each step (steps + 1, 2), and `Schedule.bounds`."""
    size = g.op("Mul", g.op("Add", g.op("Unsqueeze", steps, g.vector(0)), g.vector(1)), g.vector(2))
    empty = g.op("ConstantOfShape", size, value=_tensor(0))
    counts = g.op("ScatterElements", empty, group, filled(g, 1, group), axis=0, reduction="add")
    pairs = g.op("Reshape", counts, g.vector(-1, 2))  # inner nodes, leaves
    ends = g.op("CumSum", pairs, g.scalar(0))
    starts = g.op("Sub", ends, pairs)
    level_starts = g.op("ReduceSum", starts, g.vector(1), keepdims=1)
    level_ends = g.op("ReduceSum", ends, g.vector(1), keepdims=1)
    below = g.op("Concat", starts, ends, level_starts, level_ends, axis=1)
    below = g.op("Slice", below, g.vector(0), g.vector(-1), g.vector(0))
    above = g.op(
        "Slice", g.op("Concat", starts, ends, axis=1), g.vector(1), g.vector(2**62), g.vector(0)
    )
    table = g.op("Concat", below, above, axis=1)
    # Columns: below = inner, leaf starts, inner, leaf ends, level start, end; above = inner, leaf
    # starts, inner, leaf ends.
    bounds = g.op("Gather", table, g.vector(1, 3, 6, 8, 4, 5), axis=1)
    return starts, bounds


def _sorted(g: Graph, key: str) -> str:
    """Positions (N,) in ascending order of `key`, equal keys by position: made distinct, as TopK
    promises no stable order."""
    size = g.op("Shape", key)
    distinct = g.op("Add", g.op("Mul", key, size), positions(g, key))
    return g.ops("TopK", distinct, size, outputs=2, axis=0, largest=0, sorted=1)[1]


def positions(g: Graph, like: str) -> str:
    """0 .. N - 1 for a vector of N."""
    return g.op("Range", g.scalar(0), g.op("Size", like), g.scalar(1))


def filled(g: Graph, value: int, like: str) -> str:
    """As many int64 of one value as `like` has, in its shape."""
    return g.op("ConstantOfShape", g.op("Shape", like), value=_tensor(value))


def nonzero(g: Graph, mask: str) -> str:
    """Positions where a vector is not 0."""
    return g.op("Squeeze", g.op("NonZero", mask), g.vector(0))


def _tensor(value: int) -> onnx.TensorProto:
    return onnx.helper.make_tensor("value", INT64, [1], [value])
