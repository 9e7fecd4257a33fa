"""The top-down LSTM against Teng & Zhang 2017, equations (13)-(14), in NumPy."""

import numpy as np
import pytest
import torch
from equations import (
    Array,
    H,
    State,
    X,
    along_chain,
    assert_equations,
    named,
    parameters,
    random_cell,
    sigmoid,
)

from thinstack.plugins.cells.top_down_lstm import TopDownLSTM

WAYS = ["shared", "per_side"]


class Paper:
    """The parameters of each side (1, 2, ..) under the names of the paper, such as W[1]["hf"]; W h
    is h @ W here."""

    def __init__(self, cell: TopDownLSTM):
        w = parameters(cell)
        of_x, of_b = (np.split(w[name], w["b"].size // (4 * H), axis=-1) for name in ("w_x", "b"))
        fi, g, o = (np.split(w[name], cell.kinds, axis=1) for name in ("w_fi", "w_g", "w_o"))
        self.W: dict[int, dict[str, Array]] = {}
        self.b: dict[int, dict[str, Array]] = {}
        for side in range(cell.kinds):
            own = side if len(of_x) > 1 else 0
            self.b[side + 1] = named("figo", of_b[own])
            parts = named(("xf", "xi", "xg", "xo"), of_x[own])
            for gate, block in named("fi", fi[side]).items():
                parts[f"h{gate}"], parts[f"c{gate}"] = np.split(block, 2)
            parts["hg"] = g[side]
            parts["ho"], parts["co"] = np.split(o[side], 2)
            self.W[side + 1] = parts

    def node(self, x: Array, children: list[State], kinds: list[int]) -> State:
        """h_t and c_t of child number `kinds[0]`; the root is a left child of zeros."""
        ((h, c),), (side,) = children or [(np.zeros(H), np.zeros(H))], kinds or [1]
        W, b = self.W[side], self.b[side]
        i = sigmoid(x @ W["xi"] + h @ W["hi"] + c @ W["ci"] + b["i"])
        f = sigmoid(x @ W["xf"] + h @ W["hf"] + c @ W["cf"] + b["f"])
        g = np.tanh(x @ W["xg"] + h @ W["hg"] + b["g"])
        c = f * c + i * g
        o = sigmoid(x @ W["xo"] + h @ W["ho"] + c @ W["co"] + b["o"])
        return o * np.tanh(c), c


@pytest.mark.parametrize("kinds", [1, 2, 3])
@pytest.mark.parametrize("inputs", WAYS)
def test_the_equations(inputs: str, kinds: int) -> None:
    cell = random_cell(TopDownLSTM, inputs=inputs, kinds=kinds)
    assert_equations(cell, Paper(cell).node, kinds=kinds)


@pytest.mark.parametrize("inputs", WAYS)
@pytest.mark.parametrize("sides", [[1, 1, 2], [1, 2, 1]])
def test_two_paths_from_the_root(sides: list[int], inputs: str) -> None:
    """Those to the nodes 7 and 8 of Figure 4."""
    cell, words = random_cell(TopDownLSTM, inputs=inputs), torch.randn(4, X).double()
    states: list[State] = []
    for side, word in zip([1, *sides], words, strict=True):
        states.append(Paper(cell).node(word.numpy(), states[-1:], [side]))
    found = along_chain(cell, words, sides).detach()
    np.testing.assert_allclose(found, [h for h, _ in states], rtol=0, atol=1e-10)


def test_no_side_is_refused() -> None:
    with pytest.raises(ValueError, match="got 0"):
        TopDownLSTM(input_size=X, hidden_size=H, kinds=0)
