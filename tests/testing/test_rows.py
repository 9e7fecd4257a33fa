"""Rows are varied where they are said to be, and nowhere else."""

import pytest
import torch
from bad_cells import Good

from thinstack.testing.rows import METHODS, Rows, rows_of

N, ROW = 5, 2


def two(arity: int) -> tuple[Good, Rows, Rows]:
    cell = Good(input_size=3, hidden_size=4, inner_size=3, arity=arity).double()
    return cell, rows_of(cell, N, kinds=3, seed=0), rows_of(cell, N, kinds=3, seed=1)


@pytest.mark.parametrize("arity", [0, 1, 3])
def test_shapes(arity: int) -> None:
    _, rows, other = two(arity)
    edges = (N, arity) if arity else (len(rows.links.owner),)
    assert rows.links.kind.shape == edges
    assert rows.children[0].shape == (*edges, 4)
    assert torch.equal(rows.links.owner, other.links.owner)
    assert set(rows.nodes.tolist()) == set(range(N))
    assert not rows.children[0].requires_grad
    assert rows.links.kind.max() <= 3
    if arity:
        assert (rows.links.kind > 0).any(1).all()
        assert torch.equal(rows.children[0].abs().sum(2) > 0, rows.links.kind > 0)


def test_some_children_are_missing() -> None:
    _, rows, _ = two(2)
    assert (rows.links.kind == 0).tolist() == [
        [False, False],
        [True, False],
        [False, False],
        [False, True],
        [False, False],
    ]


@pytest.mark.parametrize("arity", [0, 1, 3])
@pytest.mark.parametrize("field", ["leaf", "inputs", "children", "state"])
def test_another_row(arity: int, field: str) -> None:
    _, rows, other = two(arity)
    changed = rows.with_row(ROW, other, field)
    for name in ("leaf", "inputs", "children", "state"):
        place = rows.nodes if name == "children" else torch.arange(N)
        ((found,), (mine,), (others,)) = (each.parts(name) for each in (changed, rows, other))
        here = (place == ROW) & torch.tensor(name == field)
        assert torch.equal(found[~here], mine[~here])
        assert torch.equal(found[here], others[here])
    here = (rows.nodes == ROW) & torch.tensor(field == "children")
    assert torch.equal(changed.links.kind[here], other.links.kind[here])
    assert torch.equal(changed.links.kind[~here], rows.links.kind[~here])


@pytest.mark.parametrize("arity", [0, 1, 3])
def test_one_row_and_another_order(arity: int) -> None:
    cell, rows, _ = two(arity)
    for call, _ in METHODS.values():
        (whole,) = call(cell, rows)
        (alone,) = call(cell, rows.only(ROW))
        torch.testing.assert_close(alone, whole[ROW : ROW + 1], rtol=0, atol=1e-14)
    if arity == 0:
        compose, _ = METHODS["compose"]
        torch.testing.assert_close(
            compose(cell, rows.shuffled()), compose(cell, rows), rtol=0, atol=1e-14
        )
        assert not torch.equal(rows.shuffled().links.owner, rows.links.owner)


def test_a_copy_shares_nothing() -> None:
    _, rows, _ = two(0)
    copied = rows.copied()
    for tensor in (copied.leaf, copied.inputs, *copied.children, *copied.links, *copied.state):
        tensor.zero_()
    assert all(
        bool(tensor.any())
        for tensor in (rows.leaf, rows.inputs, *rows.children, *rows.links, *rows.state)
    )
