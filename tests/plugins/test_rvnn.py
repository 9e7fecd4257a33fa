"""The recursive network against its equation (Socher et al. 2011; Irsoy & Cardie 2014), in
NumPy."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from thinstack.core.cell import Links
from thinstack.errors import ConfigError
from thinstack.plugins.cells.rvnn import RvNN
from thinstack.plugins.manager import manager

X, H, ROWS = 3, 4, 5
NONE = torch.zeros(0, dtype=torch.long)


def random_cell(input_size: int = X, **options: Any) -> RvNN:
    """In float64, with biases that are not zero."""
    torch.manual_seed(3)
    cell = RvNN(input_size=input_size, hidden_size=H, **options).double()
    for part in cell.parameters():
        nn.init.normal_(part)
    return cell


def composed(cell: RvNN, x: Tensor, h: Tensor) -> np.ndarray:
    (state,) = cell.compose(x, [h.clone()], Links(NONE, torch.ones(h.shape[:2], dtype=torch.long)))
    return state.detach().numpy()


@pytest.mark.parametrize(
    ("input_size", "options"),
    [
        (X, {}),
        (X, {"inner_size": X}),
        (H, {"leaf": "word"}),
        (H, {"leaf": "word", "inner_size": H}),
    ],
)
def test_the_equation_at_inner_nodes(input_size: int, options: dict[str, Any]) -> None:
    cell = random_cell(input_size, **options)
    x, h = torch.randn(ROWS, cell.inner_size).double(), torch.randn(ROWS, 2, H).double()
    found = composed(cell, x, h)
    w_left, w_right, v = np.split(cell.w.detach().numpy(), [H, 2 * H])
    for row in range(ROWS):
        a, b = h[row].numpy()
        before = a @ w_left + b @ w_right + x[row].numpy() @ v + cell.b.detach().numpy()
        np.testing.assert_allclose(found[row], np.tanh(before), rtol=0, atol=1e-10)


@pytest.mark.parametrize("inner_size", [0, X])
def test_projected_leaves(inner_size: int) -> None:
    cell = random_cell(inner_size=inner_size)
    assert cell.w_x is not None
    assert cell.b_x is not None
    x = torch.randn(ROWS, X).double()
    (found,) = cell.leaf(x)
    expected = np.tanh(x.numpy() @ cell.w_x.detach().numpy() + cell.b_x.detach().numpy())
    np.testing.assert_allclose(found.detach(), expected, rtol=0, atol=1e-10)


def test_words_as_leaves() -> None:
    x = torch.randn(ROWS, H).double()
    (found,) = random_cell(H, leaf="word").leaf(x)
    assert torch.equal(found, x)


@pytest.mark.parametrize(
    ("input_size", "options", "expected"),
    [
        (X, {}, 2 * H * H + H + X * H + H),
        (X, {"inner_size": X}, (2 * H + X) * H + H + X * H + H),
        (H, {"leaf": "word"}, 2 * H * H + H),
        (H, {"leaf": "word", "inner_size": H}, 3 * H * H + H),
    ],
)
def test_number_of_parameters(input_size: int, options: dict[str, Any], expected: int) -> None:
    assert sum(part.numel() for part in random_cell(input_size, **options).parameters()) == expected


def test_fresh_weights_lie_within_the_fan_in() -> None:
    torch.manual_seed(1)
    cell = RvNN(input_size=25, hidden_size=50)
    assert cell.w_x is not None
    assert cell.b_x is not None
    assert 0.09 < cell.w.detach().abs().max() <= 0.1
    assert 0.18 < cell.w_x.detach().abs().max() <= 0.2
    assert not cell.b.any()
    assert not cell.b_x.any()


@pytest.mark.parametrize("options", [{}, {"inner_size": H}, {"leaf": "word"}])
def test_rows_of_none(options: dict[str, Any]) -> None:
    cell = random_cell(H, **options)
    assert cell.leaf(torch.zeros(0, H).double())[0].shape == (0, H)
    assert composed(
        cell, torch.zeros(0, cell.inner_size).double(), torch.zeros(0, 2, H).double()
    ).shape == (0, H)


def test_it_is_registered() -> None:
    cell = (
        manager()
        .cell("rvnn.v1")
        .create({"leaf": "word"}, input_size=H, hidden_size=H, inner_size=H)
    )
    assert isinstance(cell, RvNN)
    assert (cell.arity, cell.kinds, cell.state_sizes, cell.inner_size, cell.w_x) == (
        2,
        0,
        [H],
        H,
        None,
    )
    assert manager().cell("rvnn.v1").create({}, input_size=X, hidden_size=H).inner_size == 0


def test_words_of_another_width_are_refused() -> None:
    with pytest.raises(ConfigError, match="hidden_size = 4 wide, found input_size = 3"):
        manager().cell("rvnn.v1").create({"leaf": "word"}, input_size=X, hidden_size=H)


def test_an_inner_input_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="inner_size must be 0 or input_size = 3, got 2"):
        RvNN(input_size=X, hidden_size=H, inner_size=2)


@pytest.mark.parametrize("options", [{"leaf": "linear"}, {"arity": 2}])
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"rvnn\.v1.*{next(iter(options))}"):
        manager().cell("rvnn.v1").create(options, input_size=X, hidden_size=H)
