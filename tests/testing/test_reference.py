"""The reference recursion against a small tree written out by hand in NumPy."""

import numpy as np
import pytest
import torch
from core.cells import INNER, AnyArity, FixedArity, OwnLeaf, X

from thinstack.core import Forest
from thinstack.core.cell import Cell
from thinstack.testing import forests

Parts = tuple[np.ndarray, ...]

PARENTS, SLOTS, KINDS = [4, 2, 4, 2, -1], [0, 1, 2, 0, 0], [3, 1, 2, 2, 1]


def arrays(cell: Cell) -> dict[str, np.ndarray]:
    return {name: part.detach().numpy() for name, part in cell.named_parameters()}


@pytest.fixture
def forest():
    """Words 0, 1, 3; node 2 is over 1 (slot 1) and 3 (slot 0), the root 4 over 0 (slot 0) and 2
    (slot 2)."""
    return Forest(*(np.array(part) for part in (PARENTS, SLOTS, KINDS)), sizes=np.array([5]))


@pytest.fixture
def inputs():
    random = np.random.default_rng(1)
    return random.normal(size=(3, X)), random.normal(size=(2, X)), random.normal(size=(2, INNER))


def assert_states(states: list[list[torch.Tensor]], expected: list[Parts]) -> None:
    """h and m of each node."""
    for state, parts in zip(states, expected, strict=True):
        for found, part in zip(state, parts, strict=True):
            np.testing.assert_allclose(found[0].detach(), part, rtol=0, atol=1e-14)


def test_fixed_arity_with_missing_children_and_a_leaf_of_its_own(forest, inputs):
    torch.manual_seed(1)
    cell = OwnLeaf(3)
    leaf_x, _, inner_x = inputs
    p = arrays(cell)
    states = forests.encode(cell, forest, torch.from_numpy(leaf_x), torch.from_numpy(inner_x))

    leaf_h = np.tanh(leaf_x @ p["w_leaf"])
    leaf_m = leaf_h @ p["v"]
    u, e = p["u"], p["e"]
    # Slot 0: word 3 by edge type 2; slot 1: word 1 by edge type 1; slot 2 is empty, type 0.
    h2 = np.tanh(inner_x[0] @ p["w"] + leaf_h[2] @ u[0] + leaf_h[1] @ u[1] + e[2] + e[1] + e[0])
    m2 = h2 @ p["v"] + leaf_m[2] + 2 * leaf_m[1]
    h4 = np.tanh(inner_x[1] @ p["w"] + leaf_h[0] @ u[0] + h2 @ u[2] + e[3] + e[0] + e[2])
    m4 = h4 @ p["v"] + leaf_m[0] + 3 * m2
    words = list(zip(leaf_h, leaf_m, strict=True))
    assert_states(states, [words[0], words[1], (h2, m2), words[2], (h4, m4)])
    np.testing.assert_allclose(cell.output(states[4])[0].detach(), h4 + m4[:4], rtol=0, atol=1e-14)


def under_fixed_arity(p: dict[str, np.ndarray], x: np.ndarray, above: Parts, kind: int) -> Parts:
    h = np.tanh(x @ p["w"] + above[0] @ p["u"][0] + p["e"][kind])
    return h, h @ p["v"] + above[1]


def under_any_arity(p: dict[str, np.ndarray], x: np.ndarray, above: Parts, kind: int) -> Parts:
    h = np.tanh(x @ p["w"] + (above[0] @ p["u"] + p["e"][kind]) * above[1] / 2)
    return h, h + 1 - above[0]


@pytest.mark.parametrize(
    ("make", "step"), [(lambda: FixedArity(1), under_fixed_arity), (AnyArity, under_any_arity)]
)
def test_top_down_by_hand(forest, make, step):
    """Each node composes its parent, by the edge type 1 + its slot; the root composes zeros."""
    torch.manual_seed(5)
    cell, x = make(), np.random.default_rng(2).normal(size=(5, X))
    p = arrays(cell)
    root = step(p, x[4], tuple(map(np.zeros, cell.state_sizes)), 0)
    under = step(p, x[2], root, 3)
    of_words = step(p, x[0], root, 1), step(p, x[1], under, 2), step(p, x[3], under, 1)
    states = forests.encode_top_down(cell, forest, torch.from_numpy(x))
    assert_states(states, [of_words[0], of_words[1], under, of_words[2], root])
