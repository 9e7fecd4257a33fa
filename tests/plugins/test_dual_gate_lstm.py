"""The Tree-LSTM with an input gate for each child (Le & Zuidema 2015), written out in NumPy."""

import copy

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import Tensor, nn

from thinstack.core import Forest
from thinstack.core.cell import Links
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.core.schedule import schedule_parents
from thinstack.data.brackets import from_brackets
from thinstack.errors import ConfigError
from thinstack.plugins.cells.dual_gate_lstm import DualGateLSTM, DualGateLSTMOptions
from thinstack.plugins.manager import manager

X, H, ROWS = 3, 4, 5
NONE = torch.zeros(0, dtype=torch.long)

State = tuple[np.ndarray, np.ndarray]


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def random_cell(arity: int = 2) -> DualGateLSTM:
    """In float64, with biases that are not zero."""
    torch.manual_seed(3)
    cell = DualGateLSTM(input_size=X, hidden_size=H, arity=arity).double()
    for name, part in cell.named_parameters():
        if name.startswith("b"):
            nn.init.normal_(part)
    return cell


class Paper:
    """The parameters under the names of the docstring: W["hi", k, l] is that of i_k from h_l; W h
    is h @ W here."""

    def __init__(self, cell: DualGateLSTM):
        w = {name: part.detach().numpy() for name, part in cell.named_parameters()}
        children, self.W, self.b = range(cell.arity), {}, {}
        gates = [(gate, k) for gate in "fi" for k in children]
        rows = iter(np.split(w["w_fi"], 2 * cell.arity))
        for source in "hc":
            for child in children:
                for (gate, k), block in zip(
                    gates, np.split(next(rows), 2 * cell.arity, axis=1), strict=True
                ):
                    self.W[source + gate, k, child] = block
        self.b.update(zip(gates, np.split(w["b_fi"], 2 * cell.arity), strict=True))
        *of_h, self.W["co"] = np.split(w["w_o"], cell.arity + 1)
        for child in children:
            self.W["g", child], self.W["ho", child] = w["w_g"][child], of_h[child]
        self.b["g"], self.b["o"] = w["b_g"], w["b_o"]
        for gate, block, bias in zip(
            "igo", np.split(w["w_x"], 3, axis=1), np.split(w["b_x"], 3), strict=True
        ):
            self.W[f"x{gate}"], self.b[f"x{gate}"] = block, bias

    def node(self, states: dict[int, State]) -> State:
        """h and c over children by their number from 0."""
        W, b = self.W, self.b

        def gate(name: str, k: int) -> np.ndarray:
            read = sum(
                h @ W[f"h{name}", k, child] + c @ W[f"c{name}", k, child]
                for child, (h, c) in states.items()
            )
            return sigmoid(read + b[name, k])

        c_new = sum(
            gate("i", k) * np.tanh(h @ W["g", k] + b["g"]) + gate("f", k) * c
            for k, (h, c) in states.items()
        )
        o = sigmoid(sum(h @ W["ho", k] for k, (h, _) in states.items()) + c_new @ W["co"] + b["o"])
        return o * np.tanh(c_new), c_new

    def leaf(self, x: np.ndarray) -> State:
        W, b = self.W, self.b
        c = sigmoid(x @ W["xi"] + b["xi"]) * np.tanh(x @ W["xg"] + b["xg"])
        return sigmoid(x @ W["xo"] + c @ W["co"] + b["xo"]) * np.tanh(c), c


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("arity", [1, 2, 3])
def test_the_equations_at_inner_nodes(arity: int, grad: bool) -> None:
    cell = random_cell(arity)
    h, c = (torch.randn(ROWS, arity, H, dtype=torch.float64) for _ in "hc")
    links = Links(NONE, torch.ones(ROWS, arity, dtype=torch.long))
    with torch.set_grad_enabled(grad):
        found = cell.compose(h.new_zeros(ROWS, 0), [h.clone(), c.clone()], links)
    for row in range(ROWS):
        expected = Paper(cell).node(
            {k: (h[row, k].numpy(), c[row, k].numpy()) for k in range(arity)}
        )
        np.testing.assert_allclose(
            [part[row].detach() for part in found], expected, rtol=0, atol=1e-10
        )


@pytest.mark.parametrize("arity", [1, 2, 3])
def test_the_equations_at_leaves(arity: int) -> None:
    cell = random_cell(arity)
    x = torch.randn(ROWS, X, dtype=torch.float64)
    found = cell.leaf(x)
    for row in range(ROWS):
        expected = Paper(cell).leaf(x[row].numpy())
        np.testing.assert_allclose(
            [part[row].detach() for part in found], expected, rtol=0, atol=1e-10
        )


