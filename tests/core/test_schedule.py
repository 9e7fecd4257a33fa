"""The vectorised schedule against loops over the nodes."""

import pytest
import torch
from core.random_trees import BINARY, Edges, forests, nodes_of
from hypothesis import given
from hypothesis import strategies as st

from thinstack.core.schedule import (
    Schedule,
    schedule_lengths,
    schedule_parents,
    schedule_transitions,
    tree_numbers,
)


def depth_of(parents, node):
    return 0 if parents[node] < 0 else 1 + depth_of(parents, parents[node])


def by_loops(edges):
    """The schedule as lists, from its definition."""
    parents, slots, kinds, arity = edges
    nodes = range(len(parents))
    inner = sorted(set(parents) - {-1})
    leaves = [i for i in nodes if i not in inner]
    depth = [depth_of(parents, i) for i in nodes]
    steps = range(max(depth, default=0), -1, -1)
    levels = [
        ([i for i in inner if depth[i] == d], [i for i in leaves if depth[i] == d]) for d in steps
    ]
    leaf_order = [i for level in levels for i in level[1]]
    inner_order = [i for level in levels for i in level[0]]
    pools = [above + below for above, below in levels]
    order = [i for pool in pools for i in pool]
    row = {i: pool.index(i) for pool in pools for i in pool}
    child = {(parents[i], slots[i]): i for i in nodes if parents[i] >= 0}
    owners = [row[parents[i]] if parents[i] >= 0 else 0 for i in order]
    found = [[child.get((i, slot)) for slot in range(arity)] for i in inner_order]
    return Schedule(
        leaves=leaf_order,
        inner=inner_order,
        leaf_words=[leaves.index(i) for i in leaf_order],
        leaf_counts=[len(level[1]) for level in levels],
        inner_counts=[len(level[0]) for level in levels],
        children=[[0 if i is None else 1 + row[i] for i in below] for below in found],
        child_kinds=[[0 if i is None else kinds[i] for i in below] for below in found],
        child_nodes=[[0 if i is None else 1 + i for i in below] for below in found],
        owners=owners,
        kinds=[kinds[i] for i in order],
        slots=[slots[i] for i in order],
        rows=[(leaf_order + inner_order).index(i) for i in order],
        roots=[i for i in nodes if parents[i] < 0],
        root_rows=[row[i] for i in nodes if parents[i] < 0],
        stacked=[(leaf_order + inner_order).index(i) for i in nodes],
    )


def check(found, edges):
    expected = by_loops(edges)
    for name in Schedule._fields:
        tensor = getattr(found, name)
        assert tensor.dtype == torch.int64, name
        assert tensor.tolist() == getattr(expected, name), name
    inner = len(expected.inner)
    assert found.children.shape == found.child_kinds.shape == (inner, edges.arity)


@given(forests())
def test_schedule_of_parents(edges):
    check(edges.schedule, edges)


def edges_of(trees, arity):
    """One forest of nested trees."""
    parents, slots = [], []
    for tree in trees:
        nodes, offset = nodes_of(tree), len(parents)
        parents += [-1 if node.parent < 0 else node.parent + offset for node in nodes]
        slots += [node.slot for node in nodes]
    return Edges(parents, slots, [1] * len(parents), arity)


def check_child_rows(found, edges):
    """Where no child is missing."""
    nodes = [*found.leaves.tolist(), *found.inner.tolist()]
    places = list(zip(edges.parents, edges.slots, strict=True))
    rows = found.stacked.take(found.child_nodes - 1)
    assert rows.shape == (len(found.inner), edges.arity)
    for node, below in zip(found.inner.tolist(), rows.tolist(), strict=True):
        assert [places[nodes[row]] for row in below] == [(node, s) for s in range(edges.arity)]


@given(st.lists(BINARY, max_size=4), st.sampled_from([torch.int8, torch.int32, torch.int64]))
def test_schedule_of_transitions(trees, dtype):
    edges = edges_of(trees, 2)
    steps = [int(node.word is None) for tree in trees for node in nodes_of(tree)]
    found = schedule_transitions(torch.tensor(steps, dtype=dtype))
    check(found, edges)
    check_child_rows(found, edges)
    sizes = [len(nodes_of(tree)) for tree in trees]
    assert tree_numbers(found.stacked, found.roots).tolist() == [
        k for k, size in enumerate(sizes) for _ in range(size)
    ]


@given(st.lists(st.integers(1, 9), max_size=4), st.sampled_from([torch.int32, torch.int64]))
def test_schedule_of_lengths(lengths, dtype):
    parents = []
    for words in lengths:
        parents += [*range(len(parents) + 1, len(parents) + words), -1]
    edges = Edges(parents, [0] * len(parents), [1] * len(parents), 1)
    found = schedule_lengths(torch.tensor(lengths, dtype=dtype))
    check(found, edges)
    check_child_rows(found, edges)


def test_the_schedule_of_a_chain_a_hundred_thousand_deep():
    words = 100_000
    steps = torch.zeros(2 * words - 1, dtype=torch.int8)
    steps[2::2] = 1
    found = schedule_transitions(steps)
    assert found.inner_counts.tolist() == [0] + [1] * (words - 1)
    assert found.leaf_counts.tolist() == [2] + [1] * (words - 2) + [0]
    assert found.children[0].tolist() == [1, 2]
    assert found.inner[-1] == len(steps) - 1


@pytest.mark.parametrize("parents", [[1, 0], [-1, 2, 3, 1], [0]])
def test_a_cycle_is_refused(parents):
    zeros = torch.zeros(len(parents), dtype=torch.long)
    with pytest.raises(ValueError, match="cycle"):
        schedule_parents(torch.tensor(parents), zeros, zeros + 1, 0)
