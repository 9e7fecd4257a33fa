"""Adam by rows: against torch's Adam where every row is read, and written out where few are."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import Adam, SparseAdam

from thinstack.training.loop.row_adam import RowAdam

RATE = 0.01


def table(rows: int = 5) -> nn.Parameter:
    torch.manual_seed(0)
    return nn.Parameter(torch.randn(rows, 3))


def sparse(rows: list[int], values: Tensor, size: tuple[int, int] = (5, 3)) -> Tensor:
    return torch.sparse_coo_tensor(torch.tensor([rows]), values, size, check_invariants=True)


def test_it_is_adam_where_every_row_has_a_gradient() -> None:
    ours, theirs = table(), table()
    one, other = RowAdam([ours], RATE), Adam([theirs], RATE)
    for step in range(20):
        dense = torch.randn(5, 3, generator=torch.Generator().manual_seed(step))
        ours.grad, theirs.grad = sparse([4, 2, 0, 1, 3], dense[[4, 2, 0, 1, 3]]), dense
        one.step()
        other.step()
        torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-5)


def by_hand(
    before: NDArray[np.float64], steps: list[dict[int, NDArray[np.float64]]]
) -> NDArray[np.float64]:
    """Algorithm 1 of Kingma & Ba for each row that has a gradient, in float64. t counts all
    steps."""
    found = before.copy()
    mean, square = np.zeros_like(found), np.zeros_like(found)
    for t, gradients in enumerate(steps, 1):
        for row, gradient in gradients.items():
            mean[row] = 0.9 * mean[row] + 0.1 * gradient
            square[row] = 0.999 * square[row] + 0.001 * gradient**2
            divisor = np.sqrt(square[row] / (1 - 0.999**t)) + 1e-8
            found[row] -= RATE * mean[row] / (1 - 0.9**t) / divisor
    return found


def test_only_rows_with_a_gradient_move_and_all_steps_count() -> None:
    weight = table()
    before = weight.detach().double().numpy()
    optimizer, steps = RowAdam([weight], RATE), []
    for rows in ([1, 4, 1], [4], [0, 4], [1], [1, 0]):
        values = torch.randn(len(rows), 3)
        weight.grad = sparse(rows, values)
        gradients: dict[int, NDArray[np.float64]] = {}
        for row, value in zip(rows, values.double().numpy(), strict=True):
            gradients[row] = gradients.get(row, 0) + value
        steps.append(gradients)
        optimizer.step()
    after = weight.detach().numpy()
    np.testing.assert_allclose(after, by_hand(before, steps), atol=1e-6)
    assert np.array_equal(after[[2, 3]], before[[2, 3]].astype(np.float32))


def test_it_is_torch_s_sparse_adam() -> None:
    ours, theirs = table(), table()
    one, other = RowAdam([ours], RATE), SparseAdam([theirs], RATE)
    for rows in ([1, 4, 1], [0], [4, 2], [2]):
        gradient = sparse(rows, torch.randn(len(rows), 3))
        ours.grad, theirs.grad = gradient, gradient.clone()
        one.step()
        other.step()
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("dense", [False, True])
def test_dense_gradients_are_taken_and_no_gradient_is_no_step(dense: bool) -> None:
    weight = table()
    optimizer = RowAdam([weight], RATE)
    optimizer.step()
    gradient = sparse([3, 1], torch.tensor([[1.0, 0, 0], [0, 2, 0]]))
    weight.grad = gradient.to_dense() if dense else gradient
    before = weight.detach().clone()
    optimizer.step()
    moved = (weight.detach() - before).abs()
    # The first step of Adam is the learning rate, whatever the gradient.
    expected = torch.zeros(5, 3)
    expected[3, 0] = expected[1, 1] = RATE
    torch.testing.assert_close(moved, expected, atol=1e-6, rtol=0)
    after = weight.detach().clone()
    gradient = sparse([1], torch.ones(1, 3))
    weight.grad = gradient.to_dense() if dense else gradient
    optimizer.step()
    still = (weight.detach() == after).all(1)
    assert still.tolist() == [True, False, True, True, True]  # row 3 has a mean, and rests


def test_a_closure_tells_the_loss() -> None:
    weight = table()

    def loss() -> Tensor:
        value: Tensor = (weight**2).sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value.detach()

    before = float((weight.detach() ** 2).sum())
    assert float(RowAdam([weight], RATE).step(loss)) == pytest.approx(before)
    assert float((weight.detach() ** 2).sum()) < before
