"""The matrix-vector network against its equations (Socher et al. 2012), in NumPy."""

import numpy as np
import pytest
import torch
from equations import Array, H, State, X, assert_equations, parameters, random_cell

from thinstack.errors import ConfigError
from thinstack.plugins.cells.mv_rnn import MVRNN
from thinstack.plugins.manager import manager

RANKS = [None, 1, 2]


def width(rank: int | None) -> int:
    """Of a word's vector and the parameters of its matrix."""
    return H + H * H if rank is None else H + 2 * H * rank + H


def word_matrix(m: Array, rank: int | None) -> Array:
    if rank is None:
        return np.eye(H) + m.reshape(H, H)
    u, v, d = np.split(m, [H * rank, 2 * H * rank])
    return u.reshape(H, rank) @ v.reshape(H, rank).T + np.diag(1 + d)


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("leaf_is", ["projected", "table"])
def test_the_equations(leaf_is: str, rank: int | None) -> None:
    """A missing child is the vector 0 and the identity."""
    table = leaf_is == "table"
    cell = random_cell(MVRNN, input_size=width(rank) if table else X, leaf=leaf_is, rank=rank)
    part = parameters(cell)

    def node(x: Array | None, children: list[State], kinds: list[int]) -> State:
        (a, b) = (vector for vector, _ in children)
        a_matrix, b_matrix = (
            matrix.reshape(H, H) if kind else np.eye(H)
            for (_, matrix), kind in zip(children, kinds, strict=True)
        )
        p = np.tanh(part["w"].T @ np.concatenate([b_matrix @ a, a_matrix @ b]) + part["b"])
        return p, (part["w_m"].T @ np.concatenate([a_matrix, b_matrix])).flatten()

    def leaf(x: Array) -> State:
        z, m = np.split(x if table else x @ part["w_x"] + part["b_x"], [H])
        return z if table else np.tanh(z), word_matrix(m, rank).flatten()

    assert_equations(cell, node, leaf)


@pytest.mark.parametrize("rank", [None, 3])
def test_matrices_of_words_start_near_the_identity(rank: int | None) -> None:
    torch.manual_seed(1)
    cell = MVRNN(input_size=100, hidden_size=25, rank=rank)
    off = cell.leaf(torch.randn(200, 100))[1].view(200, 25, 25) - torch.eye(25)
    norms = torch.linalg.matrix_norm(off, ord=2)
    assert norms.min() > 0
    assert norms.max() < 0.4


@pytest.mark.parametrize("rank", RANKS)
def test_a_table_of_another_width_is_refused(rank: int | None) -> None:
    with pytest.raises(ConfigError, match=rf"{width(rank)} .*found input_size = 3"):
        manager().cell("mv_rnn.v1").create(
            {"leaf": "table", "rank": rank}, input_size=X, hidden_size=H
        )
