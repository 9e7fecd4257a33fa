"""The S-LSTM against Teng & Zhang 2017, equations (1) and (4)-(7), in NumPy, and against the size
in their Table 4."""

import copy

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from thinstack.core import Forest
from thinstack.core.cell import Links
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.core.schedule import schedule_parents
from thinstack.data.brackets import from_brackets
from thinstack.errors import ConfigError
from thinstack.plugins.cells.s_lstm import SLSTM, SLSTMOptions
from thinstack.plugins.manager import manager

X, H, ROWS = 3, 4, 5
LINKS = Links(torch.zeros(0, dtype=torch.long), torch.ones(ROWS, 2, dtype=torch.long))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def random_cell() -> SLSTM:
    """In float64, with biases that are not zero."""
    torch.manual_seed(3)
    cell = SLSTM(input_size=X, hidden_size=H).double()
    nn.init.normal_(cell.b)
    return cell


class Paper:
    """The parameters under the names of the paper, such as W["hfl", "L"]; W h is h @ W here."""

    def __init__(self, cell: SLSTM):
        w = {name: part.detach().numpy() for name, part in cell.named_parameters()}
        self.b = dict(zip(("fl", "fr", "i", "g", "o"), np.split(w["b"], 5), strict=True))
        self.W: dict = {}
        for source, rows in zip(
            [("h", "L"), ("h", "R"), ("c", "L"), ("c", "R")], np.split(w["w_fi"], 4), strict=True
        ):
            for gate, block in zip(("fl", "fr", "i"), np.split(rows, 3, axis=1), strict=True):
                self.W[source[0] + gate, source[1]] = block
        self.W["hg", "L"], self.W["hg", "R"] = np.split(w["w_g"], 2)
        self.W["ho", "L"], self.W["ho", "R"], self.W["co"] = np.split(w["w_o"], 3)
        self.W["xi"], self.W["xg"], self.W["xo"] = np.split(w["w_x"], 3, axis=1)

    def node(self, left: tuple, right: tuple) -> tuple[np.ndarray, np.ndarray]:
        """h and c over two children, each an h and a c."""
        (h_l, c_l), (h_r, c_r) = left, right
        W, b = self.W, self.b

        def gate(k: str) -> np.ndarray:
            return sigmoid(
                h_l @ W[f"h{k}", "L"]
                + h_r @ W[f"h{k}", "R"]
                + c_l @ W[f"c{k}", "L"]
                + c_r @ W[f"c{k}", "R"]
                + b[k]
            )

        g = np.tanh(h_l @ W["hg", "L"] + h_r @ W["hg", "R"] + b["g"])
        c = gate("fl") * c_l + gate("fr") * c_r + gate("i") * g
        o = sigmoid(h_l @ W["ho", "L"] + h_r @ W["ho", "R"] + c @ W["co"] + b["o"])
        return o * np.tanh(c), c

    def leaf(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        c = sigmoid(x @ self.W["xi"] + self.b["i"]) * np.tanh(x @ self.W["xg"] + self.b["g"])
        return sigmoid(x @ self.W["xo"] + c @ self.W["co"] + self.b["o"]) * np.tanh(c), c


@pytest.mark.parametrize("grad", [True, False])
def test_the_equations_at_inner_nodes(grad: bool) -> None:
    cell = random_cell()
    h, c = (torch.randn(ROWS, 2, H, dtype=torch.float64) for _ in "hc")
    with torch.set_grad_enabled(grad):
        found = [
            part.detach().numpy()
            for part in cell.compose(h.new_zeros(ROWS, 0), [h.clone(), c.clone()], LINKS)
        ]
    for row in range(ROWS):
        left, right = ((h[row, k].numpy(), c[row, k].numpy()) for k in range(2))
        expected = Paper(cell).node(left, right)
        np.testing.assert_allclose((found[0][row], found[1][row]), expected, rtol=0, atol=1e-10)


def test_the_equations_at_leaves() -> None:
    cell = random_cell()
    x = torch.randn(ROWS, X, dtype=torch.float64)
    h, c = (part.detach().numpy() for part in cell.leaf(x))
    for row in range(ROWS):
        np.testing.assert_allclose(
            (h[row], c[row]), Paper(cell).leaf(x[row].numpy()), rtol=0, atol=1e-10
        )


def test_a_sentence_of_three_words() -> None:
    cell = random_cell()
    words = torch.randn(3, X, dtype=torch.float64)
    forest = Forest.of([from_brackets("(3 (2 a) (3 (2 b) (2 c)))")])
    schedule = schedule_parents(
        *(torch.from_numpy(part) for part in (forest.parents, forest.slots, forest.kinds)), 2
    )
    _, root = DepthOrdered(cell)(words[schedule.leaf_words], words.new_zeros(2, 0), schedule)[:2]
    paper = Paper(cell)
    a, b, c = (paper.leaf(word.numpy()) for word in words)
    np.testing.assert_allclose(
        root[0].detach(), paper.node(a, paper.node(b, c))[0], rtol=0, atol=1e-10
    )


def test_number_of_parameters() -> None:
    """17 H x H matrices, three W_x and 5 biases; ConTree at 150 of their Table 4, without its
    classifier."""
    for x, h in ((X, H), (300, 150)):
        cell = SLSTM(input_size=x, hidden_size=h)
        assert sum(part.numel() for part in cell.parameters()) == 17 * h * h + 3 * x * h + 5 * h
    assert sum(part.numel() for part in cell.parameters()) == 538_223 - (
        150 * 128 + 128 + 128 * 5 + 5
    )
    assert (cell.state_sizes, cell.arity, cell.inner_size, cell.kinds, cell.word_part) == (
        [150, 150],
        2,
        0,
        0,
        -1,
    )


def test_fresh_weights_lie_within_the_fan_in() -> None:
    torch.manual_seed(1)
    cell = SLSTM(input_size=100, hidden_size=50)
    for matrix, fan_in in ((cell.w_x, 100), (cell.w_fi, 200), (cell.w_g, 100), (cell.w_o, 150)):
        assert 0.95 * fan_in**-0.5 < matrix.detach().abs().max() <= fan_in**-0.5
    assert not cell.b.any()


@pytest.mark.parametrize("grad", [True, False])
def test_float32_equals_float64(grad: bool) -> None:
    """In widths where float32 may take other kernels, values and gradients."""
    torch.manual_seed(5)
    cell = SLSTM(input_size=48, hidden_size=40)
    exact = copy.deepcopy(cell).double()
    words, links = torch.randn(2 * ROWS, 48), LINKS
    found: list[list[Tensor]] = []
    for each, x in ((cell, words), (exact, words.double())):
        with torch.set_grad_enabled(grad):
            state = each.compose(
                x.new_zeros(ROWS, 0), [part.view(ROWS, 2, 40) for part in each.leaf(x)], links
            )
        loss = state[0].sum() + state[1].sum()
        found.append(
            [*state, *(torch.autograd.grad(loss, list(each.parameters())) if grad else [])]
        )
    for value, expected in zip(*found, strict=True):
        torch.testing.assert_close(value.double(), expected, rtol=1e-5, atol=1e-5)


def test_it_is_registered() -> None:
    cell = manager().cell("s_lstm.v1").create({}, input_size=X, hidden_size=H, inner_size=X)
    assert isinstance(cell, SLSTM)
    assert (cell.input_size, cell.hidden_size, cell.inner_size) == (X, H, 0)


def test_it_has_no_options() -> None:
    assert not SLSTMOptions.model_fields
    with pytest.raises(ConfigError, match=r"s_lstm\.v1.*arity"):
        manager().cell("s_lstm.v1").create({"arity": 2}, input_size=X, hidden_size=H)
