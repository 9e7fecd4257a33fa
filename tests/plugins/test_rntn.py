"""The recursive neural tensor network against its equation (Socher et al. 2013), in NumPy."""

from typing import Any

import numpy as np
import pytest
from equations import Array, H, State, assert_equations, parameters, random_cell

from thinstack.plugins.cells.rntn import RNTN


@pytest.mark.parametrize("asked", [{}, {"leaf": "word", "input_size": H}])
def test_the_equation(asked: dict[str, Any]) -> None:
    cell = random_cell(RNTN, **asked)
    part = parameters(cell)

    def node(x: Array | None, children: list[State], kinds: list[int]) -> State:
        pair = np.concatenate([h for (h,) in children])  # [a; b]
        products = [pair @ part["v"][:, k] @ pair for k in range(H)]
        return (np.tanh(products + pair @ part["w"] + part["b"]),)

    def leaf(x: Array) -> State:
        return (x if "leaf" in asked else np.tanh(x @ part["w_x"] + part["b_x"]),)

    assert_equations(cell, node, leaf)
