"""The depth-ordered executor against the reference recursion, in float64, over forests of any
shape."""

import numpy as np
import pytest
import torch
from core.cells import AnyArity, FixedArity, H, OwnLeaf, X
from core.random_trees import Edges, forests
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from thinstack.core import Forest, Tree
from thinstack.core.cell import Cell
from thinstack.core.depth_ordered import DepthOrdered, in_node_order
from thinstack.core.schedule import Schedule, schedule_parents, schedule_transitions
from thinstack.testing import reference

SCRIPT_WARNING = "ignore:`torch.jit.script` is:DeprecationWarning"


@pytest.fixture(scope="module")
def cells() -> dict[int, list[Cell]]:
    """Cells by arity."""
    torch.manual_seed(7)
    return {
        0: [AnyArity()],
        1: [FixedArity(1), OwnLeaf(1)],
        2: [FixedArity(2), OwnLeaf(2)],
        3: [FixedArity(3), OwnLeaf(3)],
    }


def forest_of(edges: Edges) -> Forest:
    parents, slots, kinds = (np.array(part, np.int64) for part in edges[:3])
    return Forest(parents=parents, slots=slots, kinds=kinds, sizes=np.array([len(parents)]))


def schedule_of(edges: Edges) -> Schedule:
    return schedule_parents(
        *(torch.tensor(part, dtype=torch.long) for part in edges[:3]), edges.arity
    )


def random_inputs(cell: Cell, forest: Forest, seed: int) -> tuple[Tensor, Tensor]:
    """Inputs of leaves and of inner nodes, in node order."""
    random = torch.Generator().manual_seed(seed)
    leaves = int(forest.leaves.sum())
    sizes = [(leaves, X), (len(forest.parents) - leaves, cell.inner_size)]
    return tuple(
        torch.randn(size, generator=random, dtype=torch.float64).requires_grad_() for size in sizes
    )


Outputs = tuple[Tensor, Tensor, Tensor]
"""Of nodes, of roots, and the head words of nodes."""


def by_recursion(cell: Cell, forest: Forest, inputs: tuple[Tensor, Tensor]) -> Outputs:
    states = reference.encode(cell, forest, *inputs)
    outputs = [cell.output(state) for state in states]
    roots = [out for out, parent in zip(outputs, forest.parents, strict=True) if parent < 0]
    words = [state[cell.word_part] if cell.word_part >= 0 else state[0][:, :0] for state in states]
    none = inputs[0].new_zeros(0, H)
    no_words = none.new_zeros(0, cell.state_sizes[cell.word_part] if cell.word_part >= 0 else 0)
    return torch.cat([none, *outputs]), torch.cat([none, *roots]), torch.cat([no_words, *words])


def by_depth(run, schedule: Schedule, inputs: tuple[Tensor, Tensor]) -> Outputs:
    inner_ranks = torch.argsort(torch.argsort(schedule.inner))
    stacked, roots, words = run(inputs[0][schedule.leaf_words], inputs[1][inner_ranks], schedule)
    return in_node_order(stacked, schedule), roots, in_node_order(words, schedule)


def gradients(outputs: Outputs, cell: Cell, inputs: tuple[Tensor, Tensor]) -> list[Tensor]:
    """Of a sum with a weight of its own for every output."""
    loss = sum(
        (out * torch.linspace(-1, 2, out.numel(), dtype=out.dtype).view_as(out)).sum()
        for out in outputs
    )
    wanted = [*inputs, *cell.parameters()]
    found = torch.autograd.grad(loss, wanted, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(wanted, found, strict=True)]


