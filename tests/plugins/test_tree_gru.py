"""The Tree-GRU against its equations in NumPy, and against a GRU step by step on a chain."""

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
from torch import nn

from thinstack.plugins.cells.tree_gru import TreeGRU


@pytest.mark.parametrize("inner_size", [0, X])
def test_the_equations(inner_size: int) -> None:
    cell = random_cell(TreeGRU, inner_size=inner_size)
    part = parameters(cell)
    w = named("znr" if inner_size else "zn", part["w"])
    u, b = named("znr", part["u"]), named("znr", part["b"])

    def node(x: Array | None, children: list[State], kinds: list[int]) -> State:
        def before(gate: str, hidden: Array) -> Array:
            total = hidden @ u[gate] + b[gate]
            return total if x is None else total + x @ w[gate]

        h_sum = sum((h for (h,) in children), np.zeros(H))
        reset = sum((sigmoid(before("r", h_k)) * h_k for (h_k,) in children), np.zeros(H))
        z, n = sigmoid(before("z", h_sum)), np.tanh(before("n", reset))
        return ((1 - z) * n + z * h_sum,)

    assert_equations(cell, node)


def test_on_a_chain_it_is_a_gru_where_the_reset_gate_is_open() -> None:
    """torch resets U h instead of h, which is the same when r is 1 everywhere; its gates are r, z,
    n."""
    cell = random_cell(TreeGRU, inner_size=X)
    with torch.no_grad():
        cell.w[:, 2 * H :] = 0
        cell.b[2 * H :] = 100
    gru = nn.GRU(X, H).double()
    w, u, b = (
        [part.detach().chunk(3, -1)[gate] for gate in (2, 0, 1)]
        for part in (cell.w, cell.u, cell.b)
    )
    rows = {
        "weight_ih_l0": torch.cat(w, 1).T,
        "weight_hh_l0": torch.cat(u, 1).T,
        "bias_ih_l0": torch.cat(b),
        "bias_hh_l0": torch.zeros(3 * H),
    }
    gru.load_state_dict(rows)
    words = torch.randn(6, X).double()
    torch.testing.assert_close(along_chain(cell, words), gru(words)[0], rtol=0, atol=1e-12)
