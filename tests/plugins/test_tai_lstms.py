"""The Tree-LSTMs of Tai et al. 2015 in NumPy: Child-Sum (2)-(8) and N-ary (9)-(14)."""

import numpy as np
import pytest
from equations import Array, H, State, X, assert_equations, named, parameters, random_cell, sigmoid

from thinstack.core.cell import Cell
from thinstack.plugins.cells.child_sum_lstm import ChildSumLSTM
from thinstack.plugins.cells.nary_lstm import NaryLSTM


class ChildSum:
    """W, U and b of each gate under the names of the paper, and b_u, the bias of U; W x is x @ W
    here."""

    def __init__(self, cell: ChildSumLSTM):
        gates = "ifou" if cell.output_gate else "ifu"
        part = parameters(cell)
        part.setdefault("b_u", np.zeros_like(part["b"]))
        self.output_gate = cell.output_gate
        self.w = named(gates if cell.inner_size else gates.replace("f", ""), part["w"])
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
def test_child_sum_lstm(inner_size, output_gate, bias):
    cell = random_cell(ChildSumLSTM, inner_size=inner_size, output_gate=output_gate, bias=bias)
    assert_equations(cell, ChildSum(cell).node)


class Nary:
    """W, U and b of each gate under the names of the paper; W x is x @ W here. U of a gate has a
    block for each child."""

    def __init__(self, cell: Cell):
        part, forgets = parameters(cell), [f"f{k}" for k in range(cell.arity)]
        self.w = named("ifou" if cell.inner_size else "iou", part["w"])
        self.b = named("ifou", part["b"])
        columns = np.split(part["u"], part["u"].shape[1] // H, axis=1)
        self.u = {
            gate: np.split(block, cell.arity)
            for gate, block in zip(["i", *forgets, "o", "u"], columns, strict=True)
        }

    def node(self, x: Array | None, children: list[State], kinds: list[int]) -> State:
        """h_j and c_j."""

        def before(gate: str) -> Array:
            total = self.b[gate[0]]
            for (h_l, _), u in zip(children, self.u[gate], strict=bool(children)):
                total = total + h_l @ u
            return total if x is None else total + x @ self.w[gate[0]]

        c_j = sigmoid(before("i")) * np.tanh(before("u"))
        for k, (_, c_k) in enumerate(children):
            c_j = c_j + sigmoid(before(f"f{k}")) * c_k
        return sigmoid(before("o")) * np.tanh(c_j), c_j


@pytest.mark.parametrize("inner_size", [0, X])
@pytest.mark.parametrize("arity", [1, 2, 3])
def test_nary_lstm(arity, inner_size):
    cell = random_cell(NaryLSTM, arity=arity, inner_size=inner_size)
    assert_equations(cell, Nary(cell).node)
