"""The dependency-tree network with a matrix for each relation against its equation (Socher et al.
2014), in NumPy."""

import numpy as np
import pytest
import torch
from equations import (
    OWNER,
    ROWS,
    Array,
    H,
    State,
    X,
    assert_equations,
    composed,
    parameters,
    random_cell,
)

from thinstack.core.cell import Links
from thinstack.plugins.cells.sdt_rnn import SDTRNN


@pytest.mark.parametrize("inner_size", [0, X])
@pytest.mark.parametrize("kinds", [1, 2, 9])
def test_the_equation(kinds: int, inner_size: int) -> None:
    """Several children of one relation and of several, and relations that do not occur."""
    cell = random_cell(SDTRNN, inner_size=inner_size, kinds=kinds)
    w, u, b = parameters(cell).values()

    def node(x: Array | None, children: list[State], relations: list[int]) -> State:
        below = sum(h_k @ u[r - 1] for (h_k,), r in zip(children, relations, strict=True))
        return (np.tanh((0 if x is None else x @ w) + b + below),)

    assert_equations(cell, node, kinds=kinds)


def test_a_child_of_kind_0_counts_as_none() -> None:
    cell, h = random_cell(SDTRNN, kinds=3), torch.randn(len(OWNER), H).double()
    x, kind = torch.zeros(ROWS, 0).double(), torch.tensor([3, 1, 2, 3, 3, 2])
    some = torch.arange(len(OWNER)) % 2 == 0
    (found,) = composed(cell, x, [h], Links(OWNER, kind * some))
    (expected,) = composed(cell, x, [h[some]], Links(OWNER[some], kind[some]))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
