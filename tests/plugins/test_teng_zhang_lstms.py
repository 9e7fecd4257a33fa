"""The LSTMs of Teng & Zhang 2017 in NumPy: the chain's (1)-(3), S-LSTM (4)-(7), lexicalized
(8)-(11), top-down (13)-(14); without peepholes against torch's LSTM."""

import numpy as np
import pytest
from equations import Array, H, State, X, assert_equations, named, parameters, random_cell, sigmoid

from thinstack.core.cell import Cell
from thinstack.errors import ConfigError
from thinstack.plugins.cells.lexicalized_lstm import LexicalizedLSTM
from thinstack.plugins.cells.peephole_lstm import PeepholeLSTM
from thinstack.plugins.cells.s_lstm import SLSTM
from thinstack.plugins.cells.top_down_lstm import TopDownLSTM

WAYS = ["shared", "per_side"]


def step(x, h, c, W, b):  # noqa: N803
    """(1)-(3) and (13)-(14), of one set of parameters under the names of the paper, such as
    W["hf"]; W h is h @ W here."""
    i = sigmoid(x @ W["xi"] + h @ W["hi"] + c @ W["ci"] + b["i"])
    f = sigmoid(x @ W["xf"] + h @ W["hf"] + c @ W["cf"] + b["f"])
    g = np.tanh(x @ W["xg"] + h @ W["hg"] + b["g"])
    c = f * c + i * g
    o = sigmoid(x @ W["xo"] + h @ W["ho"] + c @ W["co"] + b["o"])
    return o * np.tanh(c), c


class Sequential:
    """The peephole LSTM."""

    def __init__(self, cell: PeepholeLSTM):
        w = parameters(cell)
        self.b = named("ifog", w["b"])
        self.W: dict = {}
        for gate, block in (named("if", w["w_if"]) | {"g": w["w_g"], "o": w["w_o"]}).items():
            parts = zip("xhc", np.split(block, [X, X + H]), strict=True)
            self.W.update({source + gate: part for source, part in parts})

    def node(self, x: Array, children: list[State], kinds: list[int]) -> State:
        """h_t and c_t; the first word has a predecessor of zeros."""
        ((h, c),) = children or [(np.zeros(H), np.zeros(H))]
        return step(x, h, c, self.W, self.b)


