"""Dual-gate LSTM (Le & Zuidema 2015), SPINN's LSTM (Bowman et al. 2016) and Tree-GRU in NumPy."""

import numpy as np
import pytest
from equations import Array, H, State, X, assert_equations, named, parameters, random_cell, sigmoid

from thinstack.core.cell import Cell
from thinstack.plugins.cells.child_sum_lstm import ChildSumLSTM
from thinstack.plugins.cells.dual_gate_lstm import DualGateLSTM
from thinstack.plugins.cells.nary_lstm import NaryLSTM
from thinstack.plugins.cells.spinn_lstm import SpinnLSTM
from thinstack.plugins.cells.tree_gru import TreeGRU


class DualGate:
    """The parameters under the names of the docstring: W["hi", k, l] is that of i_k from h_l; W h
    is h @ W here."""

    def __init__(self, cell: DualGateLSTM):
        w, n = parameters(cell), cell.arity
        gates = [(gate, k) for gate in "if" for k in range(n)]
        self.W: dict = {}
        rows = iter(np.split(w["w_if"], 2 * n))
        for source in "hc":
            for child in range(n):
                for (gate, k), block in named(gates, next(rows)).items():
                    self.W[source + gate, k, child] = block
        self.b: dict = named(gates, w["b_if"]) | {"g": w["b_g"], "o": w["b_o"]}
        *of_h, self.W["co"] = np.split(w["w_o"], n + 1)
        for child in range(n):
            self.W["g", child], self.W["ho", child] = w["w_g"][child], of_h[child]
        self.W |= named(["xi", "xo", "xg"], w["w_x"])
        self.b |= named(["xi", "xo", "xg"], w["b_x"])

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
def test_dual_gate_lstm(arity):
    cell = random_cell(DualGateLSTM, arity=arity)
    assert_equations(cell, DualGate(cell).node, DualGate(cell).leaf)


@pytest.mark.parametrize("inner_size", [0, 2, X])
def test_spinn_lstm(inner_size):
    """The left child lies under the right one, which is the top of the stack."""
    cell = random_cell(SpinnLSTM, inner_size=inner_size)
    part, gates = parameters(cell), ("i", "f_l", "f_r", "o", "g")
    w, b = named(gates, part["w_comp"]), named(gates, part["b_comp"])

    def node(e, children, kinds):
        """(1)-(3)."""
        (h_2, c_2), (h_1, c_1) = children
        a = {}
        for gate in gates:
            of_h_2, of_h_1, of_e = np.split(w[gate], [H, 2 * H])
            a[gate] = h_1 @ of_h_1 + h_2 @ of_h_2 + b[gate] + (0 if e is None else e @ of_e)
        c = sigmoid(a["f_l"]) * c_2 + sigmoid(a["f_r"]) * c_1 + sigmoid(a["i"]) * np.tanh(a["g"])
        return sigmoid(a["o"]) * np.tanh(c), c

    def leaf(x):
        """(4): a linear map, h before c."""
        return tuple(np.split(x @ part["w_word"] + part["b_word"], 2))

    assert_equations(cell, node, leaf)


@pytest.mark.parametrize("inner_size", [0, X])
def test_tree_gru(inner_size):
    cell = random_cell(TreeGRU, inner_size=inner_size)
    part = parameters(cell)
    w = named("rzn" if inner_size else "zn", part["w"])
    u, b = named("rzn", part["u"]), named("rzn", part["b"])

    def node(x, children, kinds):
        def before(gate, hidden):
            total = hidden @ u[gate] + b[gate]
            return total if x is None else total + x @ w[gate]

        h_sum = sum((h for (h,) in children), np.zeros(H))
        reset = sum((sigmoid(before("r", h_k)) * h_k for (h_k,) in children), np.zeros(H))
        z, n = sigmoid(before("z", h_sum)), np.tanh(before("n", reset))
        return ((1 - z) * n + z * h_sum,)

    assert_equations(cell, node)


# -- the Tree-LSTMs of Tai et al. 2015, Child-Sum (2)-(8) and N-ary (9)-(14)


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
