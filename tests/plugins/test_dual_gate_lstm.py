"""The Tree-LSTM with an input gate for each child (Le & Zuidema 2015), written out in NumPy."""

import numpy as np
import pytest
from equations import Array, State, assert_equations, named, parameters, random_cell, sigmoid

from thinstack.plugins.cells.dual_gate_lstm import DualGateLSTM


class Paper:
    """The parameters under the names of the docstring: W["hi", k, l] is that of i_k from h_l; W h
    is h @ W here."""

    def __init__(self, cell: DualGateLSTM):
        w, n = parameters(cell), cell.arity
        gates = [(gate, k) for gate in "fi" for k in range(n)]
        self.W: dict = {}
        rows = iter(np.split(w["w_fi"], 2 * n))
        for source in "hc":
            for child in range(n):
                for (gate, k), block in named(gates, next(rows)).items():
                    self.W[source + gate, k, child] = block
        self.b: dict = named(gates, w["b_fi"]) | {"g": w["b_g"], "o": w["b_o"]}
        *of_h, self.W["co"] = np.split(w["w_o"], n + 1)
        for child in range(n):
            self.W["g", child], self.W["ho", child] = w["w_g"][child], of_h[child]
        self.W |= named(["xi", "xg", "xo"], w["w_x"])
        self.b |= named(["xi", "xg", "xo"], w["b_x"])

    def node(self, x: Array | None, children: list[State], kinds: list[int]) -> State:
        """A child of kind 0 is missing."""
        W, b = self.W, self.b
        there = {k: children[k] for k, kind in enumerate(kinds) if kind > 0}

        def gate(name: str, k: int) -> Array:
            read = (
                h @ W[f"h{name}", k, child] + c @ W[f"c{name}", k, child]
                for child, (h, c) in there.items()
            )
            return sigmoid(sum(read) + b[name, k])

        c_new = sum(
            gate("i", k) * np.tanh(h @ W["g", k] + b["g"]) + gate("f", k) * c
            for k, (h, c) in there.items()
        )
        o = sigmoid(sum(h @ W["ho", k] for k, (h, _) in there.items()) + c_new @ W["co"] + b["o"])
        return o * np.tanh(c_new), c_new

    def leaf(self, x: Array) -> State:
        W, b = self.W, self.b
        c = sigmoid(x @ W["xi"] + b["xi"]) * np.tanh(x @ W["xg"] + b["xg"])
        return sigmoid(x @ W["xo"] + c @ W["co"] + b["xo"]) * np.tanh(c), c


@pytest.mark.parametrize("arity", [1, 2, 3])
def test_the_equations(arity: int) -> None:
    cell = random_cell(DualGateLSTM, arity=arity)
    assert_equations(cell, Paper(cell).node, Paper(cell).leaf)
