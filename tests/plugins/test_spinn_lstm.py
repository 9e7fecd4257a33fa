"""The Tree-LSTM of SPINN against Bowman et al. 2016, equations (1)-(4), in NumPy."""

import numpy as np
import pytest
from equations import Array, H, State, X, assert_equations, named, parameters, random_cell, sigmoid

from thinstack.plugins.cells.spinn_lstm import SpinnLSTM


@pytest.mark.parametrize("inner_size", [0, 2, X])
def test_the_equations(inner_size: int) -> None:
    """The left child lies under the right one, which is the top of the stack."""
    cell = random_cell(SpinnLSTM, inner_size=inner_size)
    part, gates = parameters(cell), ("i", "o", "f_l", "f_r", "g")
    w, b = named(gates, part["w_comp"]), named(gates, part["b_comp"])

    def node(e: Array | None, children: list[State], kinds: list[int]) -> State:
        """(1)-(3)."""
        (h_2, c_2), (h_1, c_1) = children
        a = {}
        for gate in gates:
            of_h_2, of_h_1, of_e = np.split(w[gate], [H, 2 * H])
            a[gate] = h_1 @ of_h_1 + h_2 @ of_h_2 + b[gate] + (0 if e is None else e @ of_e)
        c = sigmoid(a["f_l"]) * c_2 + sigmoid(a["f_r"]) * c_1 + sigmoid(a["i"]) * np.tanh(a["g"])
        return sigmoid(a["o"]) * np.tanh(c), c

    def leaf(x: Array) -> State:
        """(4): a linear map, h before c."""
        return tuple(np.split(x @ part["w_word"] + part["b_word"], 2))

    assert_equations(cell, node, leaf)
