"""The schedule of a forest in an ONNX graph."""

from typing import Any, NamedTuple, cast

import onnx

from thinstack.core.schedule import jump, or_itself, parents_of_transitions, schedule_depths
from thinstack.export.onnx.value import Value

INT64, BOOL = onnx.TensorProto.INT64, onnx.TensorProto.BOOL


Trees = tuple[Value, Value, Value]
"""The fields of `thinstack.core.distance_trees.BinaryTrees` as values."""


class Pools(NamedTuple):
    """The states that each step reads, with a row for each child of its inner nodes.

    Initially, a pool contains the states of leaves; then those of the previous step are inserted.
    All pools are concatenated, followed by the roots, as if they were children of another step.
    """

    leaves: Value  # (P,) the stacked leaf in each row, any for an inner node; from 1 if `absent`
    absent: bool  # whether children may be missing, which `leaves` represent by 0
    places: Value  # (I,) the row of each inner node in its pool
    counts: Value  # (D,) rows of each step's pool


class Plan(NamedTuple):
    """The schedule of a forest: fields of `thinstack.core.schedule.Schedule`, and more. The graph
    drops those that nothing reads.

    The D steps go from the deepest inner nodes to the roots. By step, leaves of binary trees are
    among the inner nodes, in the order of their positions.
    """

    leaves: Value
    leaf_words: Value | None  # None if stacked leaves are in the order of their positions
    inner: Value
    child_nodes: Value
    child_kinds: Value
    roots: Value
    stacked: Value
    inner_counts: Value  # (D,) inner nodes of each step
    kinds: Value  # by step, may end before the roots; so do `owners` and `slots`
    owners: Value
    rows: Value
    slots: Value
    steps: Value  # D, a scalar
    before_counts: Value  # (D,) inner nodes of the previous step; those of the last may follow
    by_slot: Pools  # the pools of cells with a fixed number of children
    by_edge: Pools  # the pools of cells with any number of children: all nodes below a depth
    above: Value  # (N - B,) by step, the row of the parent among the nodes of its depth


def trees_of(transitions: Value) -> Trees:
    """Return binary trees from valid transitions (N,)."""
    parents, _ = cast(Any, parents_of_transitions)(transitions)
    depths, last = depths_of(parents), (1 - transitions).cumsum(0) - 1
    return transitions, depths, last


def plan_binary(trees: Trees, words: Value | None = None) -> Plan:
    """Return the plan of binary trees, with the number (1,) of words if known. The nodes of one
    depth, by position, are in pairs the children of the inner nodes above, so that one sort by
    depth and position determines the pools, without parents."""
    transitions, depths, last = trees
    size = transitions.size(0)
    position = Value.arange(size)
    deepest = depths.largest(0)
    step = deepest - depths
    order = depths.argsort(descending=True)
    is_inner = (transitions > 0).index_select(0, order)
    row, inner = position.masked_select(is_inner), order.masked_select(is_inner)
    counts = step.new_zeros([deepest + 1]).index_add(0, step, transitions)
    # The number of nodes deeper than a node is twice the number of inner nodes from its depth on.
    step_of_inner = step.index_select(0, inner)
    places = row - counts.cumsum(0).index_select(0, step_of_inner) * 2
    leaves = position.masked_select(transitions < 1)
    words = size - inner.size(0) if words is None else words
    stacked = last.index_copy(0, inner, position[words:])

    edges = inner.size(0) * 2
    edge = Value.arange(edges)
    rank = Value.arange(inner.size(0)) - counts.sums_before().index_select(0, step_of_inner)
    inner_counts = counts[1:]
    pools = Pools(last.index_select(0, order), False, places, inner_counts * 2)
    return Plan(
        leaves=leaves,
        leaf_words=None,
        inner=inner,
        child_nodes=order[:edges].view([inner.size(0), 2]) + 1,
        child_kinds=step.new_zeros([inner.size(0), 2]) + 1,
        roots=position.masked_select(depths < 1),
        stacked=stacked,
        steps=deepest.squeeze(0),
        inner_counts=inner_counts,
        before_counts=counts,
        by_slot=pools,
        by_edge=pools,
        kinds=edge.ones_like(),
        owners=rank.take(edge // 2),
        rows=stacked.index_select(0, order),
        above=places.take(edge // 2),
        slots=edge % 2,
    )


def plan_parents(parents: Value, slots: Value, kinds: Value, arity: int) -> Plan:
    """Return the plan of any forest, from the arguments of `schedule.schedule_parents`."""
    depths = depths_of(parents)
    deepest = depths.largest(0)
    plan = cast(Any, schedule_depths)(parents, slots, kinds, depths, deepest, arity)
    inner_counts, counts = plan.inner_counts[1:], plan.leaf_counts + plan.inner_counts
    leaf = (plan.stacked < plan.leaves.size(0)).long() * (plan.stacked + 1)
    position = Value.arange(parents.size(0))
    by_depth = position.index_copy(0, plan.stacked, position).take(plan.rows)
    edges = by_depth[: by_depth.size(0) - plan.roots.size(0)]

    def pools(children: Value, started: Value, counts: Value, absent: bool) -> Pools:
        """Return the pools of children, 1 + position; `started`: starts of inner nodes' pools."""
        pooled = Value.cat([children, plan.roots + 1])
        none = parents.new_zeros([parents.size(0) + 1])
        pool_rows = none.index_copy(0, pooled, Value.arange(pooled.size(0))).take(plan.inner + 1)
        is_root = parents.index_select(0, plan.inner) < 0
        places = pool_rows - is_root.where(children.size(0), started)
        table = Value.cat([parents.new_zeros([1]), leaf])
        rows = (table if absent else (table - 1).maximum(0)).take(pooled)
        return Pools(rows, absent, places, counts)

    step = (deepest - depths).index_select(0, plan.inner)
    composed = plan.inner_counts.cumsum(0).index_select(0, step) * arity
    deeper = counts.sums_before().index_select(0, step)
    same = {name: value for name, value in plan._asdict().items() if name in Plan._fields}
    return Plan(
        **same | {"inner_counts": inner_counts},
        steps=deepest.squeeze(0),
        before_counts=plan.inner_counts,
        by_slot=pools(plan.child_nodes.flatten(), composed, inner_counts * arity, True),
        by_edge=pools(edges + 1, deeper, counts[:-1], False),
        above=plan.owners,
    )


def depths_of(parents: Value) -> Value:
    """Return the distance (N,) of each node from its root."""
    g = parents.graph
    body = g.body("double_the_jump")
    depth, above = (body.input(name, INT64, ["N"]) for name in ("depth", "above"))
    added, further = cast(Any, jump)(depth, above)
    body.output(depth + added, "depth_next", INT64, ["N"])
    body.output(further, "above_next", INT64, ["N"])
    start = [(parents >= 0).long(), cast(Any, or_itself)(parents)]
    return g.loop(body, 63, start, going=added.sum().op("Cast", to=BOOL))[0].shaped_as(parents)
