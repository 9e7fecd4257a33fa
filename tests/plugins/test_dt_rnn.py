"""The dependency-tree network against its equation (Socher et al. 2014), in NumPy."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from thinstack.core.cell import Links
from thinstack.errors import ConfigError
from thinstack.plugins.cells.dt_rnn import DTRNN
from thinstack.plugins.manager import manager

X, H, ROWS = 3, 4, 3
OWNER = torch.tensor([2, 0, 2, 2, 1, 0])
NONE = torch.zeros(0, dtype=torch.long)


def random_cell(inner_size: int = 0) -> DTRNN:
    """In float64, with biases that are not zero."""
    torch.manual_seed(3)
    cell = DTRNN(input_size=X, hidden_size=H, inner_size=inner_size).double()
    for part in cell.parameters():
        nn.init.normal_(part)
    return cell


def composed(cell: DTRNN, x: Tensor, h: Tensor, owner: Tensor) -> np.ndarray:
    (state,) = cell.compose(x, [h.clone()], Links(owner, torch.ones_like(owner)))
    return state.detach().numpy()


def node(cell: DTRNN, x: np.ndarray | None, h: list[np.ndarray]) -> np.ndarray:
    w, u, b = (part.detach().numpy() for part in (cell.w, cell.u, cell.b))
    return np.tanh((0 if x is None else x @ w) + b + sum(h_k @ u for h_k in h))


@pytest.mark.parametrize("inner_size", [0, X])
def test_the_equation_at_inner_nodes(inner_size: int) -> None:
    cell = random_cell(inner_size)
    x, h = torch.randn(ROWS, inner_size).double(), torch.randn(len(OWNER), H).double()
    found = composed(cell, x, h, OWNER)
    for row in range(ROWS):
        expected = node(
            cell, x[row].numpy() if inner_size else None, list(h[OWNER.eq(row)].numpy())
        )
        np.testing.assert_allclose(found[row], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("inner_size", [0, X])
def test_the_equation_at_leaves(inner_size: int) -> None:
    cell = random_cell(inner_size)
    x = torch.randn(ROWS, X).double()
    (found,) = cell.leaf(x)
    for row in range(ROWS):
        np.testing.assert_allclose(
            found[row].detach(), node(cell, x[row].numpy(), []), rtol=0, atol=1e-10
        )


@pytest.mark.parametrize("inner_size", [0, X])
def test_number_of_parameters(inner_size: int) -> None:
    cell = DTRNN(input_size=X, hidden_size=H, inner_size=inner_size)
    assert sum(part.numel() for part in cell.parameters()) == X * H + H * H + H


def test_fresh_weights_lie_within_the_fan_in() -> None:
    torch.manual_seed(1)
    cell = DTRNN(input_size=100, hidden_size=25)
    assert 0.09 < cell.w.detach().abs().max() <= 0.1
    assert 0.18 < cell.u.detach().abs().max() <= 0.2
    assert not cell.b.any()


@pytest.mark.parametrize("inner_size", [0, X])
@pytest.mark.parametrize("rows", [0, 2])
def test_rows_of_none(rows: int, inner_size: int) -> None:
    cell = random_cell(inner_size)
    assert cell.leaf(torch.zeros(rows, X).double())[0].shape == (rows, H)
    assert composed(
        cell, torch.zeros(rows, inner_size).double(), torch.zeros(0, H).double(), NONE
    ).shape == (rows, H)


def test_it_is_registered() -> None:
    cell = (
        manager().cell("dt_rnn.v1").create({}, input_size=X, hidden_size=H, inner_size=X, kinds=3)
    )
    assert isinstance(cell, DTRNN)
    assert (cell.arity, cell.kinds, cell.state_sizes, cell.inner_size) == (0, 0, [H], X)


def test_an_inner_input_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="inner_size must be 0 or input_size = 3, got 2"):
        DTRNN(input_size=X, hidden_size=H, inner_size=2)


def test_it_has_no_options() -> None:
    with pytest.raises(ConfigError, match=r"dt_rnn\.v1.*kinds"):
        manager().cell("dt_rnn.v1").create({"kinds": 2}, input_size=X, hidden_size=H)