@settings(max_examples=100)
@given(edges=forests(), seed=st.integers(0, 2**31))
def test_outputs_and_gradients_equal_the_recursion(cells, edges: Edges, seed: int) -> None:
    schedule, forest = schedule_of(edges), forest_of(edges)
    for cell in cells[edges.arity]:
        inputs = random_inputs(cell, forest, seed)
        expected, found = (
            by_recursion(cell, forest, inputs),
            by_depth(DepthOrdered(cell), schedule, inputs),
        )
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
        with torch.no_grad():
            torch.testing.assert_close(
                by_depth(DepthOrdered(cell), schedule, inputs), expected, rtol=1e-12, atol=1e-12
            )
        if edges.parents:
            torch.testing.assert_close(
                gradients(found, cell, inputs),
                gradients(expected, cell, inputs),
                rtol=1e-10,
                atol=1e-10,
            )


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
    for edges in (
        star,
        deep,
        Edges([-1], [0], [1], cell.arity),
        Edges([], [], [], cell.arity),
        deep,
        star,
    ):
        schedule, forest = schedule_of(edges), forest_of(edges)
        inputs = random_inputs(cell, forest, 3)
        expected = by_depth(DepthOrdered(cell), schedule, inputs)
        found = by_depth(scripted, schedule, inputs)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-14)
        with torch.no_grad():
            torch.testing.assert_close(
                by_depth(scripted, schedule, inputs), expected, rtol=0, atol=1e-14
            )
        if edges.parents:
            torch.testing.assert_close(
                gradients(found, cell, inputs),
                gradients(expected, cell, inputs),
                rtol=0,
                atol=1e-13,
            )


def test_a_long_chain_and_a_wide_star() -> None:
    """Against loops; neither has a depth or a width that recursion would bear."""
    torch.manual_seed(2)
    size = 1500
    cell = AnyArity()
    x = torch.randn(size, X, dtype=torch.float64)
    none = torch.zeros(0, dtype=torch.long)
    p = {name: part.detach() for name, part in cell.named_parameters()}
    with torch.no_grad():
        chain = schedule_parents(
            torch.tensor([*range(1, size), -1]), none.new_zeros(size), none.new_ones(size), 0
        )
        _, root, _ = DepthOrdered(cell)(x[:1], x[1:], chain)
        h = torch.tanh(x[0] @ p["w"])
        m = h + 1
        for word in x[1:]:
            last = h
            h = torch.tanh(word @ p["w"] + (h @ p["u"] + p["e"][1]) * m / 2)
            m = h + 1 - last
        torch.testing.assert_close(root[0], h, rtol=0, atol=1e-12)

        star = schedule_parents(
            torch.tensor([-1, *[0] * (size - 1)]),
            torch.arange(size) - 1,
            none.new_full([size], 2),
            0,
        )
        _, root, _ = DepthOrdered(cell)(x[1:], x[:1], star)
        h = torch.tanh(x[1:] @ p["w"])
        messages = (h @ p["u"] + p["e"][2]) * (h + 1) / 2
        torch.testing.assert_close(
            root[0], torch.tanh(x[0] @ p["w"] + messages.sum(0)), rtol=0, atol=1e-12
        )


@settings(max_examples=30)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=2, max_size=5),
    shapes=st.randoms(use_true_random=False),
)
def test_a_tree_does_not_feel_its_neighbours(cells, sizes: list[int], shapes) -> None:
    cell = cells[2][0]
    trees = [
        shapes.choice([Tree.left, Tree.right, Tree.balanced])(["w"] * words) for words in sizes
    ]
    forest = Forest.of(trees)
    with torch.no_grad():
        inputs = random_inputs(cell, forest, 5)
        outputs, roots, words_of = by_depth(
            DepthOrdered(cell),
            schedule_transitions(torch.from_numpy(Forest.of_binary(trees).transitions)),
            inputs,
        )
        node = leaf = inner = 0
        for rank, tree in enumerate(trees):
            words = len(tree.words)
            own = (inputs[0][leaf : leaf + words], inputs[1][inner : inner + words - 1])
            alone = by_depth(
                DepthOrdered(cell),
                schedule_transitions(torch.from_numpy(tree.transitions.copy())),
                own,
            )
            nodes = slice(node, node + len(tree))
            expected = (outputs[nodes], roots[rank : rank + 1], words_of[nodes])
            torch.testing.assert_close(alone, expected, rtol=0, atol=1e-13)
            node, leaf, inner = node + len(tree), leaf + words, inner + words - 1


def test_inputs_are_left_as_they_were(cells) -> None:
    edges = Edges([2, 2, -1, 0], [0, 1, 0, 1], [1, 2, 1, 3], 2)
    cell = cells[2][0]
    inputs = random_inputs(cell, forest_of(edges), 1)
    before = [part.detach().clone() for part in inputs]
    by_depth(DepthOrdered(cell), schedule_of(edges), inputs)
    assert [part.tolist() for part in inputs] == [part.tolist() for part in before]
