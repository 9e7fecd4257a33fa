"""The matrix-vector network against its equations (Socher et al. 2012), in NumPy."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from thinstack.core.cell import Links
from thinstack.errors import ConfigError
from thinstack.plugins.cells.mv_rnn import MVRNN
from thinstack.plugins.manager import manager

X, H, ROWS = 3, 4, 5
RANKS = [None, 1, 2]
NONE = torch.zeros(0, dtype=torch.long)


def width(rank: int | None) -> int:
    """Of a word's vector and the parameters of its matrix."""
    return H + H * H if rank is None else H + 2 * H * rank + H


def random_cell(input_size: int = X, **options: Any) -> MVRNN:
    """In float64, with biases that are not zero."""
    torch.manual_seed(3)
    cell = MVRNN(input_size=input_size, hidden_size=H, **options).double()
    for part in cell.parameters():
        nn.init.normal_(part)
    return cell


def composed(cell: MVRNN, vectors: Tensor, matrices: Tensor) -> list[np.ndarray]:
    links = Links(NONE, torch.ones(vectors.shape[:2], dtype=torch.long))
    state = cell.compose(
        torch.zeros(vectors.shape[0], 0), [vectors.clone(), matrices.clone()], links
    )
    return [part.detach().numpy() for part in state]


def word_matrix(m: np.ndarray, rank: int | None) -> np.ndarray:
    if rank is None:
        return np.eye(H) + m.reshape(H, H)
    u, v, d = np.split(m, [H * rank, 2 * H * rank])
    return u.reshape(H, rank) @ v.reshape(H, rank).T + np.diag(1 + d)


