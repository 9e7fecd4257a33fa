"""The forests that cells are checked on are what they are said to be."""

from collections import Counter

import numpy as np
import pytest

from thinstack.core.tree import depths
from thinstack.testing.forests import random_forest

SIZES = (1, 20, 7, 1)


@pytest.mark.parametrize("arity", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_random_forests(arity, seed):
    forest = random_forest(SIZES, arity=arity, kinds=3, seed=seed)
    trees = np.repeat(range(4), SIZES)
    inner = forest.parents >= 0
    assert forest.sizes.tolist() == list(SIZES)
    assert np.array_equal(trees[inner], trees[forest.parents[inner]])
    assert np.bincount(trees[~inner]).tolist() == [1] * 4
    assert 0 <= depths(forest.parents).min() <= depths(forest.parents).max() < 20  # no cycle
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
