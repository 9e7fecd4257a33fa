"""The N-ary Tree-LSTM against Tai et al. 2015, equations (9)-(14), in NumPy, and against torch's LSTM on a chain."""

import copy

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import Tensor, nn

from thinstack.core import Forest, Tree
from thinstack.core.cell import Links
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.core.schedule import schedule_parents
from thinstack.errors import ConfigError
from thinstack.plugins.cells.nary_lstm import NaryLSTM, NaryLSTMOptions
from thinstack.plugins.manager import manager

X, H, ROWS = 3, 4, 5
NONE = torch.zeros(0, dtype=torch.long)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def random_cell(**sizes: int) -> NaryLSTM:
    """In float64, with biases that are not zero."""
    torch.manual_seed(3)
    cell = NaryLSTM(input_size=X, hidden_size=H, **sizes).double()
    nn.init.normal_(cell.b)
    return cell


class Paper:
    """W, U and b of each gate under the names of the paper; W x is x @ W here."""

    def __init__(self, cell: NaryLSTM):
        w, u, b = (part.detach().numpy() for part in (cell.w, cell.u, cell.b))
        self.n = cell.arity
        self.w = dict(zip("iouf", np.split(w, w.shape[1] // H, axis=1), strict=False))
        self.b = dict(zip("iouf", np.split(b, 4), strict=True))
        gates = ["i", "o", *(f"f{k}" for k in range(self.n)), "u"]
        columns = dict(zip(gates, np.split(u, self.n + 3, axis=1), strict=True))
        self.u = {gate: np.split(block, self.n) for gate, block in columns.items()}  # a matrix for each child

    def node(self, x: np.ndarray | None, h: list[np.ndarray], c: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """h_j and c_j of a node with input x (None: no input) and children's h and c."""

        def before(gate: str, of: str) -> np.ndarray:
            total = self.b[of] + sum(h_l @ self.u[gate][position] for position, h_l in enumerate(h))
            return total if x is None else total + x @ self.w[of]

        i, o, u = sigmoid(before("i", "i")), sigmoid(before("o", "o")), np.tanh(before("u", "u"))
        c_j = i * u + sum(sigmoid(before(f"f{k}", "f")) * c_k for k, c_k in enumerate(c))
        return o * np.tanh(c_j), c_j


def random_children(arity: int) -> list[Tensor]:
    random = torch.Generator().manual_seed(arity)
    return [torch.randn(ROWS, arity, H, generator=random, dtype=torch.float64) for _ in "hc"]


def composed(cell: NaryLSTM, x: Tensor, children: list[Tensor]) -> list[np.ndarray]:
    links = Links(NONE, torch.ones(children[0].shape[:2], dtype=torch.long))
    return [part.detach().numpy() for part in cell.compose(x, [part.clone() for part in children], links)]


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("inner_size", [0, X])
@pytest.mark.parametrize("arity", [1, 2, 3])
def test_the_equations_at_inner_nodes(arity: int, inner_size: int, grad: bool) -> None:
    cell, children = random_cell(arity=arity, inner_size=inner_size), random_children(arity)
    x = torch.randn(ROWS, inner_size, dtype=torch.float64)
    with torch.set_grad_enabled(grad):
        h, c = composed(cell, x, children)
    for row in range(ROWS):
        expected = Paper(cell).node(x[row].numpy() if inner_size else None, *(list(part[row].numpy()) for part in children))
        np.testing.assert_allclose((h[row], c[row]), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("inner_size", [0, X])
@pytest.mark.parametrize("arity", [1, 2, 3])
def test_the_equations_at_leaves(arity: int, inner_size: int) -> None:
    cell = random_cell(arity=arity, inner_size=inner_size)
    x = torch.randn(ROWS, X, dtype=torch.float64)
    h, c = (part.detach().numpy() for part in cell.leaf(x))
    for row in range(ROWS):
        np.testing.assert_allclose((h[row], c[row]), Paper(cell).node(x[row].numpy(), [], []), rtol=0, atol=1e-10)


@pytest.mark.parametrize("arity", [2, 3])
def test_a_missing_child_counts_as_zeros(arity: int) -> None:
    """A node over slot 1 alone, through the executor."""
    cell = random_cell(arity=arity)
    words = torch.randn(1, X, dtype=torch.float64)
    schedule = schedule_parents(torch.tensor([1, -1]), torch.tensor([1, 0]), torch.tensor([1, 1]), arity)
    _, root = DepthOrdered(cell)(words, words.new_zeros(1, 0), schedule)
    paper, zero = Paper(cell), np.zeros(H)
    h, c = paper.node(words[0].numpy(), [], [])
    expected, _ = paper.node(None, [zero, h, zero][:arity], [zero, c, zero][:arity])
    np.testing.assert_allclose(root[0].detach(), expected, rtol=0, atol=1e-10)


def test_a_sentence_of_three_words() -> None:
    cell = random_cell(arity=2)
    words = torch.randn(3, X, dtype=torch.float64)
    forest = Forest.of([Tree.from_brackets("(3 (2 a) (3 (2 b) (2 c)))")])
    schedule = schedule_parents(*(torch.from_numpy(part) for part in (forest.parents, forest.slots, forest.kinds)), 2)
    _, root = DepthOrdered(cell)(words[schedule.leaf_words], words.new_zeros(2, 0), schedule)
    paper = Paper(cell)
    a, b, c = (paper.node(word.numpy(), [], []) for word in words)
    bc = paper.node(None, [b[0], c[0]], [b[1], c[1]])
    np.testing.assert_allclose(root[0].detach(), paper.node(None, [a[0], bc[0]], [a[1], bc[1]])[0], rtol=0, atol=1e-10)


def test_on_a_chain_it_is_an_lstm() -> None:
    """The first word is the leaf. torch's gates are i, f, g, o; its second bias stays zero."""
    size = 7
    cell = random_cell(arity=1, inner_size=X)
    paper = Paper(cell)
    lstm = nn.LSTM(X, H).double()
    rows = {
        "weight_ih_l0": np.concatenate([paper.w[gate] for gate in "ifuo"], axis=1).T,
        "weight_hh_l0": np.concatenate([paper.u[gate][0] for gate in ("i", "f0", "u", "o")], axis=1).T,
        "bias_ih_l0": np.concatenate([paper.b[gate] for gate in "ifuo"]),
        "bias_hh_l0": np.zeros(4 * H),
    }
    lstm.load_state_dict({name: torch.from_numpy(np.ascontiguousarray(part)) for name, part in rows.items()})
    words = torch.randn(size, X, dtype=torch.float64)
    chain = schedule_parents(torch.tensor([*range(1, size), -1]), NONE.new_zeros(size), NONE.new_ones(size), 1)
    stacked, root = DepthOrdered(cell)(words[:1], words[1:], chain)
    expected, _ = lstm(words)
    torch.testing.assert_close(stacked, expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(root, expected[-1:], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("inner_size", "gates_of_x"), [(0, 3), (X, 4)])
@pytest.mark.parametrize("arity", [1, 2, 3])
def test_number_of_parameters(arity: int, inner_size: int, gates_of_x: int) -> None:
    """W for each gate that reads an x, U_i, U_o and U_u for each child and U_f for each pair of children, four biases."""
    cell = NaryLSTM(input_size=X, hidden_size=H, inner_size=inner_size, arity=arity)
    expected = gates_of_x * X * H + (3 * arity + arity * arity) * H * H + 4 * H
    assert sum(part.numel() for part in cell.parameters()) == expected
    assert (cell.state_sizes, cell.arity, cell.kinds) == ([H, H], arity, 0)


def test_fresh_weights_lie_within_the_fan_in() -> None:
    torch.manual_seed(1)
    cell = NaryLSTM(input_size=100, hidden_size=50)
    assert 0.09 < cell.w.detach().abs().max() <= 0.1
    assert 0.095 < cell.u.detach().abs().max() <= 0.1
    assert not cell.b.any()


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("rows", [1, 2, 100])
def test_float32_equals_float64(rows: int, grad: bool) -> None:
    """In widths where float32 may take other kernels, values and gradients."""
    torch.manual_seed(5)
    cell = NaryLSTM(input_size=48, hidden_size=40)
    exact = copy.deepcopy(cell).double()
    words, weights = torch.randn(2 * rows, 48), torch.randn(rows, 40)
    found: list[list[Tensor]] = []
    for each, x, weight in ((cell, words, weights), (exact, words.double(), weights.double())):
        with torch.set_grad_enabled(grad):
            children = [part.view(rows, 2, 40) for part in each.leaf(x)]
            state = each.compose(x.new_zeros(rows, 0), children, Links(NONE, torch.ones(rows, 2, dtype=torch.long)))
        loss = ((state[0] + state[1]) * weight).sum()
        found.append([*state, *(torch.autograd.grad(loss, list(each.parameters())) if grad else [])])
    for value, expected in zip(*found, strict=True):
        torch.testing.assert_close(value.double(), expected, rtol=1e-5, atol=1e-5)


def test_rows_of_none() -> None:
    cell = random_cell(arity=2)
    for state in (
        cell.leaf(torch.zeros(0, X).double()),
        composed(cell, torch.zeros(0, 0).double(), [torch.zeros(0, 2, H).double()] * 2),
    ):
        assert [tuple(part.shape) for part in state] == [(0, H), (0, H)]


def test_an_inner_input_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="inner_size must be 0 or input_size = 3, got 2"):
        NaryLSTM(input_size=X, hidden_size=H, inner_size=2)


def test_it_is_registered() -> None:
    cell = manager().cell("nary_lstm.v1").create({"arity": 3}, input_size=X, hidden_size=H)
    assert isinstance(cell, NaryLSTM)
    assert (cell.arity, cell.input_size, cell.hidden_size, cell.inner_size) == (3, X, H, 0)
    assert manager().cell("nary_lstm.v1").create({}, input_size=X, hidden_size=H).arity == 2


@pytest.mark.parametrize("options", [{"arity": 0}, {"arity": "two"}, {"n": 2}])
def test_wrong_options(options: dict) -> None:
    with pytest.raises(ValidationError):
        NaryLSTMOptions(**options)
    with pytest.raises(ConfigError, match=rf"nary_lstm\.v1.*{next(iter(options))}"):
        manager().cell("nary_lstm.v1").create(options, input_size=X, hidden_size=H)
