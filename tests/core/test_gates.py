"""`lstm_gates` against its equations, and its gradient against differences."""

import numpy as np
import pytest
import torch
from torch import Tensor

from thinstack.core.fast import lstm_gates

N_CHILDREN = [0, 1, 2, 3]
WIDTH = 3


def arguments(rows: int, children: int) -> tuple[Tensor, Tensor]:
    random = torch.Generator().manual_seed(children + 10 * rows)
    gates = torch.randn(rows, (3 + children) * WIDTH, generator=random, dtype=torch.float64)
    return gates, torch.randn(rows, children, WIDTH, generator=random, dtype=torch.float64)


def written_out(gates: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    def sigmoid(x: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-x))

    blocks = np.split(gates, gates.shape[1] // WIDTH, axis=1)
    cell = sigmoid(blocks[0]) * np.tanh(blocks[-1])
    for k in range(cells.shape[1]):
        cell = cell + sigmoid(blocks[2 + k]) * cells[:, k]
    return sigmoid(blocks[1]) * np.tanh(cell), cell


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 5])
@pytest.mark.parametrize("children", N_CHILDREN)
def test_the_equations(children: int, rows: int, grad: bool) -> None:
    gates, cells = arguments(rows, children)
    hidden, cell = written_out(gates.numpy(), cells.numpy())
    with torch.set_grad_enabled(grad):
        found = lstm_gates(gates.clone().requires_grad_().clone(), cells.clone())
    np.testing.assert_allclose(found[0].detach(), hidden, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found[1].detach(), cell, rtol=0, atol=1e-14)


@pytest.mark.parametrize("rows", [0, 3])
@pytest.mark.parametrize("children", N_CHILDREN)
def test_the_gradient(children: int, rows: int) -> None:
    gates, cells = arguments(rows, children)
    inputs = (gates.requires_grad_(), cells.requires_grad_())
    assert torch.autograd.gradcheck(lambda g, c: lstm_gates(g.clone(), c), inputs)


@pytest.mark.parametrize("used", [0, 1])
def test_the_gradient_of_one_output_alone(used: int) -> None:
    gates, cells = arguments(2, 2)
    inputs = (gates.requires_grad_(), cells.requires_grad_())
    assert torch.autograd.gradcheck(lambda g, c: lstm_gates(g.clone(), c)[used], inputs)


@pytest.mark.parametrize("grad", [True, False])
def test_the_cells_of_the_children_are_left_as_they_were(grad: bool) -> None:
    gates, cells = arguments(4, 2)
    before = cells.clone()
    with torch.set_grad_enabled(grad):
        lstm_gates(gates, cells)
    assert torch.equal(cells, before)
