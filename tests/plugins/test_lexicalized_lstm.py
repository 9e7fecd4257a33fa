"""The lexicalized Tree-LSTM against Teng & Zhang 2017, equations (8)-(11), in NumPy."""

import numpy as np
import pytest
from equations import Array, H, State, X, assert_equations, named, parameters, random_cell, sigmoid

from thinstack.plugins.cells.lexicalized_lstm import LexicalizedLSTM


class Paper:
    """The parameters under the names of the paper, such as W["hfl", "L"]; W h is h @ W here."""

    def __init__(self, cell: LexicalizedLSTM, lexicalize: str):
        w = parameters(cell)
        self.lexicalize = lexicalize
        self.b = named(("fl", "fr", "i", "g", "o"), w["b"])
        self.W: dict = named(("xf", "xi", "xg", "xo"), w["w_x"])
        sources = [("h", "L"), ("h", "R"), ("c", "L"), ("c", "R")]
        for (source, side), rows in named(sources, w["w_fi"], axis=0).items():
            for gate, block in named(("fl", "fr", "i"), rows).items():
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
        (h_l, c_l, x_l), (h_r, c_r, x_r) = children
        W, b, x = self.W, self.b, self.head_word(x_l, x_r)

        def gate(k: str, of_x: str) -> Array:
            from_h = h_l @ W[f"h{k}", "L"] + h_r @ W[f"h{k}", "R"]
            from_c = c_l @ W[f"c{k}", "L"] + c_r @ W[f"c{k}", "R"]
            return sigmoid(x @ W[of_x] + from_h + from_c + b[k])

        g = np.tanh(x @ W["xg"] + h_l @ W["hg", "L"] + h_r @ W["hg", "R"] + b["g"])
        c = gate("fl", "xf") * c_l + gate("fr", "xf") * c_r + gate("i", "xi") * g
        o = sigmoid(x @ W["xo"] + h_l @ W["ho", "L"] + h_r @ W["ho", "R"] + c @ W["co"] + b["o"])
        return o * np.tanh(c), c, x

    def leaf(self, x: Array) -> State:
        c = sigmoid(x @ self.W["xi"] + self.b["i"]) * np.tanh(x @ self.W["xg"] + self.b["g"])
        return sigmoid(x @ self.W["xo"] + c @ self.W["co"] + self.b["o"]) * np.tanh(c), c, x


@pytest.mark.parametrize("lexicalize", ["gate", "left", "right", "average"])
def test_the_equations(lexicalize: str) -> None:
    cell = random_cell(LexicalizedLSTM, lexicalize=lexicalize)
    paper = Paper(cell, lexicalize)
    assert_equations(cell, paper.node, paper.leaf)


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(KeyError, match="middle"):
        LexicalizedLSTM(input_size=X, hidden_size=H, lexicalize="middle")
