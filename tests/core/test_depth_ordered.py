"""The depth-ordered executor against the reference recursion, in float64, over forests of any
shape."""

import pytest
import torch
from core.cells import AnyArity, FixedArity, OwnLeaf, X
from core.random_trees import Edges, forests
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import gradients

from thinstack.core import Forest, Tree
from thinstack.core.cell import Cell
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.testing.forests import CellInputs, batch_of, by_depth, by_recursion

SCRIPT_WARNING = "ignore:`torch.jit.script` is:DeprecationWarning"


@pytest.fixture(scope="module")
def cells() -> dict[int, list[Cell]]:
    """Cells by arity."""
    torch.manual_seed(7)
    fixed = {arity: [FixedArity(arity), OwnLeaf(arity)] for arity in (1, 2, 3)}
    return {0: [AnyArity()], **fixed}


def check(cell: Cell, run, batch: CellInputs, expected: list, tolerance: float) -> None:
    """Outputs of nodes, of roots and head words, with and without gradients, and gradients."""
    inputs = [part.requires_grad_() for part in batch[1:]]
    found = by_depth(run, cell, batch)
    torch.testing.assert_close(found, expected, rtol=0, atol=tolerance)
    with torch.no_grad():
        again = by_depth(run, cell, batch)
    torch.testing.assert_close(again, expected, rtol=0, atol=tolerance)
    if len(batch.forest.parents):
        wanted = [*inputs, *cell.parameters()]
        of_expected = gradients(expected, wanted)
        torch.testing.assert_close(gradients(found, wanted), of_expected, rtol=1e-10, atol=1e-10)


@settings(max_examples=100)
@given(edges=forests(), seed=st.integers(0, 2**31))
def test_outputs_and_gradients_equal_the_recursion(cells, edges: Edges, seed: int) -> None:
    for cell in cells[edges.arity]:
        batch = batch_of(cell, edges.forest, seed)
        for part in batch[1:]:
            part.requires_grad_()
        check(cell, DepthOrdered(cell), batch, by_recursion(cell, batch), 1e-12)


@pytest.mark.filterwarnings(SCRIPT_WARNING)
@pytest.mark.parametrize(
    "make", [AnyArity, lambda: FixedArity(2), lambda: OwnLeaf(3)], ids=["any", "fixed", "own_leaf"]
)
def test_scripted_equals_eager(make) -> None:
    torch.manual_seed(1)
    cell = make()
    scripted = torch.jit.script(DepthOrdered(cell))
    star = Edges([-1, 0, 0, *[-1] * 3], [0, 1, 0, 0, 0, 0], [1, 2, 3, 1, 1, 1], cell.arity)
    deep = Edges([1, 2, 3, -1, 1, 3], [0, 1, 0, 0, 1, 1], [1, 2, 3, 1, 2, 2], cell.arity)
    one, none = Edges([-1], [0], [1], cell.arity), Edges([], [], [], cell.arity)
    for edges in (star, deep, one, none, deep, star):
        batch = batch_of(cell, edges.forest, 3)
        for part in batch[1:]:
            part.requires_grad_()
        check(cell, scripted, batch, by_depth(DepthOrdered(cell), cell, batch), 1e-14)


def test_a_long_chain_and_a_wide_star() -> None:
    """Against loops; neither has a depth or a width that recursion would bear."""
    torch.manual_seed(2)
    size, cell = 1500, AnyArity()
    x = torch.randn(size, X, dtype=torch.float64)
    p = {name: part.detach() for name, part in cell.named_parameters()}
    line = Edges([*range(1, size), -1], [0] * size, [1] * size, 0).forest
    with torch.no_grad():
        _, root, _ = by_depth(DepthOrdered(cell), cell, CellInputs(line, x[:1], x[1:]))
        h = torch.tanh(x[0] @ p["w"])
        m = h + 1
        for word in x[1:]:
            last = h
            h = torch.tanh(word @ p["w"] + (h @ p["u"] + p["e"][1]) * m / 2)
            m = h + 1 - last
        torch.testing.assert_close(root[0], h, rtol=0, atol=1e-12)

        flat = Edges([-1, *[0] * (size - 1)], [0, *range(size - 1)], [2] * size, 0).forest
        _, root, _ = by_depth(DepthOrdered(cell), cell, CellInputs(flat, x[1:], x[:1]))
        h = torch.tanh(x[1:] @ p["w"])
        messages = (h @ p["u"] + p["e"][2]) * (h + 1) / 2
        expected = torch.tanh(x[0] @ p["w"] + messages.sum(0))
        torch.testing.assert_close(root[0], expected, rtol=0, atol=1e-12)


@settings(max_examples=30)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=2, max_size=5),
    shapes=st.randoms(use_true_random=False),
)
def test_a_tree_does_not_feel_its_neighbours(cells, sizes: list[int], shapes) -> None:
    cell = cells[2][0]
    trees = [shapes.choice([Tree.left, Tree.right, Tree.balanced])(["w"] * n) for n in sizes]
    batch, start = batch_of(cell, Forest.of(trees), 5), 0
    with torch.no_grad():
        outputs, roots, words = by_depth(DepthOrdered(cell), cell, batch)
        for rank, tree in enumerate(trees):
            nodes = slice(start, start := start + len(tree))
            alone = by_depth(DepthOrdered(cell), cell, batch.tree(nodes.start, nodes.stop))
            expected = [outputs[nodes], roots[rank : rank + 1], words[nodes]]
            torch.testing.assert_close(alone, expected, rtol=0, atol=1e-13)


def test_inputs_are_left_as_they_were(cells) -> None:
    cell = cells[2][0]
    batch = batch_of(cell, Edges([2, 2, -1, 0], [0, 1, 0, 1], [1, 2, 1, 3], 2).forest)
    before = batch.copied()
    by_depth(DepthOrdered(cell), cell, batch)
    assert all(map(torch.equal, batch[1:], before[1:]))
