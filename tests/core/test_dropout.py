"""Dropout by bytes against what a draw of independent entries must look like, and where torch's own
is taken."""

import math

import pytest
import torch
from torch import Tensor, nn

from thinstack.core.dropout import Dropout

ROWS, WIDTH = 2000, 83


def dropped(p: float, values: Tensor, *, seed: int = 0) -> Tensor:
    torch.manual_seed(seed)
    found: Tensor = Dropout(p).train()(values)
    return found


@pytest.mark.parametrize("p", [0.1, 0.15, 0.5, 0.9])
def test_every_entry_is_dropped_as_often_as_it_should(p: float) -> None:
    rounded = round(256 * p) / 256
    zeros = dropped(p, torch.ones(ROWS, WIDTH)) == 0
    deviation = math.sqrt(rounded * (1 - rounded))
    assert abs(zeros.double().mean() - rounded) < 4 * deviation / math.sqrt(ROWS * WIDTH)
    by_column = zeros.double().mean(0)  # 83 columns over 8 bytes a draw: each meets every byte
    assert (by_column - rounded).abs().max() < 5 * deviation / math.sqrt(ROWS)
    by_byte = zeros.flatten()[: 8 * (ROWS * WIDTH // 8)].view(-1, 8).double()
    assert (by_byte.mean(0) - rounded).abs().max() < 5 * deviation / math.sqrt(len(by_byte))
    correlations = torch.corrcoef(by_byte.T) - torch.eye(8)
    assert correlations.abs().max() < 5 / math.sqrt(len(by_byte))


@pytest.mark.parametrize("p", [0.15, 0.5])
def test_what_is_kept_keeps_its_mean(p: float) -> None:
    values = torch.randn(50, 7, requires_grad=True)
    found = dropped(p, values)
    kept = found != 0
    scale = 1 / (1 - round(256 * p) / 256)
    torch.testing.assert_close(found, torch.where(kept, values * scale, 0.0))
    (gradient,) = torch.autograd.grad(found.sum(), values)
    torch.testing.assert_close(gradient, kept * scale)


def test_a_seed_says_which() -> None:
    values = torch.ones(30, 5)
    assert torch.equal(dropped(0.5, values, seed=1), dropped(0.5, values, seed=1))
    assert not torch.equal(dropped(0.5, values, seed=1), dropped(0.5, values, seed=2))


def test_evaluation_and_zero_leave_the_values_alone() -> None:
    values = torch.ones(3, 2)
    assert Dropout(0.5).eval()(values) is values
    assert Dropout(0.0).train()(values) is values


@pytest.mark.parametrize(
    ("p", "dtype"), [(0.001, torch.float32), (0.999, torch.float32), (0.5, torch.float64)]
)
def test_torchs_own_is_taken_elsewhere(p: float, dtype: torch.dtype) -> None:
    values = torch.ones(40, 9, dtype=dtype)
    torch.manual_seed(3)
    expected = nn.functional.dropout(values, p, True)
    assert torch.equal(dropped(p, values, seed=3), expected)


def test_nothing_of_nothing() -> None:
    assert dropped(0.5, torch.ones(0, 4)).shape == (0, 4)
    assert dropped(0.5, torch.ones(5)).shape == (5,)


def test_it_is_scripted() -> None:
    with pytest.warns(DeprecationWarning, match="torch.jit"):
        module = torch.jit.script(Dropout(0.5))
    values = torch.ones(100, 10)
    assert 0 < int((module.train()(values) == 0).sum()) < 1000
    assert torch.equal(module.eval()(values), values)


def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    values = torch.ones(20, 20)
    torch.manual_seed(0)
    expected = nn.functional.dropout(values, 0.5, True)
    assert not torch.equal(dropped(0.5, values), expected)
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)
    assert torch.equal(dropped(0.5, values), expected)