@pytest.mark.parametrize("arity", [2, 3])
def test_a_missing_child_is_left_out(arity: int) -> None:
    """A node over slot 1 alone, through the executor."""
    cell = random_cell(arity)
    words = torch.randn(1, X, dtype=torch.float64)
    schedule = schedule_parents(
        torch.tensor([1, -1]), torch.tensor([1, 0]), torch.tensor([1, 1]), arity
    )
    root = DepthOrdered(cell)(words, words.new_zeros(1, 0), schedule)[1]
    paper = Paper(cell)
    expected, _ = paper.node({1: paper.leaf(words[0].numpy())})
    np.testing.assert_allclose(root[0].detach(), expected, rtol=0, atol=1e-10)


def test_a_sentence_of_three_words() -> None:
    cell = random_cell()
    words = torch.randn(3, X, dtype=torch.float64)
    forest = Forest.of([from_brackets("(3 (2 a) (3 (2 b) (2 c)))")])
    schedule = schedule_parents(
        *(torch.from_numpy(part) for part in (forest.parents, forest.slots, forest.kinds)), 2
    )
    root = DepthOrdered(cell)(words[schedule.leaf_words], words.new_zeros(2, 0), schedule)[1]
    paper = Paper(cell)
    a, b, c = (paper.leaf(word.numpy()) for word in words)
    expected, _ = paper.node({0: a, 1: paper.node({0: b, 1: c})})
    np.testing.assert_allclose(root[0].detach(), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("arity", [1, 2, 3])
def test_number_of_parameters(arity: int) -> None:
    """For each of 2N gates an h and a c of N children, g and o from N children's h, W_co; a leaf's
    three W_x; biases."""
    cell = DualGateLSTM(input_size=X, hidden_size=H, arity=arity)
    matrices = (2 * arity * 2 * arity + arity + arity + 1) * H * H + 3 * X * H
    assert sum(part.numel() for part in cell.parameters()) == matrices + (2 * arity + 2 + 3) * H
    assert (cell.state_sizes, cell.arity, cell.inner_size, cell.kinds, cell.word_part) == (
        [H, H],
        arity,
        0,
        0,
        -1,
    )


def test_fresh_weights_lie_within_the_fan_in() -> None:
    torch.manual_seed(1)
    cell = DualGateLSTM(input_size=100, hidden_size=50)
    for matrix, fan_in in ((cell.w_x, 100), (cell.w_fi, 200), (cell.w_g, 50), (cell.w_o, 150)):
        assert 0.95 * fan_in**-0.5 < matrix.detach().abs().max() <= fan_in**-0.5
    assert not any(bias.any() for bias in (cell.b_x, cell.b_fi, cell.b_g, cell.b_o))


@pytest.mark.parametrize("grad", [True, False])
def test_float32_equals_float64(grad: bool) -> None:
    """In widths where float32 may take other kernels, values and gradients."""
    torch.manual_seed(5)
    cell = DualGateLSTM(input_size=48, hidden_size=40)
    exact = copy.deepcopy(cell).double()
    words, links = torch.randn(2 * ROWS, 48), Links(NONE, torch.ones(ROWS, 2, dtype=torch.long))
    found: list[list[Tensor]] = []
    for each, x in ((cell, words), (exact, words.double())):
        with torch.set_grad_enabled(grad):
            state = each.compose(
                x.new_zeros(ROWS, 0), [part.view(ROWS, 2, 40) for part in each.leaf(x)], links
            )
        loss = torch.cat(state, 1).sum()
        found.append(
            [*state, *(torch.autograd.grad(loss, list(each.parameters())) if grad else [])]
        )
    for value, expected in zip(*found, strict=True):
        torch.testing.assert_close(value.double(), expected, rtol=1e-5, atol=1e-5)


def test_it_is_registered() -> None:
    spec = manager().cell("dual_gate_lstm.v1")
    cell = spec.create({"arity": 3}, input_size=X, hidden_size=H)
    assert isinstance(cell, DualGateLSTM)
    assert (cell.arity, cell.input_size, cell.hidden_size, cell.inner_size) == (3, X, H, 0)
    assert spec.create({}, input_size=X, hidden_size=H).arity == 2


@pytest.mark.parametrize("options", [{"arity": 0}, {"arity": "two"}, {"n": 2}])
def test_wrong_options(options: dict) -> None:
    with pytest.raises(ValidationError):
        DualGateLSTMOptions(**options)
    with pytest.raises(ConfigError, match=rf"dual_gate_lstm\.v1.*{next(iter(options))}"):
        manager().cell("dual_gate_lstm.v1").create(options, input_size=X, hidden_size=H)


def test_an_arity_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="arity must be at least 1, got 0"):
        DualGateLSTM(input_size=X, hidden_size=H, arity=0)
