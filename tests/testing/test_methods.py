"""Rows are varied where they are said to be, and nowhere else."""

import pytest
import torch
from bad_cells import Good

from thinstack.testing.methods import OWNER, Method, methods_of_cell

N, ROW = 5, 2


def two(arity: int) -> tuple[dict[str, Method], dict[str, Method]]:
    cell = Good(input_size=3, hidden_size=4, inner_size=3, arity=arity).double()
    mine, others = (methods_of_cell(cell, N, kinds=3, seed=seed) for seed in (0, 1))
    return mine, others


@pytest.mark.parametrize("arity", [0, 1, 3])
def test_shapes(arity):
    mine, others = two(arity)
    compose = mine["compose"].values
    (children,), (owner,), (kind,) = (compose[name] for name in ("children", OWNER, "links.kind"))
    edges = (N, arity) if arity else (len(owner),)
    assert kind.shape == edges
    assert children.shape == (*edges, 4)
    assert torch.equal(owner, others["compose"].values[OWNER][0])
    assert set(mine["compose"].place("children").tolist()) == set(range(N))
    assert not children.requires_grad
    assert kind.max() <= 3
    if arity:
        assert (kind > 0).any(1).all()
        assert torch.equal(children.abs().sum(2) > 0, kind > 0)
    assert [mine[name].shapes(2) for name in ("leaf", "compose", "output")] == [[(2, 4)]] * 3


def test_some_children_are_missing():
    """Of odd rows, by turns one child and all but one."""
    missing = (two(3)[0]["compose"].values["links.kind"][0] == 0).sum(1)
    assert missing.tolist() == [0, 1, 0, 2, 0]


def test_some_rows_in_another_order():
    rows = torch.tensor([4, 0, 2])
    for arity in (0, 1, 3):
        for method in two(arity)[0].values():
            (whole,), (found,) = method(), method(method.taken(rows))
            torch.testing.assert_close(found, whole[rows], rtol=0, atol=1e-14)


def test_a_node_of_a_large_batch_has_many_children():
    cell = Good(input_size=3, hidden_size=4, arity=0).double()
    for n, most in ((99, 4), (100, 600)):
        (owner,) = methods_of_cell(cell, n, kinds=1)["compose"].values[OWNER]
        counts = torch.bincount(owner, minlength=n)
        assert (counts.min(), counts.max(), (counts > 4).sum()) == (1, most, most > 4)


@pytest.mark.parametrize("arity", [0, 1, 3])
@pytest.mark.parametrize("method", ["leaf", "compose", "output"])
def test_another_row(arity, method):
    mine, others = (each[method] for each in two(arity))
    for argument in mine.values.keys() - {OWNER}:
        for name, (found,) in mine.replaced(ROW, others.values, argument).items():
            here = (mine.place(name) == ROW) & torch.tensor(name == argument)
            assert torch.equal(found[~here], mine.values[name][0][~here])
            assert torch.equal(found[here], others.values[name][0][here])


@pytest.mark.parametrize("arity", [0, 1, 3])
def test_one_row_and_no_row(arity):
    for method in two(arity)[0].values():
        (whole,), (alone,) = method(), method(method.only(ROW))
        torch.testing.assert_close(alone, whole[ROW : ROW + 1], rtol=0, atol=1e-14)
        assert method(method.only(None))[0].shape == (0, 4)


def test_a_call_leaves_the_values():
    method = two(0)[0]["compose"]
    before = {name: [part.clone() for part in of] for name, of in method.values.items()}

    def zeroes(values):
        return [part.zero_() for parts in values.values() for part in parts]

    method._replace(run=zeroes)()
    for name, parts in before.items():
        assert all(map(torch.equal, method.values[name], parts))
