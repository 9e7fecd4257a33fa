"""The peephole LSTM against Teng & Zhang 2017, equations (1)-(3), in NumPy, and without peepholes
against torch's LSTM."""

import numpy as np
import torch
from equations import (
    Array,
    H,
    State,
    X,
    along_chain,
    assert_equations,
    assert_lstm,
    named,
    parameters,
    random_cell,
    sigmoid,
)

from thinstack.plugins.cells.peephole_lstm import PeepholeLSTM


class Paper:
    """The parameters under the names of the paper, such as W["hf"]; W h is h @ W here."""

    def __init__(self, cell: PeepholeLSTM):
        w = parameters(cell)
        self.b = named("figo", w["b"])
        self.W: dict = {}
        for gate, block in (named("fi", w["w_fi"]) | {"g": w["w_g"], "o": w["w_o"]}).items():
            parts = zip("xhc", np.split(block, [X, X + H]), strict=True)
            self.W.update({source + gate: part for source, part in parts})

    def node(self, x: Array, children: list[State], kinds: list[int]) -> State:
        """h_t and c_t; the first word has a predecessor of zeros."""
        W, b = self.W, self.b
        ((h, c),) = children or [(np.zeros(H), np.zeros(H))]
        i = sigmoid(x @ W["xi"] + h @ W["hi"] + c @ W["ci"] + b["i"])
        f = sigmoid(x @ W["xf"] + h @ W["hf"] + c @ W["cf"] + b["f"])
        g = np.tanh(x @ W["xg"] + h @ W["hg"] + b["g"])
        c = f * c + i * g
        o = sigmoid(x @ W["xo"] + h @ W["ho"] + c @ W["co"] + b["o"])
        return o * np.tanh(c), c


def test_the_equations() -> None:
    cell = random_cell(PeepholeLSTM)
    assert_equations(cell, Paper(cell).node)


def test_a_sentence() -> None:
    cell, states = random_cell(PeepholeLSTM), []
    words = torch.randn(6, X).double()
    for word in words:
        states.append(Paper(cell).node(word.numpy(), states[-1:], [1]))
    found = along_chain(cell, words).detach()
    np.testing.assert_allclose(found, [h for h, _ in states], rtol=0, atol=1e-10)


def test_without_peepholes_it_is_an_lstm() -> None:
    cell = random_cell(PeepholeLSTM)
    with torch.no_grad():
        cell.w_fi[X + H :] = 0
        cell.w_o[X + H :] = 0
    W, b = Paper(cell).W, Paper(cell).b
    assert_lstm(cell, *([W[of + gate] for gate in "ifgo"] for of in "xh"), [b[g] for g in "ifgo"])
