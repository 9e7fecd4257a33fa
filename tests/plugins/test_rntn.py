"""The recursive neural tensor network against its equation (Socher et al. 2013), in NumPy."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from thinstack.core.cell import Links
from thinstack.errors import ConfigError
from thinstack.plugins.cells.rntn import RNTN
from thinstack.plugins.manager import manager

X, H, ROWS = 3, 4, 5
NONE = torch.zeros(0, dtype=torch.long)


def random_cell(input_size: int = X, **options: Any) -> RNTN:
    """In float64, with biases that are not zero."""
    torch.manual_seed(3)
    cell = RNTN(input_size=input_size, hidden_size=H, **options).double()
    for part in cell.parameters():
        nn.init.normal_(part, std=0.3)
    return cell


def composed(cell: RNTN, h: Tensor) -> np.ndarray:
    (state,) = cell.compose(
        torch.zeros(h.shape[0], 0),
        [h.clone()],
        Links(NONE, torch.ones(h.shape[:2], dtype=torch.long)),
    )
    return state.detach().numpy()


@pytest.mark.parametrize(("input_size", "options"), [(X, {}), (H, {"leaf": "word"})])
def test_the_equation_at_inner_nodes(input_size: int, options: dict[str, Any]) -> None:
    cell = random_cell(input_size, **options)
    h = torch.randn(ROWS, 2, H).double()
    found = composed(cell, h)
    v, w, b = (part.detach().numpy() for part in (cell.v, cell.w, cell.b))
    for row in range(ROWS):
        pair = np.concatenate(list(h[row].numpy()))  # [a; b]
        for k in range(H):
            expected = np.tanh(pair @ v[:, k] @ pair + pair @ w[:, k] + b[k])
            np.testing.assert_allclose(found[row, k], expected, rtol=0, atol=1e-10)


def test_projected_leaves() -> None:
    cell = random_cell()
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
    ("input_size", "options", "of_leaves"),
    [(X, {}, X * H + H), (H, {}, H * H + H), (H, {"leaf": "word"}, 0)],
)
def test_number_of_parameters(input_size: int, options: dict[str, Any], of_leaves: int) -> None:
    """H slices of 2H x 2H, W and w."""
    count = sum(part.numel() for part in random_cell(input_size, **options).parameters())
    assert count == H * (2 * H) ** 2 + 2 * H * H + H + of_leaves


def test_fresh_weights() -> None:
    """Within the fan in, and V's products of two entries within that of their number."""
    torch.manual_seed(1)
    cell = RNTN(input_size=25, hidden_size=50)
    assert cell.w_x is not None
    assert cell.b_x is not None
    assert 0.009 < cell.v.detach().abs().max() <= 0.01
    assert 0.09 < cell.w.detach().abs().max() <= 0.1
    assert 0.18 < cell.w_x.detach().abs().max() <= 0.2
    assert not cell.b.any()
    assert not cell.b_x.any()


@pytest.mark.parametrize("leaf", ["projected", "word"])
def test_rows_of_none(leaf: str) -> None:
    cell = random_cell(H, leaf=leaf)
    assert cell.leaf(torch.zeros(0, H).double())[0].shape == (0, H)
    assert composed(cell, torch.zeros(0, 2, H).double()).shape == (0, H)


def test_it_is_registered() -> None:
    cell = (
        manager()
        .cell("rntn.v1")
        .create({"leaf": "word"}, input_size=H, hidden_size=H, inner_size=H)
    )
    assert isinstance(cell, RNTN)
    assert (cell.arity, cell.kinds, cell.state_sizes, cell.inner_size, cell.w_x) == (
        2,
        0,
        [H],
        0,
        None,
    )


def test_words_of_another_width_are_refused() -> None:
    with pytest.raises(ConfigError, match="hidden_size = 4 wide, found input_size = 3"):
        manager().cell("rntn.v1").create({"leaf": "word"}, input_size=X, hidden_size=H)


@pytest.mark.parametrize("options", [{"leaf": "linear"}, {"rank": 2}])
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"rntn\.v1.*{next(iter(options))}"):
        manager().cell("rntn.v1").create(options, input_size=X, hidden_size=H)
