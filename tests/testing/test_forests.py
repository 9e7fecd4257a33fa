"""The forests that cells are checked on are what they are said to be."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from bad_cells import Good

from thinstack.core import Forest
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.testing.forests import (
    CellInputs,
    apart,
    batch_of,
    by_depth,
    by_recursion,
    chain,
    random_forest,
    star,
)

SIZES = (1, 20, 7, 1)


def depths(forest: Forest) -> list[int]:
    """Of every node; a cycle does not end."""
    found = []
    for node in range(len(forest.parents)):
        found.append(0)
        while (node := forest.parents[node]) >= 0:
            found[-1] += 1
    return found


@pytest.mark.parametrize("arity", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_random_forests(arity, seed):
    forest = random_forest(SIZES, arity=arity, kinds=3, seed=seed)
    trees = np.repeat(range(4), SIZES)
    inner = forest.parents >= 0
    assert forest.sizes.tolist() == list(SIZES)
    assert np.array_equal(trees[inner], trees[forest.parents[inner]])
    assert np.bincount(trees[~inner]).tolist() == [1] * 4
    assert max(depths(forest)) < 20
    places = Counter(zip(forest.parents[inner].tolist(), forest.slots[inner].tolist(), strict=True))
    assert set(places.values()) == {1}
    assert forest.slots.min() == 0
    assert forest.slots.max() < (arity or 20)
    assert set(forest.kinds.tolist()) == {1, 2, 3}
    assert set(forest.kinds[~inner].tolist()) == {1}


def test_random_forests_leave_slots_empty_and_nodes_in_any_order():
    forest = random_forest([30], arity=3, kinds=1, seed=0)
    children = np.bincount(forest.parents[forest.parents >= 0])
    assert set(children.tolist()) >= {1, 2}
    only_children = children[forest.parents] == 1
    assert (forest.slots[only_children] > 0).any()
    steps = np.sign(forest.parents - np.arange(30))[forest.parents >= 0]
    assert {-1, 1} == set(steps.tolist())


@pytest.mark.parametrize("arity", [0, 1, 2, 3])
def test_chains(arity):
    forest = chain(10, arity=arity, kinds=2)
    assert max(depths(forest)) == 9
    assert len(forest.parents) == (10 if arity == 1 else 13)
    places = set(zip(forest.parents.tolist(), forest.slots.tolist(), strict=True))
    assert len(places) == len(forest.parents)
    assert forest.slots.max() == max(arity - 1, 1 if arity == 0 else 0)


def test_stars():
    forest = star(5, kinds=2)
    assert forest.parents.tolist() == [-1, 0, 0, 0, 0, 0]
    assert forest.slots.tolist() == [0, 0, 1, 2, 3, 4]
    assert forest.kinds.tolist() == [1, 1, 2, 1, 2, 1]


def test_one_tree_of_a_batch():
    cell = Good(input_size=3, hidden_size=2, inner_size=3).double()
    batch = batch_of(cell, random_forest(SIZES, arity=2, kinds=1, seed=1))
    outputs, roots, _ = by_recursion(cell, batch)
    alone, root, _ = by_recursion(cell, batch.tree(21, 28))
    assert torch.equal(alone, outputs[21:28])
    assert torch.equal(root, roots[2:3])


def test_both_ways_give_node_order():
    """Of two trees whose nodes are mixed, the second with its root in the middle."""
    cell = Good(input_size=2, hidden_size=2, arity=0).double()
    none = np.zeros(5, np.int64)
    forest = Forest(np.array([1, -1, 3, -1, 1]), none, none + 1, np.array([5]))
    words = torch.tensor([[1.0, 0], [0, 1], [1, 1]]).double()
    batch = CellInputs(forest, words, torch.zeros(2, 0).double())
    w, u = cell.w.detach(), cell.u[0].detach()
    leaves = torch.tanh(batch.leaves @ w)
    first, second = torch.tanh((leaves[0] + leaves[2]) @ u), torch.tanh(leaves[1] @ u)
    nodes = torch.stack([leaves[0], first, leaves[1], second, leaves[2]])
    expected = [nodes, nodes[[1, 3]], torch.zeros(5, 0)]
    for found in (by_recursion(cell, batch), by_depth(DepthOrdered(cell), cell, batch)):
        assert apart(found, expected) < 1e-15


@pytest.mark.parametrize(
    ("found", "expected", "difference"),
    [
        ([1.0, 100.0], [1.0, 100.0], 0),
        ([1.0, 100.0], [1.5, 110.0], 0.5 / 1.5),
        ([2.0], [0.5], 1.5),
        ([], [], 0),
        ([1.0, 100.0], [1.0], math.inf),
        ([math.nan], [math.nan], math.inf),
        ([math.inf], [math.inf], 0),
        ([math.inf], [1.0], math.inf),
    ],
)
def test_apart(found, expected, difference):
    same = torch.ones(2)
    parts = [same, torch.tensor(found)], [same, torch.tensor(expected)]
    assert apart(*parts) == pytest.approx(difference)
