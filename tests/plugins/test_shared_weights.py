"""One product for the gradient of a weight: the same gradients, however a graph is gone back."""

from threading import Thread

import pytest
import torch
from test_cells import CONFIGURATIONS, cell_of

from thinstack.core import fast
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.core.fast import affine, one_weight_gradient, shared
from thinstack.testing.forests import batch_of, by_depth, by_recursion, random_forest

EVERY = [(name, number) for name, asked in CONFIGURATIONS.items() for number in range(len(asked))]


def sum_of(parts):
    """A loss that weighs every number apart."""
    return sum(
        (part * torch.linspace(-1, 2, part.numel(), dtype=part.dtype).view_as(part)).sum()
        for part in parts
    )


@pytest.mark.parametrize(("name", "number"), EVERY)
def test_gradients_of_every_cell_are_those_of_the_recursion(name, number):
    torch.manual_seed(number)
    asked = CONFIGURATIONS[name][number]
    cell = cell_of(name, **asked).double()
    kinds = max(1, cell.kinds)
    forest = random_forest([25, 1, 9, 4], arity=cell.arity, kinds=kinds, seed=1)
    batch = batch_of(cell, forest)
    given = [batch.leaves.requires_grad_(), batch.inner.requires_grad_(), *cell.parameters()]
    expected = torch.autograd.grad(sum_of(by_recursion(cell, batch)), given, materialize_grads=True)
    with one_weight_gradient():
        loss = sum_of(by_depth(DepthOrdered(cell), cell, batch))
    found = torch.autograd.grad(loss, given, materialize_grads=True)
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


def test_all_uses_of_a_weight_make_one_product(monkeypatch):
    products, product, inputs = [], fast.product, weights()
    monkeypatch.setattr(fast, "product", lambda *given: products.append(given) or product(*given))
    with one_weight_gradient():
        parts = three_times(*inputs)
    sum_of(list(parts)).backward()
    assert len(products) == 7, "three products forward, three for the rows, one for the weight"


def test_a_graph_is_gone_back_in_parts():
    inputs = weights()
    expected = three_times(*inputs)
    with one_weight_gradient():
        found = three_times(*inputs)
        use = shared(inputs[2][:, :4], torch.float64)
    for wanted, loss in ((inputs[:2], 0), (inputs, 1), (inputs[1:2], 1), (inputs, 0), (inputs, 0)):
        plain = torch.autograd.grad(sum_of([expected[loss]]), wanted, retain_graph=True)
        one = torch.autograd.grad(sum_of([found[loss]]), wanted, retain_graph=True)
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
