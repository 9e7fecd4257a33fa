"""The detours against the plain operations in float64, and where they must not be taken."""

import numpy as np
import pytest
import torch

from thinstack.core import fast
from thinstack.core.fast import affine, one_weight_gradient
from thinstack.core.lstm_gates import lstm_gates, lstm_of_product

ROWS = [0, 1, 7, 400]


@pytest.fixture(autouse=True)
def _of_any_size(monkeypatch):
    """Take the detour for small products too, as tests have them, on any CPU."""
    linear = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
    monkeypatch.setattr(fast, "_LINEAR", linear)
    monkeypatch.setattr(fast, "_SMALL_PRODUCT", 0)
    monkeypatch.setattr(fast, "_LEAST_ROWS", 2)


def arguments(rows):
    """Bias, rows, and a weight that is a slice of a wider one."""
    random = torch.Generator().manual_seed(rows)
    bias, values, wide = (
        torch.randn(*shape, generator=random) for shape in ([30], [rows, 16], [16, 40])
    )
    return bias, values, wide[:, :30]


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("rows", ROWS)
def test_affine(rows, grad):
    bias, values, weight = arguments(rows)
    expected = bias.double() + values.double() @ weight.double()
    with torch.set_grad_enabled(grad):
        found = affine(bias, values, weight).double()
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("rows", ROWS)
def test_the_gradient_of_affine(rows):
    inputs = [part.requires_grad_() for part in arguments(rows)]
    exact = [part.detach().double().requires_grad_() for part in inputs]
    grad = torch.randn(rows, 30, generator=torch.Generator().manual_seed(1))
    found = torch.autograd.grad(affine(*inputs), inputs, grad)
    expected = torch.autograd.grad(exact[0] + exact[1] @ exact[2], exact, grad.double())
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=0, atol=1e-4)


@pytest.mark.parametrize("needed", [0, 1, 2])
def test_a_gradient_of_one_argument_alone(needed):
    inputs = list(arguments(5))
    inputs[needed].requires_grad_()
    (found,) = torch.autograd.grad(affine(*inputs).sum(), inputs[needed])
    ones = torch.ones(5, 30)
    expected = [ones.sum(0), ones @ inputs[2].t(), inputs[1].t() @ ones][needed]
    torch.testing.assert_close(found, expected.detach(), rtol=0, atol=1e-5)


def called(monkeypatch):
    """The rows of every call of oneDNN from here on."""
    if fast._LINEAR is None:
        pytest.skip("this build of torch has no oneDNN")
    calls = []
    product = fast.product
    monkeypatch.setattr(
        fast, "product", lambda rows, *rest: (calls.append(rows), product(rows, *rest))[1]
    )
    return calls


def test_float64_autocast_and_a_user_who_says_no_take_no_detour(monkeypatch):
    calls = called(monkeypatch)
    affine(*arguments(400))
    assert len(calls) == 1
    affine(*(part.double() for part in arguments(400)))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert affine(*arguments(400)).dtype == torch.bfloat16
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)
    affine(*arguments(400))
    assert len(calls) == 1


N_CHILDREN = [0, 1, 2, 3]
WIDTH = 3


def gates_and_cells(rows, children):
    random = torch.Generator().manual_seed(children + 10 * rows)
    gates = torch.randn(rows, (3 + children) * WIDTH, generator=random, dtype=torch.float64)
    return gates, torch.randn(rows, children, WIDTH, generator=random, dtype=torch.float64)


def written_out(gates, cells):
    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    blocks = np.split(gates, gates.shape[1] // WIDTH, axis=1)
    cell = sigmoid(blocks[0]) * np.tanh(blocks[-1])
    for k in range(cells.shape[1]):
        cell = cell + sigmoid(blocks[1 + k]) * cells[:, k]
    return sigmoid(blocks[-2]) * np.tanh(cell), cell


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 5])
@pytest.mark.parametrize("children", N_CHILDREN)
def test_the_equations_of_gates(children, rows, grad, plain, monkeypatch):
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", not plain)
    gates, cells = gates_and_cells(rows, children)
    hidden, cell = written_out(gates.numpy(), cells.numpy())
    with torch.set_grad_enabled(grad):
        found = lstm_gates(gates.clone().requires_grad_().clone(), cells.clone())
    np.testing.assert_allclose(found[0].detach(), hidden, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found[1].detach(), cell, rtol=0, atol=1e-14)


@pytest.mark.parametrize("outputs", [slice(0, 2), slice(0, 1), slice(1, 2)])
@pytest.mark.parametrize("rows", [0, 3])
@pytest.mark.parametrize("children", N_CHILDREN)
def test_the_gradient_of_gates(children, rows, outputs):
    gates, cells = gates_and_cells(rows, children)
    inputs = (gates.requires_grad_(), cells.requires_grad_())
    assert torch.autograd.gradcheck(lambda g, c: lstm_gates(g.clone(), c)[outputs], inputs)


@pytest.mark.parametrize("children", N_CHILDREN)
def test_the_product_and_its_gates_in_one(children):
    """Twice with one weight, in one block: the state and the gradients are those of the parts."""
    random = torch.Generator().manual_seed(children)
    inputs = [
        torch.randn(*shape, generator=random, dtype=torch.float64, requires_grad=True)
        for shape in ([4 * WIDTH], [5, 7], [7, (3 + children) * WIDTH], [5, children, WIDTH])
    ]
    bias, rows, weight, cells = inputs
    i, f, others = bias.split([WIDTH, WIDTH, 2 * WIDTH])
    repeated = torch.cat([i, f.repeat(children), others])
    expected = [lstm_gates(repeated + k * rows @ weight, cells) for k in (1, 2)]
    with one_weight_gradient():
        found = [lstm_of_product(bias, k * rows, weight, cells) for k in (1, 2)]
    grads = []
    for pairs in (found, expected):
        loss = sum(
            (1 + k) * hidden.sin().sum() + cell.sum() for k, (hidden, cell) in enumerate(pairs)
        )
        grads.append(torch.autograd.grad(loss, inputs))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-14)
    torch.testing.assert_close(*grads, rtol=0, atol=1e-12)
