"""The Tree-GRU against its equations in NumPy, and against a GRU step by step on a chain."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from thinstack.core.cell import Links
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.core.schedule import schedule_parents
from thinstack.errors import ConfigError, PluginError
from thinstack.plugins.cells.tree_gru import TreeGRU
from thinstack.plugins.manager import manager

X, H, ROWS = 3, 4, 5
NONE = torch.zeros(0, dtype=torch.long)
OWNER = torch.tensor([3, 0, 3, 4, 1, 3])  # row 2 has no child, row 3 has three

every_inner_size = pytest.mark.parametrize("inner_size", [0, X])


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def random_cell(inner_size: int = 0) -> TreeGRU:
    """In float64, with biases that are not zero."""
    torch.manual_seed(3)
    cell = TreeGRU(input_size=X, hidden_size=H, inner_size=inner_size).double()
    for part in cell.parameters():
        nn.init.normal_(part)
    return cell


def node(cell: TreeGRU, x: np.ndarray | None, h: list[np.ndarray]) -> np.ndarray:
    """h_j of a node with input x (None: no input) and children's h, by the equations; W x is x @ W
    here."""
    parts = (part.detach().numpy() for part in (cell.w, cell.u, cell.b))
    w, u, b = (
        dict(zip("znr", np.split(part, part.shape[-1] // H, axis=-1), strict=False))
        for part in parts
    )

    def before(gate: str, hidden: np.ndarray) -> np.ndarray:
        total = hidden @ u[gate] + b[gate]
        return total if x is None else total + x @ w[gate]

    h_sum = sum(h, np.zeros(H))
    z = sigmoid(before("z", h_sum))
    n = np.tanh(before("n", sum((sigmoid(before("r", h_k)) * h_k for h_k in h), np.zeros(H))))
    return (1 - z) * n + z * h_sum


@every_inner_size
def test_the_equations_at_inner_nodes(inner_size: int) -> None:
    cell = random_cell(inner_size)
    x, h = (
        torch.randn(ROWS, inner_size, dtype=torch.float64),
        torch.randn(len(OWNER), H, dtype=torch.float64),
    )
    (found,) = cell.compose(x, [h.clone()], Links(OWNER, OWNER + 1))
    for row in range(ROWS):
        expected = node(cell, x[row].numpy() if inner_size else None, list(h[row == OWNER].numpy()))
        np.testing.assert_allclose(found[row].detach(), expected, rtol=0, atol=1e-10)


@every_inner_size
def test_the_equations_at_leaves(inner_size: int) -> None:
    cell = random_cell(inner_size)
    x = torch.randn(ROWS, X, dtype=torch.float64)
    (found,) = cell.leaf(x)
    for row in range(ROWS):
        np.testing.assert_allclose(
            found[row].detach(), node(cell, x[row].numpy(), []), rtol=0, atol=1e-10
        )


def test_a_dependency_tree_of_four_words() -> None:
    """Word 2 is the root, 0 and 3 hang on it and 1 on 0."""
    cell = random_cell(X)
    words = torch.randn(4, X, dtype=torch.float64)
    schedule = schedule_parents(torch.tensor([2, 0, -1, 2]), NONE.new_zeros(4), NONE.new_ones(4), 0)
    root = DepthOrdered(cell)(words[[1, 3]], words[[0, 2]], schedule)[1]
    x = words.numpy()
    zero = node(cell, x[0], [node(cell, x[1], [])])
    expected = node(cell, x[2], [zero, node(cell, x[3], [])])
    np.testing.assert_allclose(root[0].detach(), expected, rtol=0, atol=1e-10)


def test_on_a_chain_it_is_a_gru_where_the_reset_gate_is_open() -> None:
    """torch resets U h instead of h, which is the same when r is 1 everywhere; its gates are r, z,
    n."""
    size = 6
    cell = random_cell(X)
    with torch.no_grad():
        cell.w[:, 2 * H :] = 0
        cell.b[2 * H :] = 100
    gru = nn.GRU(X, H).double()
    order = (2, 0, 1)
    w, u, b = (
        [part.detach().chunk(3, -1)[gate] for gate in order] for part in (cell.w, cell.u, cell.b)
    )
    rows = {
        "weight_ih_l0": torch.cat(w, 1).T,
        "weight_hh_l0": torch.cat(u, 1).T,
        "bias_ih_l0": torch.cat(b),
        "bias_hh_l0": torch.zeros(3 * H),
    }
    gru.load_state_dict(rows)
    words = torch.randn(size, X, dtype=torch.float64)
    chain = schedule_parents(
        torch.tensor([*range(1, size), -1]), NONE.new_zeros(size), NONE.new_ones(size), 0
    )
    torch.testing.assert_close(
        DepthOrdered(cell)(words[:1], words[1:], chain)[0], gru(words)[0], rtol=0, atol=1e-12
    )


@every_inner_size
def test_number_of_parameters(inner_size: int) -> None:
    """W_r only where it is read."""
    cell = TreeGRU(input_size=X, hidden_size=H, inner_size=inner_size)
    assert (
        sum(part.numel() for part in cell.parameters())
        == (3 if inner_size else 2) * X * H + 3 * H * H + 3 * H
    )
    assert (cell.state_sizes, cell.arity, cell.kinds) == ([H], 0, 0)


def test_fresh_weights_lie_within_the_fan_in() -> None:
    torch.manual_seed(1)
    cell = TreeGRU(input_size=100, hidden_size=25)
    assert 0.09 < cell.w.detach().abs().max() <= 0.1
    assert 0.19 < cell.u.detach().abs().max() <= 0.2
    assert not cell.b.any()


def test_rows_of_none() -> None:
    cell = random_cell()
    for state in (
        cell.leaf(torch.zeros(0, X).double()),
        cell.compose(torch.zeros(0, 0).double(), [torch.zeros(0, H).double()], Links(NONE, NONE)),
    ):
        assert [tuple(part.shape) for part in state] == [(0, H)]


def test_an_inner_input_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="inner_size must be 0 or input_size = 3, got 2"):
        TreeGRU(input_size=X, hidden_size=H, inner_size=2)
    with pytest.raises(PluginError, match="inner_size must be 0 or input_size = 3, got 2"):
        manager().cell("tree_gru.v1").create({}, input_size=X, hidden_size=H, inner_size=2)


def test_it_is_registered() -> None:
    cell = manager().cell("tree_gru.v1").create({}, input_size=X, hidden_size=H, inner_size=X)
    assert isinstance(cell, TreeGRU)
    assert (cell.input_size, cell.inner_size, cell.hidden_size) == (X, X, H)
    assert manager().cell("tree_gru.v1").create({}, input_size=X, hidden_size=H).inner_size == 0


@pytest.mark.parametrize("options", [{"arity": 2}, {"bias": "double"}])
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"tree_gru\.v1.*{next(iter(options))}"):
        manager().cell("tree_gru.v1").create(options, input_size=X, hidden_size=H)
