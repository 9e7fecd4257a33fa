"""The N-ary Tree-LSTM as its authors ran it, in NumPy; the contract of a cell; and the counts of
parameters that the paper prints."""

from typing import Any

import numpy as np
import pytest
from core.configured import build
from plugins.equations import Array, H, State, X, assert_equations, parameters, random_cell, sigmoid

from thinstack.core.cell import Cell
from thinstack.errors import ConfigError
from thinstack.plugins.manager import manager
from thinstack.testing import CELL_CHECKS
from thinstack_lab.cells.nary_lstm_of_table_1 import NaryLSTMOfTable1

NAME = "nary_lstm_of_table_1.v1"


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
    cell = random_cell(NaryLSTMOfTable1, arity=arity, inner_size=inner_size, **options)
    paper = Nary(cell, **options)
    assert_equations(cell, paper.node, paper.leaf)


def cell_of(options: dict[str, Any], **sizes: int) -> Cell:
    sizes = {"input_size": X, "hidden_size": H, **sizes}
    return manager().find("cell", NAME).create(options, **sizes)


@pytest.mark.parametrize("check", CELL_CHECKS)
@pytest.mark.parametrize(
    ("options", "inner_size"),
    [
        ({"arity": 3, "forget": "tied", "bias": "double"}, 5),
        ({"forget": "diagonal", "leaf": "own", "output_gate": False}, 0),
    ],
)
def test_contract(check, options, inner_size):
    CELL_CHECKS[check](NAME, options=options, inner_size=inner_size, examples=20)


@pytest.mark.parametrize(
    "options",
    [{"arity": 0}, {"forget": "none"}, {"leaf": "mine"}, {"bias": 2}, {"output_gate": "half"}],
)
def test_wrong_options(options):
    (option,) = options
    with pytest.raises(ConfigError, match=f"{option}: "):
        cell_of(options)


def model_of(cell, head=None, **config):
    fields = {"labels": ["1", "2", "3", "4", "5"], "embedding": {"kind": "words", "size": 300}}
    return build(cell, head, **fields | config)


def count(*modules):
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


# Table 1: (relatedness d, count), (sentiment d, count); relatedness has no output gate, each map a
# bias of its own
TAI = {
    "LSTM": ((150, 203_400), (168, 315_840)),
    "bidirectional LSTM": ((150, 203_400), (168, 315_840)),
    "2-layer LSTM": ((108, 203_472), (120, 318_720)),
    "bidirectional 2-layer LSTM": ((108, 203_472), (120, 318_720)),
    "constituency Tree-LSTM": ((142, 205_190), (150, 316_800)),
    "dependency Tree-LSTM": ((150, 203_400), (168, 315_840)),
}


@pytest.mark.parametrize("task", ["relatedness", "sentiment"])
@pytest.mark.parametrize("variant", TAI)
def test_table_1_of_tai(variant, task):
    d, expected = TAI[variant][task == "sentiment"]
    options = {"bias": "double", "output_gate": task == "sentiment"}
    cell = {"name": NAME, "hidden_size": d, "options": options}
    config = {}
    if variant == "constituency Tree-LSTM":
        options["leaf"] = "own"
    elif variant == "dependency Tree-LSTM":
        cell["name"], config = "child_sum_lstm.v1", {"trees": "dependency"}
    else:
        options["arity"] = 1
        encoder = {"layers": 2 if "2-layer" in variant else 1}
        if "bidirectional" in variant:
            encoder |= {"top_down": "shared", "separate": True, "readout": ["up", "leaves"]}
        config = {"trees": "sequence", "encoder": encoder}
    model = model_of(cell, **config)
    assert count(model.encoder) == expected
