"""The Child-Sum Tree-LSTM against Tai et al. 2015, equations (2)-(8), in NumPy, and against torch's
LSTM on a chain."""

import numpy as np
import pytest
from equations import (
    Array,
    H,
    State,
    X,
    assert_equations,
    assert_lstm,
    named,
    parameters,
    random_cell,
    sigmoid,
)

from thinstack.plugins.cells.child_sum_lstm import ChildSumLSTM


class Paper:
    """W, U and b of each gate under the names of the paper, and b_u, the bias of U; W x is x @ W
    here."""

    def __init__(self, cell: ChildSumLSTM):
        gates = "iuof" if cell.output_gate else "iuf"
        part = parameters(cell)
        part.setdefault("b_u", np.zeros_like(part["b"]))
        self.output_gate = cell.output_gate
        self.w = named(gates if cell.inner_size else gates[:-1], part["w"])
        self.u, self.b, self.b_u = (named(gates, part[name]) for name in ("u", "b", "b_u"))

    def node(self, x: Array | None, children: list[State], kinds: list[int]) -> State:
        def before(gate: str, hidden: Array) -> Array:
            total = hidden @ self.u[gate] + self.b[gate] + self.b_u[gate]
            return total if x is None else total + x @ self.w[gate]

        h_sum = sum((h for h, _ in children), np.zeros(H))
        i, u = sigmoid(before("i", h_sum)), np.tanh(before("u", h_sum))
        c_j = i * u + sum(sigmoid(before("f", h_k)) * c_k for h_k, c_k in children)
        return (sigmoid(before("o", h_sum)) if self.output_gate else 1) * np.tanh(c_j), c_j


@pytest.mark.parametrize("bias", ["single", "double"])
@pytest.mark.parametrize("output_gate", [True, False])
@pytest.mark.parametrize("inner_size", [0, X])
def test_the_equations(inner_size: int, output_gate: bool, bias: str) -> None:
    cell = random_cell(ChildSumLSTM, inner_size=inner_size, output_gate=output_gate, bias=bias)
    assert_equations(cell, Paper(cell).node)


@pytest.mark.parametrize("bias", ["single", "double"])
def test_on_a_chain_it_is_an_lstm(bias: str) -> None:
    cell = random_cell(ChildSumLSTM, inner_size=X, bias=bias)
    paper = Paper(cell)
    assert any(part.any() for part in paper.b_u.values()) == (bias == "double")
    parts = ([of[gate] for gate in "ifuo"] for of in (paper.w, paper.u, paper.b, paper.b_u))
    assert_lstm(cell, *parts)
