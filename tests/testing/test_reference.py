"""The reference recursion against a small tree written out by hand in NumPy."""

import numpy as np
import pytest
import torch
from core.cells import INNER, MEMORY, AnyArity, FixedArity, H, OwnLeaf, X

from thinstack.core import Forest, Tree
from thinstack.core.cell import Cell, sum_by_owner
from thinstack.testing import reference

PARENTS, SLOTS, KINDS = [4, 2, 4, 2, -1], [0, 1, 2, 0, 0], [3, 1, 2, 2, 1]


def arrays(cell: Cell) -> dict[str, np.ndarray]:
    return {name: part.detach().numpy() for name, part in cell.named_parameters()}


@pytest.fixture
def forest() -> Forest:
    """Words 0, 1, 3; node 2 is over 1 (slot 1) and 3 (slot 0), the root 4 over 0 (slot 0) and 2
    (slot 2)."""
    return Forest(*(np.array(part) for part in (PARENTS, SLOTS, KINDS)), sizes=np.array([5]))


@pytest.fixture
def inputs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    return random.normal(size=(3, X)), random.normal(size=(2, X)), random.normal(size=(2, INNER))


def test_fixed_arity_with_missing_children_and_a_leaf_of_its_own(forest, inputs) -> None:
    torch.manual_seed(1)
    cell = OwnLeaf(3)
    leaf_x, _, inner_x = inputs
    p = arrays(cell)
    states = reference.encode(cell, forest, torch.from_numpy(leaf_x), torch.from_numpy(inner_x))

    leaf_h = np.tanh(leaf_x @ p["w_leaf"])
    leaf_m = leaf_h @ p["v"]
    # Slot 0: word 3 by edge type 2; slot 1: word 1 by edge type 1; slot 2 is empty, type 0.
    h2 = np.tanh(
        inner_x[0] @ p["w"]
        + leaf_h[2] @ p["u"][0]
        + leaf_h[1] @ p["u"][1]
        + p["e"][2]
        + p["e"][1]
        + p["e"][0]
    )
    m2 = h2 @ p["v"] + leaf_m[2] + 2 * leaf_m[1]
    h4 = np.tanh(
        inner_x[1] @ p["w"]
        + leaf_h[0] @ p["u"][0]
        + h2 @ p["u"][2]
        + p["e"][3]
        + p["e"][0]
        + p["e"][2]
    )
    m4 = h4 @ p["v"] + leaf_m[0] + 3 * m2
    expected = [
        (leaf_h[0], leaf_m[0]),
        (leaf_h[1], leaf_m[1]),
        (h2, m2),
        (leaf_h[2], leaf_m[2]),
        (h4, m4),
    ]
    for state, (h, m) in zip(states, expected, strict=True):
        np.testing.assert_allclose(state[0][0].detach(), h, rtol=0, atol=1e-14)
        np.testing.assert_allclose(state[1][0].detach(), m, rtol=0, atol=1e-14)
    np.testing.assert_allclose(cell.output(states[4])[0].detach(), h4 + m4[:4], rtol=0, atol=1e-14)


def test_any_arity_and_the_leaf_that_composes_nothing(forest, inputs) -> None:
    torch.manual_seed(2)
    cell = AnyArity()
    leaf_x, inner_x, _ = inputs
    p = arrays(cell)
    states = reference.encode(cell, forest, torch.from_numpy(leaf_x), torch.from_numpy(inner_x))

    leaf_h = np.tanh(leaf_x @ p["w"])
    leaf_m = leaf_h + 1

    def message(h: np.ndarray, m: np.ndarray, kind: int) -> np.ndarray:
        return (h @ p["u"] + p["e"][kind]) * m / 2

    h2 = np.tanh(
        inner_x[0] @ p["w"] + message(leaf_h[1], leaf_m[1], 1) + message(leaf_h[2], leaf_m[2], 2)
    )
    m2 = h2 + 1 - leaf_h[1] - leaf_h[2]
    h4 = np.tanh(inner_x[1] @ p["w"] + message(leaf_h[0], leaf_m[0], 3) + message(h2, m2, 2))
    expected = [
        (leaf_h[0], leaf_m[0]),
        (leaf_h[1], leaf_m[1]),
        (h2, m2),
        (leaf_h[2], leaf_m[2]),
        (h4, h4 + 1 - leaf_h[0] - h2),
    ]
    for state, (h, m) in zip(states, expected, strict=True):
        np.testing.assert_allclose(state[0][0].detach(), h, rtol=0, atol=1e-14)
        np.testing.assert_allclose(state[1][0].detach(), m, rtol=0, atol=1e-14)


