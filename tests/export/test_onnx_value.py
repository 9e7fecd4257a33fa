"""Values of a graph against what torch gives for the very same expression."""

import numpy as np
import onnx
import pytest
import torch
from export_models import runtimes

from thinstack.core.schedule import sums_before
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value

FLOAT, INT64, BOOL = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL

WHOLE = {
    "arithmetic": lambda x, i: (3 - x * 2 + i - 1) * x,
    "division": lambda x, i: x // 2,
    "comparisons": lambda x, i: torch.stack(
        [(x < i).long(), (x > 2).long(), (x <= i).long(), (x >= 2).long(), x.eq(2).long()], 1
    ),
    "logic": lambda x, i: ((x < 2) & ~(i < 2) | (x > 3)).long(),
    "rows": lambda x, i: x[1:],
    "all but the last row": lambda x, i: x[:-1],
    "rows from a size on": lambda x, i: torch.cat([x, i])[x.size(0) :],
    "index_select": lambda x, i: x.index_select(0, i),
    "take": lambda x, i: x.take(torch.stack([i, 5 - i], 1)),
    "masked_select": lambda x, i: x.masked_select(x > 1),
    "nothing selected": lambda x, i: x.masked_select(x < 0),
    "index_copy": lambda x, i: torch.zeros_like(x).index_copy(0, i, x),
    "index_add": lambda x, i: x.new_zeros([x.size(0) * 2]).index_add(0, x, i + 1),
    "scatter_add": lambda x, i: x.view(3, 2).scatter_add(0, i.view(3, 2) // 2, x.view(3, 2)),
    "index_fill": lambda x, i: x.index_fill(0, i[:2], -1),
    "cumsum": lambda x, i: torch.cumsum(x, 0),
    "cumsum of columns": lambda x, i: x.view([x.size(0) // 2, 2]).cumsum(0),
    "sums before": lambda x, i: sums_before(x) + sums_before(x.view(-1, 2)).flatten(),
    "argsort": lambda x, i: torch.argsort(x, stable=True),
    "argsort from the greatest": lambda x, i: torch.argsort(x, descending=True, stable=True),
    "sum": lambda x, i: x.sum(),
    "arange": lambda x, i: torch.arange(1, x.size(0) + 1, device=x.device),
    "full_like": lambda x, i: torch.full_like(x, 7) + torch.ones_like(x),
    "where": lambda x, i: torch.where(x < i, x, i + 10),
    "select": lambda x, i: x.view(-1, 2).select(1, 1),
    "narrow": lambda x, i: x.view(2, 3).narrow(1, 1, 2).transpose(0, 1).flatten(),
    "unsqueeze": lambda x, i: (x.unsqueeze(1) + i).unsqueeze(0).squeeze(0),
    "no columns": lambda x, i: x.new_zeros([x.size(0), 0]).view([x.size(0) * 2, 0]),
    "minimum and maximum": lambda x, i: x.minimum(i).maximum(torch.ones_like(x)),
}
REAL = {
    "gates": lambda x, w: torch.sigmoid(x) * torch.tanh(x - 0.5) / (x + 9.5),
    "addmm": lambda x, w: w.addmm(x, w),
    "side by side": lambda x, w: torch.cat([x, w], 1),
    "float": lambda x, w: (x > 0.0).long().float() + w,
}


def run(g, output, dtype, rank, **inputs):
    g.output(output, "found", dtype, [f"size_{k}" for k in range(rank)])
    return [run(None, inputs)[0] for run in runtimes(g.model({}))]


def check(expression, dtype, **inputs):
    expected, g = expression(*inputs.values()), Graph("g")
    values = [
        g.input(name, dtype, [f"{name}_{k}" for k in range(x.dim())]) for name, x in inputs.items()
    ]
    arrays = {name: x.numpy() for name, x in inputs.items()}
    for found in run(g, expression(*values), dtype, expected.dim(), **arrays):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected.numpy(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers(name):
    check(
        WHOLE[name], INT64, x=torch.tensor([3, 0, 2, 5, 2, 0]), i=torch.tensor([4, 0, 5, 1, 3, 2])
    )


@pytest.mark.parametrize("name", REAL)
def test_real_numbers(name):
    torch.manual_seed(0)
    check(REAL[name], FLOAT, x=torch.randn(3, 3), w=torch.randn(3, 3))


def test_a_node_is_made_once_and_in_the_innermost_graph():
    g = Graph("g")
    x = g.input("x", INT64, ["n"])
    body = g.body("body")
    state = body.input("state", INT64, ["n"])
    outer, inner = x + 1, state + x
    assert ((x + 1).name, outer.graph) == (outer.name, g)
    assert ((state + x).name, inner.graph) == (inner.name, body)
    assert (x + 2).graph is g  # asked for in the body or not: it reads nothing of it
    body.output(inner + outer, "state_next", INT64, ["n"])
    (found,) = g.loop(body, 3, [x])
    expected = 1 + np.array([5, 7])
    for got in run(g, found, INT64, 1, x=np.array([5, 7])):
        np.testing.assert_array_equal(got, 4 * np.array([5, 7]) + 3 * expected)


def test_the_size_of_what_is_known_to_be_as_long_is_asked_once():
    g = Graph("g")
    x = g.input("x", INT64, ["n"])
    place = Value.arange(x.size(0))
    same = (2 * x.size(0) - place).index_select(0, torch.cumsum(place % 2, 0))
    known = torch.where(same > 0, same, 0)  # of no known shape
    every = [place, same, torch.zeros_like(same).scatter_add(0, place, x), known]
    sizes = [value.size(0) for value in every]
    assert [size.name == x.size(0).name for size in sizes] == [True, True, True, False]
    chosen = x.masked_select(x > 1)
    assert torch.ones_like(chosen).size(0).name == chosen.size(0).name != x.size(0).name
    assert (x.unsqueeze(1) + x).size(0).name != x.size(0).name
    for found in run(g, Value.cat([*sizes, chosen.size(0)]), INT64, 1, x=np.array([3, 1, 0])):
        assert found.tolist() == [3, 3, 3, 3, 1]


def test_a_loop_ends_when_there_is_nothing_to_go_on_for():
    g = Graph("g")
    x = g.input("x", INT64, [])
    body = g.body("body")
    state = body.input("state", INT64, [])
    half = state // 2
    body.output(half, "half", INT64, [])
    body.output(body.step + 0, "step_number", INT64, [])
    _, steps = g.loop(body, 63, [x], going=half > 1)
    for found in run(g, steps, INT64, 1, x=np.array(9)):
        assert found.ravel().tolist() == [0, 1, 2]
