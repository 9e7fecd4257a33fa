"""Rows are varied where they are said to be, and nowhere else."""

import torch
from bad_cells import Good

from thinstack.testing.methods import OWNER, methods_of_cell

N = 5


def two(arity):
    cell = Good(input_size=3, hidden_size=4, inner_size=3, arity=arity).double()
    mine, others = (methods_of_cell(cell, N, kinds=3, seed=seed) for seed in (0, 1))
    return mine, others


def test_some_children_are_missing():
    """Of odd rows, by turns one child and all but one."""
    missing = (two(3)[0]["compose"].values["links.kind"][0] == 0).sum(1)
    assert missing.tolist() == [0, 1, 0, 2, 0]


def test_a_node_of_a_large_batch_has_many_children():
    cell = Good(input_size=3, hidden_size=4, arity=0).double()
    for n, most in ((99, 4), (100, 600)):
        (owner,) = methods_of_cell(cell, n, kinds=1)["compose"].values[OWNER]
        counts = torch.bincount(owner, minlength=n)
        assert (counts.min(), counts.max(), (counts > 4).sum()) == (1, most, most > 4)