def test_the_default_leaf_of_fixed_arity_sees_missing_children_only() -> None:
    torch.manual_seed(3)
    cell = FixedArity(2)
    x = torch.randn(4, X, dtype=torch.float64)
    p = arrays(cell)
    h, m = cell.leaf(x)
    assert h.shape == (4, H)
    assert m.shape == (4, MEMORY)
    np.testing.assert_allclose(
        h.detach(), np.tanh(x.numpy() @ p["w"] + 2 * p["e"][0]), rtol=0, atol=1e-14
    )
    np.testing.assert_allclose(m.detach(), h.detach().numpy() @ p["v"], rtol=0, atol=1e-14)


def test_a_forest_of_two_trees_without_inner_inputs() -> None:
    torch.manual_seed(4)
    cell = OwnLeaf(2)
    cell.w = torch.nn.Parameter(torch.zeros(0, H, dtype=torch.float64))
    words = torch.randn(3, X, dtype=torch.float64)
    both = reference.encode(cell, Forest.of([Tree.left(["a"]), Tree.left(["b", "c"])]), words)
    apart = reference.encode(cell, Forest.of([Tree.left(["b", "c"])]), words[1:])
    torch.testing.assert_close(both[0], cell.leaf(words[:1]), rtol=0, atol=0)
    torch.testing.assert_close(both[1:], apart, rtol=0, atol=0)


def test_top_down_by_hand(forest) -> None:
    """Each node composes its parent, by the edge type 1 + its slot."""
    torch.manual_seed(5)
    cell = FixedArity(1)
    x = np.random.default_rng(2).normal(size=(5, X))
    p = arrays(cell)

    def step(
        node: int, above: tuple[np.ndarray, np.ndarray], kind: int
    ) -> tuple[np.ndarray, np.ndarray]:
        h = np.tanh(x[node] @ p["w"] + above[0] @ p["u"][0] + p["e"][kind])
        return h, h @ p["v"] + above[1]

    root = step(4, (np.zeros(H), np.zeros(MEMORY)), 0)
    under = step(2, root, 3)
    expected = [step(0, root, 1), step(1, under, 2), under, step(3, under, 1), root]
    states = reference.encode_top_down(cell, forest, torch.from_numpy(x))
    for state, (h, m) in zip(states, expected, strict=True):
        np.testing.assert_allclose(state[0][0].detach(), h, rtol=0, atol=1e-14)
        np.testing.assert_allclose(state[1][0].detach(), m, rtol=0, atol=1e-14)


def test_top_down_with_a_cell_of_any_arity(forest) -> None:
    torch.manual_seed(6)
    cell = AnyArity()
    x = np.random.default_rng(3).normal(size=(5, X))
    p = arrays(cell)

    def step(
        node: int, above: tuple[np.ndarray, np.ndarray], kind: int
    ) -> tuple[np.ndarray, np.ndarray]:
        h = np.tanh(x[node] @ p["w"] + (above[0] @ p["u"] + p["e"][kind]) * above[1] / 2)
        return h, h + 1 - above[0]

    h = np.tanh(x[4] @ p["w"])
    root = (h, h + 1)
    under = step(2, root, 3)
    expected = [step(0, root, 1), step(1, under, 2), under, step(3, under, 1), root]
    states = reference.encode_top_down(cell, forest, torch.from_numpy(x))
    for state, (h, m) in zip(states, expected, strict=True):
        np.testing.assert_allclose(state[0][0].detach(), h, rtol=0, atol=1e-14)
        np.testing.assert_allclose(state[1][0].detach(), m, rtol=0, atol=1e-14)


def test_sum_by_owner() -> None:
    values = torch.tensor([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    assert sum_by_owner(values, torch.tensor([2, 0, 2]), 4).tolist() == [
        [2, 20],
        [0, 0],
        [5, 50],
        [0, 0],
    ]
    assert sum_by_owner(values[:0], torch.zeros(0, dtype=torch.long), 2).tolist() == [
        [0, 0],
        [0, 0],
    ]
