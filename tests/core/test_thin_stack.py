"""The thin stack against lists of rows, whose gradients autograd finds by itself."""

import numpy as np
import pytest
import torch
from oracle import gradients

from thinstack.plugins.encoders.spinn.shift_reduce import read, token_of, write

WIDTH, STARTS, STEPS = 3, 4, 12


def random_reads(random):
    """For each step the rows that it reads: any that are there, early and late ones, some twice."""
    return [random.integers(0, STARTS + 2 * step, 4).tolist() for step in range(STEPS)]


def by_store(start, weight, reads):
    """Each step reads four rows and writes two. Returns what all steps read, and the last step's
    rows."""
    store = torch.full([STARTS + 2 * STEPS, WIDTH], torch.nan, dtype=start.dtype)
    token = write(store, token_of(store), 0, start)
    seen = []
    for step, rows in enumerate(reads):
        taken, token = read(store, token, torch.tensor(rows))
        new = torch.tanh(taken @ weight).view(2, 2, WIDTH).sum(1)
        seen += [taken, new]
        token = write(store, token, STARTS + 2 * step, new)
    return torch.cat(seen)


def by_list(start, weight, reads):
    stack = list(start)
    seen = []
    for rows in reads:
        taken = torch.stack([stack[row] for row in rows])
        new = torch.tanh(taken @ weight).view(2, 2, WIDTH).sum(1)
        seen += [taken, new]
        stack += list(new)
    return torch.cat(seen)


@pytest.fixture
def inputs():
    torch.manual_seed(1)
    sizes = [(STARTS, WIDTH), (WIDTH, WIDTH)]
    return [torch.randn(size, dtype=torch.float64).requires_grad_() for size in sizes]


@pytest.mark.parametrize("seed", range(5))
def test_any_order_of_reads(inputs, seed):
    reads = random_reads(np.random.default_rng(seed))
    expected = by_list(*inputs, reads)
    torch.testing.assert_close(by_store(*inputs, reads), expected, rtol=0, atol=0)
    with torch.no_grad():
        torch.testing.assert_close(by_store(*inputs, reads), expected, rtol=0, atol=0)
    found, expected = (gradients([run(*inputs, reads)], inputs) for run in (by_store, by_list))
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_pass_back_to_some_inputs_only_leaves_nothing_behind(inputs, seed):
    reads = random_reads(np.random.default_rng(seed))
    expected = torch.autograd.grad(by_list(*inputs, reads).square().sum(), inputs)
    loss = by_store(*inputs, reads).square().sum()
    for wanted in ([1], [0], [0, 1], [1]):
        found = torch.autograd.grad(loss, [inputs[i] for i in wanted], retain_graph=True)
        for i, gradient in zip(wanted, found, strict=True):
            torch.testing.assert_close(gradient, expected[i], rtol=1e-12, atol=1e-12)
