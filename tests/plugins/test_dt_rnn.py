"""The dependency-tree network against its equation (Socher et al. 2014), in NumPy."""

import numpy as np
import pytest
from equations import Array, State, X, assert_equations, parameters, random_cell

from thinstack.plugins.cells.dt_rnn import DTRNN


@pytest.mark.parametrize("inner_size", [0, X])
def test_the_equation(inner_size: int) -> None:
    cell = random_cell(DTRNN, inner_size=inner_size)
    w, u, b = parameters(cell).values()

    def node(x: Array | None, children: list[State], kinds: list[int]) -> State:
        return (np.tanh((0 if x is None else x @ w) + b + sum(h_k @ u for (h_k,) in children)),)

    assert_equations(cell, node)
