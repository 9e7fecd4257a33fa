"""The peephole LSTM against Teng & Zhang 2017, equations (1)-(3), in NumPy, and without peepholes
against torch's LSTM."""

import copy

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from thinstack.core.cell import Links
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.core.schedule import Schedule, schedule_parents
from thinstack.errors import ConfigError
from thinstack.plugins.cells.peephole_lstm import PeepholeLSTM, PeepholeLSTMOptions
from thinstack.plugins.manager import manager

X, H, ROWS = 3, 4, 5
NONE = torch.zeros(0, dtype=torch.long)
LINKS = Links(NONE, torch.ones(ROWS, 1, dtype=torch.long))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def random_cell() -> PeepholeLSTM:
    """In float64, with biases that are not zero."""
    torch.manual_seed(3)
    cell = PeepholeLSTM(input_size=X, hidden_size=H).double()
    nn.init.normal_(cell.b)
    return cell


def chain(words: int) -> Schedule:
    return schedule_parents(
        torch.tensor([*range(1, words), -1]), NONE.new_zeros(words), NONE.new_ones(words), 1
    )


class Paper:
    """The parameters under the names of the paper, such as W["hf"]; W h is h @ W here."""

    def __init__(self, cell: PeepholeLSTM):
        w = {name: part.detach().numpy() for name, part in cell.named_parameters()}
        self.b = dict(zip("figo", np.split(w["b"], 4), strict=True))
        self.W: dict = {}
        for gate, block in (
            *zip("fi", np.split(w["w_fi"], 2, axis=1), strict=True),
            ("g", w["w_g"]),
            ("o", w["w_o"]),
        ):
            parts = zip("xhc", np.split(block, [X, X + H]), strict=True)
            self.W.update({source + gate: part for source, part in parts})

    def step(self, x: np.ndarray, h: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """h_t and c_t from x_t, h_t-1 and c_t-1."""
        W, b = self.W, self.b
        i = sigmoid(x @ W["xi"] + h @ W["hi"] + c @ W["ci"] + b["i"])
        f = sigmoid(x @ W["xf"] + h @ W["hf"] + c @ W["cf"] + b["f"])
        g = np.tanh(x @ W["xg"] + h @ W["hg"] + b["g"])
        c = f * c + i * g
        o = sigmoid(x @ W["xo"] + h @ W["ho"] + c @ W["co"] + b["o"])
        return o * np.tanh(c), c


@pytest.mark.parametrize("grad", [True, False])
def test_the_equations(grad: bool) -> None:
    cell = random_cell()
    x, (h, c) = torch.randn(ROWS, X).double(), (torch.randn(ROWS, 1, H).double() for _ in "hc")
    with torch.set_grad_enabled(grad):
        found = [part.detach().numpy() for part in cell.compose(x, [h.clone(), c.clone()], LINKS)]
    for row in range(ROWS):
        expected = Paper(cell).step(x[row].numpy(), h[row, 0].numpy(), c[row, 0].numpy())
        np.testing.assert_allclose((found[0][row], found[1][row]), expected, rtol=0, atol=1e-10)


def test_the_first_word_has_a_predecessor_of_zeros() -> None:
    cell = random_cell()
    x = torch.randn(ROWS, X).double()
    h, c = (part.detach().numpy() for part in cell.leaf(x))
    for row in range(ROWS):
        expected = Paper(cell).step(x[row].numpy(), np.zeros(H), np.zeros(H))
        np.testing.assert_allclose((h[row], c[row]), expected, rtol=0, atol=1e-10)


def test_a_sentence() -> None:
    cell = random_cell()
    words = torch.randn(6, X).double()
    stacked = DepthOrdered(cell)(words[:1], words[1:], chain(6))[0]
    h, c = np.zeros(H), np.zeros(H)
    for t, word in enumerate(words):
        h, c = Paper(cell).step(word.numpy(), h, c)
        np.testing.assert_allclose(stacked[t].detach(), h, rtol=0, atol=1e-10)


def test_without_peepholes_it_is_an_lstm() -> None:
    """torch's gates are i, f, g, o; its second bias stays zero."""
    cell = random_cell()
    with torch.no_grad():
        cell.w_fi[X + H :] = 0
        cell.w_o[X + H :] = 0
    W, b = Paper(cell).W, Paper(cell).b
    rows = {
        "weight_ih_l0": np.concatenate([W[f"x{gate}"] for gate in "ifgo"], axis=1).T,
        "weight_hh_l0": np.concatenate([W[f"h{gate}"] for gate in "ifgo"], axis=1).T,
        "bias_ih_l0": np.concatenate([b[gate] for gate in "ifgo"]),
        "bias_hh_l0": np.zeros(4 * H),
    }
    lstm = nn.LSTM(X, H).double()
    lstm.load_state_dict(
        {name: torch.from_numpy(np.ascontiguousarray(part)) for name, part in rows.items()}
    )
    words = torch.randn(7, X).double()
    stacked = DepthOrdered(cell)(words[:1], words[1:], chain(7))[0]
    torch.testing.assert_close(stacked, lstm(words)[0], rtol=0, atol=1e-12)


def test_number_of_parameters() -> None:
    cell = PeepholeLSTM(input_size=X, hidden_size=H)
    assert sum(part.numel() for part in cell.parameters()) == 4 * X * H + 7 * H * H + 4 * H
    assert (cell.state_sizes, cell.arity, cell.inner_size, cell.kinds, cell.word_part) == (
        [H, H],
        1,
        X,
        0,
        -1,
    )


def test_fresh_weights_lie_within_the_fan_in() -> None:
    torch.manual_seed(1)
    cell = PeepholeLSTM(input_size=100, hidden_size=50)
    for matrix, fan_in in ((cell.w_fi, 200), (cell.w_g, 150), (cell.w_o, 200)):
        assert 0.95 * fan_in**-0.5 < matrix.detach().abs().max() <= fan_in**-0.5
    assert not cell.b.any()


@pytest.mark.parametrize("grad", [True, False])
def test_float32_equals_float64(grad: bool) -> None:
    """In widths where float32 may take other kernels, values and gradients."""
    torch.manual_seed(5)
    cell = PeepholeLSTM(input_size=48, hidden_size=40)
    exact = copy.deepcopy(cell).double()
    words = torch.randn(2 * ROWS, 48)
    found: list[list[Tensor]] = []
    for each, x in ((cell, words), (exact, words.double())):
        with torch.set_grad_enabled(grad):
            state = each.compose(
                x[ROWS:], [part.unsqueeze(1) for part in each.leaf(x[:ROWS])], LINKS
            )
        loss = torch.cat(state, 1).sum()
        found.append(
            [*state, *(torch.autograd.grad(loss, list(each.parameters())) if grad else [])]
        )
    for value, expected in zip(*found, strict=True):
        torch.testing.assert_close(value.double(), expected, rtol=1e-5, atol=1e-5)


def test_it_is_registered() -> None:
    cell = manager().cell("peephole_lstm.v1").create({}, input_size=X, hidden_size=H, inner_size=X)
    assert isinstance(cell, PeepholeLSTM)
    assert (cell.input_size, cell.hidden_size, cell.inner_size) == (X, H, X)


def test_it_has_no_options() -> None:
    assert not PeepholeLSTMOptions.model_fields
    with pytest.raises(ConfigError, match=r"peephole_lstm\.v1.*arity"):
        manager().cell("peephole_lstm.v1").create({"arity": 1}, input_size=X, hidden_size=H)
