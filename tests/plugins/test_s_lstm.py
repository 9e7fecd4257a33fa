"""The S-LSTM against Teng & Zhang 2017, equations (1) and (4)-(7), in NumPy."""

import numpy as np
from equations import Array, State, assert_equations, named, parameters, random_cell, sigmoid

from thinstack.plugins.cells.s_lstm import SLSTM


class Paper:
    """The parameters under the names of the paper, such as W["hfl", "L"]; W h is h @ W here."""

    def __init__(self, cell: SLSTM):
        w = parameters(cell)
        self.b = named(("fl", "fr", "i", "g", "o"), w["b"])
        self.W: dict = named(("xi", "xg", "xo"), w["w_x"])
        sources = [("h", "L"), ("h", "R"), ("c", "L"), ("c", "R")]
        for (source, side), rows in named(sources, w["w_fi"], axis=0).items():
            for gate, block in named(("fl", "fr", "i"), rows).items():
                self.W[source + gate, side] = block
        self.W["hg", "L"], self.W["hg", "R"] = np.split(w["w_g"], 2)
        self.W["ho", "L"], self.W["ho", "R"], self.W["co"] = np.split(w["w_o"], 3)

    def node(self, _: Array | None, children: list[State], kinds: list[int]) -> State:
        (h_l, c_l), (h_r, c_r) = children
        W, b = self.W, self.b

        def gate(k: str) -> Array:
            from_h = h_l @ W[f"h{k}", "L"] + h_r @ W[f"h{k}", "R"]
            return sigmoid(from_h + c_l @ W[f"c{k}", "L"] + c_r @ W[f"c{k}", "R"] + b[k])

        g = np.tanh(h_l @ W["hg", "L"] + h_r @ W["hg", "R"] + b["g"])
        c = gate("fl") * c_l + gate("fr") * c_r + gate("i") * g
        o = sigmoid(h_l @ W["ho", "L"] + h_r @ W["ho", "R"] + c @ W["co"] + b["o"])
        return o * np.tanh(c), c

    def leaf(self, x: Array) -> State:
        c = sigmoid(x @ self.W["xi"] + self.b["i"]) * np.tanh(x @ self.W["xg"] + self.b["g"])
        return sigmoid(x @ self.W["xo"] + c @ self.W["co"] + self.b["o"]) * np.tanh(c), c


def test_the_equations() -> None:
    cell = random_cell(SLSTM)
    assert_equations(cell, Paper(cell).node, Paper(cell).leaf)