def test_the_equations_at_inner_nodes() -> None:
    cell = random_cell()
    vectors, matrices = torch.randn(ROWS, 2, H).double(), torch.randn(ROWS, 2, H * H).double()
    p, p_matrix = composed(cell, vectors, matrices)
    w, w_m, bias = (part.detach().numpy() for part in (cell.w, cell.w_m, cell.b))
    for row in range(ROWS):
        a, b = vectors[row].numpy()
        a_matrix, b_matrix = matrices[row].numpy().reshape(2, H, H)
        expected = np.tanh(w.T @ np.concatenate([b_matrix @ a, a_matrix @ b]) + bias)
        np.testing.assert_allclose(p[row], expected, rtol=0, atol=1e-10)
        expected = w_m.T @ np.concatenate([a_matrix, b_matrix])  # W_M is H x 2H
        np.testing.assert_allclose(p_matrix[row].reshape(H, H), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("rank", RANKS)
def test_projected_leaves(rank: int | None) -> None:
    cell = random_cell(rank=rank)
    assert cell.w_x is not None
    assert cell.b_x is not None
    x = torch.randn(ROWS, X).double()
    vectors, matrices = (part.detach().numpy() for part in cell.leaf(x))
    for row in range(ROWS):
        z, m = np.split(x[row].numpy() @ cell.w_x.detach().numpy() + cell.b_x.detach().numpy(), [H])
        np.testing.assert_allclose(vectors[row], np.tanh(z), rtol=0, atol=1e-10)
        np.testing.assert_allclose(
            matrices[row].reshape(H, H), word_matrix(m, rank), rtol=0, atol=1e-10
        )


@pytest.mark.parametrize("rank", RANKS)
def test_leaves_from_a_table(rank: int | None) -> None:
    cell = random_cell(width(rank), leaf="table", rank=rank)
    x = torch.randn(ROWS, width(rank)).double()
    vectors, matrices = (part.detach().numpy() for part in cell.leaf(x))
    for row in range(ROWS):
        vector, m = np.split(x[row].numpy(), [H])
        np.testing.assert_array_equal(vectors[row], vector)
        np.testing.assert_allclose(
            matrices[row].reshape(H, H), word_matrix(m, rank), rtol=0, atol=1e-10
        )


@pytest.mark.parametrize("rank", RANKS)
def test_number_of_parameters(rank: int | None) -> None:
    inner = 2 * H * H + H + 2 * H * H  # W, w, W_M
    table = MVRNN(input_size=width(rank), hidden_size=H, leaf="table", rank=rank)
    assert sum(part.numel() for part in table.parameters()) == inner
    projected = MVRNN(input_size=X, hidden_size=H, rank=rank)
    assert sum(part.numel() for part in projected.parameters()) == inner + (X + 1) * width(rank)
    assert set(projected.state_dict()) == {"w", "b", "w_m", "w_x", "b_x"}


@pytest.mark.parametrize("rank", [None, 3])
def test_matrices_of_words_start_near_the_identity(rank: int | None) -> None:
    torch.manual_seed(1)
    cell = MVRNN(input_size=100, hidden_size=25, rank=rank)
    assert cell.w_x is not None
    assert cell.b_x is not None
    off = cell.leaf(torch.randn(200, 100))[1].view(200, 25, 25) - torch.eye(25)
    norms = torch.linalg.matrix_norm(off, ord=2)
    assert norms.min() > 0
    assert norms.max() < 0.4
    assert 0.09 < cell.w_x[:, :25].detach().abs().max() <= 0.1
    assert 0.13 < cell.w.detach().abs().max() <= 50**-0.5
    assert 0.13 < cell.w_m.detach().abs().max() <= 50**-0.5
    assert not cell.b.any()
    assert not cell.b_x.any()


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("leaf", ["projected", "table"])
def test_rows_of_none(leaf: str, rank: int | None) -> None:
    cell = random_cell(width(rank), leaf=leaf, rank=rank)
    none = torch.zeros(0, 2, H).double(), torch.zeros(0, 2, H * H).double()
    for state in (cell.leaf(torch.zeros(0, width(rank)).double()), composed(cell, *none)):
        assert [tuple(part.shape) for part in state] == [(0, H), (0, H * H)]


def test_it_is_registered() -> None:
    cell = (
        manager().cell("mv_rnn.v1").create({"rank": 2}, input_size=X, hidden_size=H, inner_size=X)
    )
    assert isinstance(cell, MVRNN)
    assert (cell.arity, cell.kinds, cell.state_sizes, cell.inner_size, cell.rank) == (
        2,
        0,
        [H, H * H],
        0,
        2,
    )
    table = (
        manager().cell("mv_rnn.v1").create({"leaf": "table"}, input_size=H + H * H, hidden_size=H)
    )
    assert isinstance(table, MVRNN)
    assert (table.rank, table.w_x) == (0, None)


@pytest.mark.parametrize("rank", RANKS)
def test_a_table_of_another_width_is_refused(rank: int | None) -> None:
    with pytest.raises(
        ConfigError, match=rf"takes inputs of width {width(rank)} .*found input_size = 3"
    ):
        manager().cell("mv_rnn.v1").create(
            {"leaf": "table", "rank": rank}, input_size=X, hidden_size=H
        )


@pytest.mark.parametrize("options", [{"leaf": "word"}, {"rank": 0}, {"ranks": 2}])
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"mv_rnn\.v1.*{next(iter(options))}"):
        manager().cell("mv_rnn.v1").create(options, input_size=X, hidden_size=H)


@pytest.mark.parametrize("slot", [0, 1])
def test_a_missing_child_is_the_vector_0_and_the_identity(slot: int) -> None:
    torch.manual_seed(2)
    cell = MVRNN(input_size=3, hidden_size=2).double()
    torch.nn.init.normal_(cell.b)
    a, matrix = torch.randn(2, dtype=torch.float64), torch.randn(2, 2, dtype=torch.float64)
    children = [
        torch.zeros(1, 2, 2, dtype=torch.float64),
        torch.zeros(1, 2, 4, dtype=torch.float64),
    ]
    children[0][0, slot], children[1][0, slot] = a, matrix.flatten()
    kind = torch.tensor([[1, 0]] if slot == 0 else [[0, 1]])
    p, composed = cell.compose(a.new_zeros(1, 0), children, Links(kind[0, :0], kind))
    w, w_m = cell.w.T, cell.w_m.T
    eye, none = torch.eye(2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
    left, right = ((a, matrix), (none, eye)) if slot == 0 else ((none, eye), (a, matrix))
    expected = torch.tanh(w @ torch.cat([right[1] @ left[0], left[1] @ right[0]]) + cell.b)
    torch.testing.assert_close(p[0], expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(
        composed[0].view(2, 2), w_m @ torch.cat([left[1], right[1]]), rtol=0, atol=1e-12
    )
