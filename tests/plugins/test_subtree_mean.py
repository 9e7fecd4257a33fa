"""`SubtreeMean` against a loop over what stands below each node."""

import numpy as np
import torch
from core.random_trees import forests
from hypothesis import given, settings

from thinstack.core.depth_ordered import DepthOrdered, in_node_order
from thinstack.core.model.tree_encoder import SubtreeMean
from thinstack.testing import recursion

X = 3


def below(parents, node):
    """All nodes of the subtree at `node`, with it."""
    return {node}.union(
        *(below(parents, child) for child, parent in enumerate(parents) if parent == node)
    )


@settings(max_examples=40)
@given(forests())
def test_the_mean_of_the_leaves_below_each_node(edges):
    schedule, parents = edges.schedule, edges.parents
    x = np.random.default_rng(1).normal(size=(len(parents), X))
    stacked = torch.from_numpy(x)[schedule.leaves]
    found, roots, words = DepthOrdered(SubtreeMean(input_size=X))(
        stacked, stacked.new_zeros(len(schedule.inner), 0), schedule
    )
    nodes = range(len(parents))
    leaves = [[i for i in nodes if i not in parents and i in below(parents, j)] for j in nodes]
    expected = np.array([x[of].mean(0) for of in leaves]).reshape(-1, X)
    np.testing.assert_allclose(in_node_order(found, schedule), expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(roots, expected[np.array(parents) < 0], rtol=0, atol=1e-13)
    assert words.shape == (len(parents), 0)


@settings(max_examples=40)
@given(forests())
def test_with_inner_inputs_every_node_counts(edges):
    forest = edges.forest
    x = torch.from_numpy(np.random.default_rng(2).normal(size=(len(edges.parents), X)))
    cell = SubtreeMean(input_size=X, inner_size=X)
    states = recursion.encode(cell, forest, x[forest.leaves], x[~forest.leaves])
    for node, state in enumerate(states):
        mean = x[sorted(below(edges.parents, node))].mean(0, keepdim=True)
        torch.testing.assert_close(cell.output(state), mean, rtol=0, atol=1e-13)
