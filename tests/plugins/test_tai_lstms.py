"""The Tree-LSTMs of Tai et al. 2015 in NumPy, Child-Sum (2)-(8) and N-ary (9)-(14), and against
torch's LSTM on a chain."""

from typing import Any

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
    """W, U and b of each gate under the names of the paper; W x is x @ W here.

    `maps[gate]` says for each child which recurrent map leads from it to the gate: its key in `u`
    and `b_u`.
    """

    def __init__(
        self,
        cell: Cell,
        *,
        forget: str = "full",
        leaf: str = "shared",
        bias: str = "single",
        output_gate: bool = True,
    ):
        forget = forget if cell.arity > 1 else "full"  # of one child nothing is off the diagonal
        self.part = parameters(cell)
        self.own_leaf, self.output_gate = leaf == "own", output_gate
        every, forgets = range(cell.arity), [f"f{k}" for k in range(cell.arity)]
        last = ["o", "u"] if output_gate else ["u"]
        self.w = self.columns(["i", *(["f"] if cell.inner_size else []), *last], "w")
        self.b = self.columns(["i", "f", *last], "b")
        self.maps: dict[str, list[Any]] = {
            gate: [(gate, child) for child in every] for gate in ["i", *last]
        }
        for k, gate in enumerate(forgets):
            self.maps[gate] = [
                (gate, child) if forget == "full" or child == k else forget for child in every
            ]
        blocks = self.columns(["i", *(forgets if forget == "full" else []), *last], "u")
        self.u: dict[Any, Array] = {
            (gate, child): u
            for gate, block in blocks.items()
            for child, u in enumerate(np.split(block, cell.arity))
        }
        of_f = [*dict.fromkeys(key for gate in forgets for key in self.maps[gate] if key != forget)]
        of_f += ["tied"] if forget == "tied" else []
        if forget != "full":
            self.u |= zip(of_f, self.part["u_f"], strict=True)
        order = [*self.maps["i"], *of_f, *(key for gate in last for key in self.maps[gate])]
        self.b_u: dict[Any, Array] = {}
        if bias == "double":
            self.b_u = dict(zip(order, self.part["b_u"].reshape(-1, H), strict=True))

    def columns(self, gates: list[str], name: str) -> dict[str, Array]:
        """The columns of a parameter, H for each gate in turn; none where there is no such
        parameter."""
        part = self.part.get(name, np.zeros(0))
        return dict(zip(gates, np.split(part, part.shape[-1] // H or 1, axis=-1), strict=False))

    def node(self, x: Array | None, children: list[State], kinds: list[int]) -> State:
        """h_j and c_j."""

        def before(gate: str) -> Array:
            total = sum(self.b_u.get(key, 0) for key in self.maps[gate])
            total = total + (self.b[gate[0]] if self.part.get("b") is not None else 0)
            for (h_l, _), key in zip(children, self.maps[gate], strict=bool(children)):
                total = total + (0 if key == "diagonal" else h_l @ self.u[key])
            return total if x is None else total + x @ self.w[gate[0]]

        c_j = sigmoid(before("i")) * np.tanh(before("u"))
        for k, (_, c_k) in enumerate(children):
            c_j = c_j + sigmoid(before(f"f{k}")) * c_k
        return (sigmoid(before("o")) if self.output_gate else 1) * np.tanh(c_j), c_j

    def leaf(self, x: Array) -> State:
        """By the same equations, or c = W x + b, o = sigmoid(W_o x + b_o), h = o * tanh(c)."""
        if not self.own_leaf:
            return self.node(x, [], [])
        c, *o = np.split(
            x @ self.part["w_leaf"] + self.part["b_leaf"], 2 if self.output_gate else 1
        )
        return (sigmoid(o[0]) if self.output_gate else 1) * np.tanh(c), c


@pytest.mark.parametrize("inner_size", [0, X])
@pytest.mark.parametrize("arity", [1, 2, 3])
def test_nary_lstm(arity, inner_size):
    cell = random_cell(NaryLSTM, arity=arity, inner_size=inner_size)
    assert_equations(cell, Nary(cell).node)


@pytest.mark.parametrize(
    ("arity", "inner_size", "values"),
    [
        (1, X, ("tied", "shared", "double", False)),
        (1, 0, ("diagonal", "own", "single", True)),
        (1, 0, ("full", "own", "double", True)),
        (2, 0, ("tied", "own", "single", False)),
        (2, X, ("diagonal", "shared", "single", False)),
        (2, X, ("full", "own", "double", False)),
        (2, 0, ("full", "own", "double", True)),
        (3, X, ("tied", "shared", "double", True)),
        (3, 0, ("diagonal", "own", "double", False)),
        (3, 0, ("full", "shared", "single", False)),
        (3, X, ("tied", "own", "single", True)),
        (2, 0, ("diagonal", "shared", "double", True)),
    ],
)
def test_the_cells_of_the_authors_runs(arity, inner_size, values):
    """Every value of one option with every value of another."""
    options = dict(zip(("forget", "leaf", "bias", "output_gate"), values, strict=True))
    cell = random_cell(NaryLSTM.build, arity=arity, inner_size=inner_size, **options)
    paper = Nary(cell, **options)
    assert_equations(cell, paper.node, paper.leaf)
