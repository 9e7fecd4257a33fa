"""The executor from the roots down against the reference recursion, in float64, over forests of any
shape."""

import pytest
import torch
from core.cells import KINDS, AnyArity, FixedArity, X
from core.random_trees import ANY, BINARY, Edges, forests, tree_of
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import forest_of, gradients, outputs_top_down
from torch import Tensor

from thinstack.core import Forest
from thinstack.core.cell import Cell
from thinstack.core.depth_ordered import in_node_order
from thinstack.core.schedule import Schedule, schedule_lengths, schedule_transitions
from thinstack.core.top_down import TopDown
from thinstack.testing.forests import schedule_of

SCRIPT_WARNING = "ignore:`torch.jit.script` is:DeprecationWarning"


@pytest.fixture(scope="module")
def cells() -> list[Cell]:
    torch.manual_seed(3)
    return [FixedArity(1), AnyArity()]


def few_kinds(forest: Forest) -> Forest:
    """With no more slots than the cells know kinds."""
    return forest._replace(slots=forest.slots % KINDS)


def random_inputs(nodes: int, seed: int = 0) -> Tensor:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(nodes, X, generator=random, dtype=torch.float64).requires_grad_()


def by_depth(run, schedule: Schedule, inputs: Tensor) -> Tensor:
    """Outputs in node order."""
    rows = torch.cat([schedule.leaves, schedule.inner])
    return in_node_order(run(inputs[rows], schedule), schedule)


def check(cell: Cell, run, forest: Forest, schedule: Schedule, seed: int = 0) -> None:
    """Outputs and gradients, with and without recording."""
    inputs = random_inputs(len(forest.parents), seed)
    expected, found = outputs_top_down(cell, forest, inputs), by_depth(run, schedule, inputs)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    with torch.no_grad():
        torch.testing.assert_close(by_depth(run, schedule, inputs), expected, rtol=0, atol=1e-12)
    if len(forest.parents):
        wanted = [inputs, *cell.parameters()]
        of_expected = gradients([expected], wanted)
        torch.testing.assert_close(gradients([found], wanted), of_expected, rtol=0, atol=1e-10)


@settings(max_examples=60)
@given(edges=forests(), seed=st.integers(0, 2**31))
def test_any_forest_in_any_order(cells, edges: Edges, seed: int) -> None:
    forest = few_kinds(edges.forest)
    for cell in cells:
        check(cell, TopDown(cell), forest, schedule_of(forest, edges.arity), seed)


@settings(max_examples=25)
@given(trees=st.lists(BINARY, max_size=4))
def test_binary_trees_by_their_transitions(cells, trees: list) -> None:
    forest = Forest.of(map(tree_of, trees))
    steps = torch.from_numpy(Forest.of_binary(map(tree_of, trees)).transitions)
    for cell in cells:
        check(cell, TopDown(cell), forest, schedule_transitions(steps))


@settings(max_examples=25)
@given(trees=st.lists(ANY, max_size=3))
def test_trees_of_up_to_four_children(cells, trees: list) -> None:
    forest = few_kinds(Forest.of(map(tree_of, trees)))
    for cell in cells:
        check(cell, TopDown(cell), forest, schedule_of(forest, 0))


@pytest.mark.parametrize("lengths", [[], [1], [1, 1], [5], [2, 7, 1, 4]])
def test_sentences_no_trees_and_one_node(cells, lengths: list[int]) -> None:
    sizes = torch.tensor(lengths, dtype=torch.long)
    for cell in cells:
        chains = forest_of({"lengths": sizes.numpy()})
        check(cell, TopDown(cell), chains, schedule_lengths(sizes))


@pytest.mark.filterwarnings(SCRIPT_WARNING)
@pytest.mark.parametrize("number", [0, 1])
def test_scripted(cells, number: int) -> None:
    cell = cells[number]
    scripted = torch.jit.script(TopDown(cell))
    star = Edges([-1, 0, 0, *[-1] * 3], [0, 1, 2, 0, 0, 0], [1] * 6, 3)
    deep = Edges([1, 2, 3, -1, 1, 3], [0, 1, 0, 0, 1, 2], [1] * 6, 3)
    for edges in (star, deep, Edges([-1], [0], [1], 3), Edges([], [], [], 3), deep):
        check(cell, scripted, edges.forest, edges.schedule)


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
        star = Edges([-1, *[0] * (size - 1)], slots.tolist(), [1] * size, 0)
        found = by_depth(TopDown(cell), star.schedule, x)
        root = torch.tanh(x[0] @ p["w"])
        messages = (root @ p["u"] + p["e"][1 + slots[1:]]) * (root + 1) / 2
        expected = torch.tanh(x[1:] @ p["w"] + messages)
        torch.testing.assert_close(found[1:], expected, rtol=0, atol=1e-12)


def test_inputs_are_left_as_they_were(cells) -> None:
    schedule = Edges([2, 2, -1, 0], [0, 1, 0, 1], [1] * 4, 2).schedule
    for cell in cells:
        inputs = random_inputs(4).detach()
        before = inputs.clone()
        TopDown(cell)(inputs, schedule)
        assert torch.equal(inputs, before)
