"""The recursive network against its equation (Socher et al. 2011; Irsoy & Cardie 2014), in
NumPy."""

from typing import Any

import numpy as np
import pytest
from equations import Array, H, State, X, assert_equations, parameters, random_cell

from thinstack.plugins.cells.rvnn import RvNN


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"inner_size": X},
        {"leaf": "word", "input_size": H},
        {"leaf": "word", "input_size": H, "inner_size": H},
    ],
)
def test_the_equation(asked: dict[str, Any]) -> None:
    cell = random_cell(RvNN, **asked)
    part = parameters(cell)
    w_left, w_right, v = np.split(part["w"], [H, 2 * H])

    def node(x: Array | None, children: list[State], kinds: list[int]) -> State:
        (a,), (b,) = children
        return (np.tanh(a @ w_left + b @ w_right + (0 if x is None else x @ v) + part["b"]),)

    def leaf(x: Array) -> State:
        return (x if "leaf" in asked else np.tanh(x @ part["w_x"] + part["b_x"]),)

    assert_equations(cell, node, leaf)