class TopDown:
    """The parameters of each side (1, 2, ..)."""

    def __init__(self, cell: TopDownLSTM):
        w = parameters(cell)
        of_x, of_b = (np.split(w[name], w["b"].size // (4 * H), axis=-1) for name in ("w_x", "b"))
        i_f, g, o = (np.split(w[name], cell.kinds, axis=1) for name in ("w_if", "w_g", "w_o"))
        self.W: dict[int, dict[str, Array]] = {}
        self.b: dict[int, dict[str, Array]] = {}
        for side in range(cell.kinds):
            own = side if len(of_x) > 1 else 0
            self.b[side + 1] = named("ifog", of_b[own])
            parts = named(("xi", "xf", "xo", "xg"), of_x[own])
            for gate, block in named("if", i_f[side]).items():
                parts[f"h{gate}"], parts[f"c{gate}"] = np.split(block, 2)
            parts["hg"] = g[side]
            parts["ho"], parts["co"] = np.split(o[side], 2)
            self.W[side + 1] = parts

    def node(self, x: Array, children: list[State], kinds: list[int]) -> State:
        """h_t and c_t of child number `kinds[0]`; the root is a left child of zeros."""
        ((h, c),), (side,) = children or [(np.zeros(H), np.zeros(H))], kinds or [1]
        return step(x, h, c, self.W[side], self.b[side])


class Binary:
    """The S-LSTM and, with x at inner nodes, the lexicalized one; parameters under the names of the
    paper, such as W["hfl", "L"]."""

    def __init__(self, cell: Cell, lexicalize: str = "", columns: int = X):
        w = parameters(cell)
        self.lexicalize, self.columns = lexicalize, columns
        self.b = named(("i", "fl", "fr", "o", "g"), w["b"])
        gates = ("xi", "xf", "xo", "xg") if lexicalize else ("xi", "xo", "xg")
        self.W: dict = named(gates, w["w_x"])
        sources = [("h", "L"), ("h", "R"), ("c", "L"), ("c", "R")]
        for (source, side), rows in named(sources, w["w_if"], axis=0).items():
            for gate, block in named(("i", "fl", "fr"), rows).items():
                self.W[source + gate, side] = block
        self.W["hg", "L"], self.W["hg", "R"] = np.split(w["w_g"], 2)
        self.W["ho", "L"], self.W["ho", "R"], self.W["co"] = np.split(w["w_o"], 3)
        if lexicalize == "gate":
            self.W["zx", "L"], self.W["zx", "R"] = np.split(w["w_z"], 2)
            self.b["z"] = w["b_z"]

    def head_word(self, x_l: Array, x_r: Array) -> Array:
        if self.lexicalize == "gate":
            z = sigmoid(x_l @ self.W["zx", "L"] + x_r @ self.W["zx", "R"] + self.b["z"])
            return z * x_l + (1 - z) * x_r
        return {"left": x_l, "right": x_r, "average": (x_l + x_r) / 2}[self.lexicalize]

    def node(self, _: Array | None, children: list[State], kinds: list[int]) -> State:
        (h_l, c_l, *x_l), (h_r, c_r, *x_r) = children
        W, b = self.W, self.b
        x = [self.head_word(*x_l, *x_r)] if self.lexicalize else []

        def of_x(name: str) -> Array | float:
            return x[0] @ W[name][: self.columns] if x else 0.0

        def gate(k: str) -> Array:
            from_h = h_l @ W[f"h{k}", "L"] + h_r @ W[f"h{k}", "R"]
            from_c = c_l @ W[f"c{k}", "L"] + c_r @ W[f"c{k}", "R"]
            return sigmoid(of_x(f"x{k[0]}") + from_h + from_c + b[k])

        g = np.tanh(of_x("xg") + h_l @ W["hg", "L"] + h_r @ W["hg", "R"] + b["g"])
        c = gate("fl") * c_l + gate("fr") * c_r + gate("i") * g
        o = sigmoid(of_x("xo") + h_l @ W["ho", "L"] + h_r @ W["ho", "R"] + c @ W["co"] + b["o"])
        return o * np.tanh(c), c, *x

    def leaf(self, x: Array) -> State:
        c = sigmoid(x @ self.W["xi"] + self.b["i"]) * np.tanh(x @ self.W["xg"] + self.b["g"])
        h = sigmoid(x @ self.W["xo"] + c @ self.W["co"] + self.b["o"]) * np.tanh(c)
        return (h, c, x[: self.columns]) if self.lexicalize else (h, c)


def test_s_lstm():
    cell = random_cell(SLSTM)
    assert_equations(cell, Binary(cell).node, Binary(cell).leaf)


@pytest.mark.parametrize("columns", [None, 2])
@pytest.mark.parametrize("lexicalize", ["gate", "left", "right", "average"])
def test_lexicalized_lstm(lexicalize, columns):
    cell = random_cell(LexicalizedLSTM, lexicalize=lexicalize, columns=columns)
    paper = Binary(cell, lexicalize, columns or X)
    assert_equations(cell, paper.node, paper.leaf)


def test_a_head_word_has_no_more_columns_than_words():
    with pytest.raises(ConfigError, match=f"at most {X} columns, found {X + 1}"):
        random_cell(LexicalizedLSTM, columns=X + 1)


def test_peephole_lstm():
    cell = random_cell(PeepholeLSTM)
    assert_equations(cell, Sequential(cell).node)


@pytest.mark.parametrize("kinds", [1, 2, 3])
@pytest.mark.parametrize("inputs", WAYS)
def test_top_down_lstm(inputs, kinds):
    cell = random_cell(TopDownLSTM, inputs=inputs, kinds=kinds)
    assert_equations(cell, TopDown(cell).node, kinds=kinds)
