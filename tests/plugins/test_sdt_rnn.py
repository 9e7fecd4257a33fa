"""The dependency-tree network with a matrix for each relation against its equation (Socher et al.
2014), in NumPy."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from thinstack.core.cell import Links
from thinstack.errors import ConfigError
from thinstack.plugins.cells.sdt_rnn import SDTRNN
from thinstack.plugins.manager import manager

X, H, ROWS, KINDS = 3, 4, 3, 3
OWNER = torch.tensor([2, 0, 2, 2, 1, 0, 2])
KIND = torch.tensor([3, 1, 2, 3, 3, 2, 1])
NONE = torch.zeros(0, dtype=torch.long)


def random_cell(inner_size: int = 0, kinds: int = KINDS) -> SDTRNN:
    """In float64, with biases that are not zero."""
    torch.manual_seed(3)
    cell = SDTRNN(input_size=X, hidden_size=H, inner_size=inner_size, kinds=kinds).double()
    for part in cell.parameters():
        nn.init.normal_(part)
    return cell


def composed(cell: SDTRNN, x: Tensor, h: Tensor, owner: Tensor, kind: Tensor) -> np.ndarray:
    (state,) = cell.compose(x, [h.clone()], Links(owner, kind))
    return state.detach().numpy()


def node(
    cell: SDTRNN, x: np.ndarray | None, h: list[np.ndarray], relations: list[int]
) -> np.ndarray:
    """U_1 is u[0]."""
    w, u, b = (part.detach().numpy() for part in (cell.w, cell.u, cell.b))
    return np.tanh(
        (0 if x is None else x @ w)
        + b
        + sum(h_k @ u[r - 1] for h_k, r in zip(h, relations, strict=True))
    )


@pytest.mark.parametrize("inner_size", [0, X])
@pytest.mark.parametrize("kinds", [1, KINDS, 5])
def test_the_equation_at_inner_nodes(kinds: int, inner_size: int) -> None:
    """Several children of one relation and of several, and relations that do not occur."""
    cell, kind = random_cell(inner_size, kinds), KIND.clamp(max=kinds)
    x, h = torch.randn(ROWS, inner_size).double(), torch.randn(len(OWNER), H).double()
    found = composed(cell, x, h, OWNER, kind)
    for row in range(ROWS):
        of_row = OWNER.eq(row)
        expected = node(
            cell,
            x[row].numpy() if inner_size else None,
            list(h[of_row].numpy()),
            kind[of_row].tolist(),
        )
        np.testing.assert_allclose(found[row], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("inner_size", [0, X])
def test_the_equation_at_leaves(inner_size: int) -> None:
    cell = random_cell(inner_size)
    x = torch.randn(ROWS, X).double()
    (found,) = cell.leaf(x)
    for row in range(ROWS):
        np.testing.assert_allclose(
            found[row].detach(), node(cell, x[row].numpy(), [], []), rtol=0, atol=1e-10
        )


def test_a_child_of_kind_0_counts_as_none() -> None:
    cell, h = random_cell(), torch.randn(len(OWNER), H).double()
    x, some = torch.zeros(ROWS, 0).double(), torch.arange(len(OWNER)) % 2 == 0
    found = composed(cell, x, h, OWNER, KIND * some)
    np.testing.assert_allclose(
        found, composed(cell, x, h[some], OWNER[some], KIND[some]), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("kinds", [1, KINDS])
def test_number_of_parameters(kinds: int) -> None:
    cell = SDTRNN(input_size=X, hidden_size=H, inner_size=X, kinds=kinds)
    assert sum(part.numel() for part in cell.parameters()) == X * H + kinds * H * H + H


def test_fresh_weights_lie_within_the_fan_in() -> None:
    torch.manual_seed(1)
    cell = SDTRNN(input_size=100, hidden_size=25, kinds=KINDS)
    assert 0.09 < cell.w.detach().abs().max() <= 0.1
    assert 0.18 < cell.u.detach().abs().max() <= 0.2
    assert not cell.b.any()


@pytest.mark.parametrize("inner_size", [0, X])
@pytest.mark.parametrize("rows", [0, 2])
def test_rows_of_none(rows: int, inner_size: int) -> None:
    cell = random_cell(inner_size)
    x = torch.zeros(rows, inner_size).double()
    assert cell.leaf(torch.zeros(rows, X).double())[0].shape == (rows, H)
    assert composed(cell, x, torch.zeros(0, H).double(), NONE, NONE).shape == (rows, H)


def test_it_is_registered() -> None:
    cell = (
        manager()
        .cell("sdt_rnn.v1")
        .create({}, input_size=X, hidden_size=H, inner_size=X, kinds=KINDS)
    )
    assert isinstance(cell, SDTRNN)
    assert (cell.arity, cell.kinds, cell.state_sizes, cell.inner_size) == (0, KINDS, [H], X)


def test_an_inner_input_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="inner_size must be 0 or input_size = 3, got 2"):
        SDTRNN(input_size=X, hidden_size=H, inner_size=2)


def test_it_has_no_options() -> None:
    with pytest.raises(ConfigError, match=r"sdt_rnn\.v1.*kinds"):
        manager().cell("sdt_rnn.v1").create({"kinds": 2}, input_size=X, hidden_size=H)
