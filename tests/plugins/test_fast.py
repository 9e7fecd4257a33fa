"""Fast products against the plain operations, and one product for the gradient of a weight."""

from threading import Thread

import pytest
import torch
from test_cells import CONFIGURATIONS, cell_of

from thinstack.core import fast
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.core.fast import affine, one_weight_gradient, shared
from thinstack.testing.forests import batch_of, by_depth, by_recursion, random_forest
from thinstack.testing.method import gradients_of, weighted_sum

ROWS = [0, 1, 7, 400]


@pytest.fixture
def of_any_size(monkeypatch):
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


@pytest.mark.usefixtures("of_any_size")
@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("rows", ROWS)
def test_affine(rows, grad):
    bias, values, weight = arguments(rows)
    expected = bias.double() + values.double() @ weight.double()
    with torch.set_grad_enabled(grad):
        found = affine(bias, values, weight).double()
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


@pytest.mark.usefixtures("of_any_size")
@pytest.mark.parametrize("rows", ROWS)
def test_the_gradient_of_affine(rows):
    inputs = [part.requires_grad_() for part in arguments(rows)]
    exact = [part.detach().double().requires_grad_() for part in inputs]
    grad = torch.randn(rows, 30, generator=torch.Generator().manual_seed(1))
    found = torch.autograd.grad(affine(*inputs), inputs, grad)
    expected = torch.autograd.grad(exact[0] + exact[1] @ exact[2], exact, grad.double())
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=0, atol=1e-4)


@pytest.mark.usefixtures("of_any_size")
@pytest.mark.parametrize("needed", [0, 1, 2])
def test_a_gradient_of_one_argument_alone(needed):
    inputs = list(arguments(5))
    inputs[needed].requires_grad_()
    (found,) = torch.autograd.grad(affine(*inputs).sum(), inputs[needed])
    ones = torch.ones(5, 30)
    expected = [ones.sum(0), ones @ inputs[2].t(), inputs[1].t() @ ones][needed]
    torch.testing.assert_close(found, expected.detach(), rtol=0, atol=1e-5)


@pytest.fixture
def products(monkeypatch):
    """What is multiplied by `product` from here on."""
    calls, product = [], fast.product
    monkeypatch.setattr(fast, "product", lambda *given: calls.append(given) or product(*given))
    return calls


@pytest.mark.skipif(not hasattr(torch.ops.mkldnn, "_linear_pointwise"), reason="no oneDNN")
@pytest.mark.usefixtures("of_any_size")
def test_float64_autocast_and_a_user_who_says_no_take_no_detour(products, monkeypatch):
    affine(*arguments(400))
    assert len(products) == 1
    affine(*(part.double() for part in arguments(400)))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert affine(*arguments(400)).dtype == torch.bfloat16
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)
    affine(*arguments(400))
    assert len(products) == 1


# -- one product for the gradient of a weight


EVERY = [(name, number) for name, asked in CONFIGURATIONS.items() for number in range(len(asked))]


@pytest.mark.parametrize(("name", "number"), EVERY)
def test_gradients_of_every_cell_are_those_of_the_recursion(name, number):
    torch.manual_seed(number)
    asked = CONFIGURATIONS[name][number]
    cell = cell_of(name, **asked).double()
    kinds = max(1, cell.kinds)
    forest = random_forest([25, 1, 9, 4], arity=cell.arity, kinds=kinds, seed=1)
    batch = batch_of(cell, forest)
    given = [batch.leaves.requires_grad_(), batch.inner.requires_grad_(), *cell.parameters()]
    expected = gradients_of(weighted_sum(by_recursion(cell, batch)), given)
    with one_weight_gradient():
        loss = weighted_sum(by_depth(DepthOrdered(cell), cell, batch))
    found = gradients_of(loss, given)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def weights():
    """A bias, rows and a square weight, in float64."""
    random = torch.Generator().manual_seed(1)
    return tuple(
        torch.randn(shape, generator=random, dtype=torch.float64, requires_grad=True)
        for shape in ([4], [5, 4], [4, 4])
    )


def three_times(bias, rows, weight):
    """What comes out of the first two products, and of the third beside them."""
    first = affine(bias, rows, weight[:, :4]).tanh()
    second = affine(bias, first, weight[:, :4]).tanh()
    return second, affine(bias, rows * 2, weight[:, :4]).tanh()


def test_all_uses_of_a_weight_make_one_product(products):
    inputs = weights()
    with one_weight_gradient():
        parts = three_times(*inputs)
    weighted_sum(parts).backward()
    assert len(products) == 7, "three products forward, three for the rows, one for the weight"


def test_a_graph_is_gone_back_in_parts():
    inputs = weights()
    expected = three_times(*inputs)
    with one_weight_gradient():
        found = three_times(*inputs)
        use = shared(inputs[2][:, :4], torch.float64)
    for wanted, loss in ((inputs[:2], 0), (inputs, 1), (inputs[1:2], 1), (inputs, 0), (inputs, 0)):
        plain = torch.autograd.grad(weighted_sum([expected[loss]]), wanted, retain_graph=True)
        one = torch.autograd.grad(weighted_sum([found[loss]]), wanted, retain_graph=True)
        for each, other in zip(one, plain, strict=True):
            torch.testing.assert_close(each, other, rtol=1e-12, atol=1e-12)
        assert len(use.factors) <= 1, "what a pass back left is dropped by the next one"


@pytest.mark.parametrize(("bf16", "tolerance"), [(False, 1e-5), (True, 0.1)])
def test_weights_that_are_made_on_the_way_are_not_taken_for_each_other(bf16, tolerance):
    """A tensor that is freed leaves its memory to the next one."""
    random = torch.Generator().manual_seed(1)
    bias, rows = torch.randn(400, generator=random), torch.randn(2, 400, generator=random)
    weight = torch.randn(400, 400, generator=random, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16), one_weight_gradient():
        found = [affine(bias, rows, weight * k) for k in range(1, 30)]
    expected = [bias + rows @ (weight * k) for k in range(1, 30)]
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.float(), other, rtol=tolerance, atol=tolerance * 50)


def test_under_autocast_the_gradient_is_rounded_once():
    random = torch.Generator().manual_seed(1)
    rows = [torch.randn(7, 8, generator=random) for _ in range(40)]
    weight = torch.randn(8, 6, generator=random, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16), one_weight_gradient():
        parts = [affine(torch.zeros(6), x, weight) for x in rows]
    assert {part.dtype for part in parts} == {torch.bfloat16}
    (found,) = torch.autograd.grad(sum(part.float().sum() for part in parts), weight)
    assert found.dtype == torch.float32
    exact = torch.cat(rows).bfloat16().double().sum(0).unsqueeze(1).expand(8, 6)
    torch.testing.assert_close(
        found.double(), exact, rtol=2**-8, atol=0
    )  # half a place of bfloat16, twice


def test_a_block_is_of_its_thread_and_ends():
    weight = weights()[2]
    inside = []
    with one_weight_gradient():
        thread = Thread(target=lambda: inside.append(shared(weight, weight.dtype)))
        thread.start()
        thread.join()
        first = shared(weight, weight.dtype)
        with one_weight_gradient():
            inner = shared(weight, weight.dtype)
        assert shared(weight, weight.dtype) is first
        assert shared(weight.detach(), weight.dtype) is None
    assert inside == [None]
    assert first is not None
    assert inner is not first
    assert shared(weight, weight.dtype) is None
