"""The executor from the roots down against the reference recursion, in float64, over forests of any
shape."""

import numpy as np
import pytest
import torch
from core.cells import KINDS, AnyArity, FixedArity, H, X
from core.random_trees import ANY, BINARY, Edges, forests, tree_of
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from thinstack.core import Forest
from thinstack.core.cell import Cell
from thinstack.core.depth_ordered import in_node_order
from thinstack.core.schedule import (
    Schedule,
    schedule_lengths,
    schedule_parents,
    schedule_transitions,
)
from thinstack.core.top_down import TopDown
from thinstack.testing import reference

SCRIPT_WARNING = "ignore:`torch.jit.script` is:DeprecationWarning"


@pytest.fixture(scope="module")
def cells() -> list[Cell]:
    torch.manual_seed(3)
    return [FixedArity(1), AnyArity()]


def forest_of(edges: Edges) -> Forest:
    """The forest, with no more slots than the cells know kinds."""
    parents, slots, kinds = (np.array(part, np.int64) for part in edges[:3])
    return Forest(parents=parents, slots=slots % KINDS, kinds=kinds, sizes=np.array([len(parents)]))


def schedule_of(forest: Forest, arity: int) -> Schedule:
    parts = (forest.parents, forest.slots, forest.kinds)
    return schedule_parents(*(torch.from_numpy(part) for part in parts), arity)


def random_inputs(nodes: int, seed: int = 0) -> Tensor:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(nodes, X, generator=random, dtype=torch.float64).requires_grad_()


def by_recursion(cell: Cell, forest: Forest, inputs: Tensor) -> Tensor:
    outputs = [cell.output(state) for state in reference.encode_top_down(cell, forest, inputs)]
    return torch.cat([inputs.new_zeros(0, H), *outputs])


def by_depth(run, schedule: Schedule, inputs: Tensor) -> Tensor:
    """Outputs in node order."""
    return in_node_order(
        run(inputs[torch.cat([schedule.leaves, schedule.inner])], schedule), schedule
    )


def gradients(outputs: Tensor, cell: Cell, inputs: Tensor) -> list[Tensor]:
    """Of a sum with a weight of its own for every output."""
    loss = (
        outputs * torch.linspace(-1, 2, outputs.numel(), dtype=outputs.dtype).view_as(outputs)
    ).sum()
    wanted = [inputs, *cell.parameters()]
    found = torch.autograd.grad(loss, wanted, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(wanted, found, strict=True)]


def check(cell: Cell, run, forest: Forest, schedule: Schedule, seed: int = 0) -> None:
    """Outputs and gradients, with and without recording."""
    inputs = random_inputs(len(forest.parents), seed)
    expected, found = by_recursion(cell, forest, inputs), by_depth(run, schedule, inputs)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    with torch.no_grad():
        torch.testing.assert_close(by_depth(run, schedule, inputs), expected, rtol=0, atol=1e-12)
    if len(forest.parents):
        torch.testing.assert_close(
            gradients(found, cell, inputs), gradients(expected, cell, inputs), rtol=0, atol=1e-10
        )


@settings(max_examples=60)
@given(edges=forests(), seed=st.integers(0, 2**31))
def test_any_forest_in_any_order(cells, edges: Edges, seed: int) -> None:
    forest = forest_of(edges)
    for cell in cells:
        check(cell, TopDown(cell), forest, schedule_of(forest, edges.arity), seed)


@settings(max_examples=25)
@given(trees=st.lists(BINARY, max_size=4))
def test_binary_trees_by_their_transitions(cells, trees: list) -> None:
    forest = Forest.of(map(tree_of, trees))
    for cell in cells:
        check(
            cell,
            TopDown(cell),
            forest,
            schedule_transitions(
                torch.from_numpy(Forest.of_binary(map(tree_of, trees)).transitions)
            ),
        )


@settings(max_examples=25)
@given(trees=st.lists(ANY, max_size=3))
def test_trees_of_up_to_four_children(cells, trees: list) -> None:
    forest = Forest.of(map(tree_of, trees))
    forest.slots[forest.slots >= KINDS] = KINDS - 1
    for cell in cells:
        check(cell, TopDown(cell), forest, schedule_of(forest, 0))


def chains(lengths: list[int]) -> Forest:
    parents = []
    for words in lengths:
        parents += [*range(len(parents) + 1, len(parents) + words), -1]
    nodes = len(parents)
    return Forest(
        np.array(parents, np.int64),
        np.zeros(nodes, np.int64),
        np.ones(nodes, np.int64),
        np.array(lengths),
    )


@pytest.mark.parametrize("lengths", [[], [1], [1, 1], [5], [2, 7, 1, 4]])
def test_sentences_no_trees_and_one_node(cells, lengths: list[int]) -> None:
    for cell in cells:
        check(
            cell,
            TopDown(cell),
            chains(lengths),
            schedule_lengths(torch.tensor(lengths, dtype=torch.long)),
        )


@pytest.mark.filterwarnings(SCRIPT_WARNING)
@pytest.mark.parametrize("number", [0, 1])
def test_scripted(cells, number: int) -> None:
    cell = cells[number]
    scripted = torch.jit.script(TopDown(cell))
    star = Edges([-1, 0, 0, *[-1] * 3], [0, 1, 2, 0, 0, 0], [1] * 6, 3)
    deep = Edges([1, 2, 3, -1, 1, 3], [0, 1, 0, 0, 1, 2], [1] * 6, 3)
    for edges in (star, deep, Edges([-1], [0], [1], 3), Edges([], [], [], 3), deep):
        forest = forest_of(edges)
        check(cell, scripted, forest, schedule_of(forest, edges.arity))


def test_a_long_chain_and_a_wide_star(cells) -> None:
    """Against loops; neither has a depth or a width that recursion would bear."""
    size, cell = 1500, cells[1]
    x = random_inputs(size).detach()
    p = {name: part.detach() for name, part in cell.named_parameters()}
    with torch.no_grad():
        found = by_depth(TopDown(cell), schedule_lengths(torch.tensor([size])), x)
        h = torch.tanh(x[-1] @ p["w"])
        m = h + 1
        for word in range(size - 2, -1, -1):
            last = h
            h = torch.tanh(x[word] @ p["w"] + (h @ p["u"] + p["e"][1]) * m / 2)
            m = h + 1 - last
        torch.testing.assert_close(found[0], h, rtol=0, atol=1e-12)

        slots = torch.arange(size) % KINDS
        star = schedule_parents(
            torch.tensor([-1, *[0] * (size - 1)]), slots, torch.ones_like(slots), 0
        )
        found = by_depth(TopDown(cell), star, x)
        root = torch.tanh(x[0] @ p["w"])
        expected = torch.tanh(
            x[1:] @ p["w"] + (root @ p["u"] + p["e"][1 + slots[1:]]) * (root + 1) / 2
        )
        torch.testing.assert_close(found[1:], expected, rtol=0, atol=1e-12)


def test_inputs_are_left_as_they_were(cells) -> None:
    forest = forest_of(Edges([2, 2, -1, 0], [0, 1, 0, 1], [1] * 4, 2))
    for cell in cells:
        inputs = random_inputs(4).detach()
        before = inputs.clone()
        TopDown(cell)(inputs, schedule_of(forest, 2))
        assert torch.equal(inputs, before)
