"""The Tree-LSTM of SPINN against Bowman et al. 2016, equations (1)-(4), in NumPy."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from thinstack.core.cell import Links
from thinstack.errors import ConfigError
from thinstack.plugins.cells.spinn_lstm import SpinnLSTM
from thinstack.plugins.manager import manager

X, H, ROWS = 3, 4, 5
NONE = torch.zeros(0, dtype=torch.long)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def random_cell(inner_size: int = 0) -> SpinnLSTM:
    """In float64, with biases that are not zero."""
    torch.manual_seed(3)
    cell = SpinnLSTM(input_size=X, hidden_size=H, inner_size=inner_size).double()
    for part in cell.parameters():
        nn.init.normal_(part)
    return cell


def composed(cell: SpinnLSTM, e: Tensor, h: Tensor, c: Tensor) -> list[np.ndarray]:
    links = Links(NONE, torch.ones(h.shape[:2], dtype=torch.long))
    return [part.detach().numpy() for part in cell.compose(e, [h.clone(), c.clone()], links)]


def node(
    cell: SpinnLSTM, top: tuple, second: tuple, e: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(1)-(3): (h, c) from those of the top of the stack and of the node under it."""
    (h_1, c_1), (h_2, c_2) = top, second
    w, b = cell.w_comp.detach().numpy(), np.split(cell.b_comp.detach().numpy(), 5)
    gates = {}
    for place, gate in enumerate(("i", "o", "f_l", "f_r", "g")):
        of_h_2, of_h_1, of_e = np.split(w[:, place * H : (place + 1) * H], [H, 2 * H])
        gates[gate] = h_1 @ of_h_1 + h_2 @ of_h_2 + e @ of_e + b[place]
    c = (
        sigmoid(gates["f_l"]) * c_2
        + sigmoid(gates["f_r"]) * c_1
        + sigmoid(gates["i"]) * np.tanh(gates["g"])
    )
    return sigmoid(gates["o"]) * np.tanh(c), c


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("inner_size", [0, 2, X])
def test_the_equations_at_inner_nodes(inner_size: int, grad: bool) -> None:
    """The left child lies under the right one, which is the top of the stack."""
    cell = random_cell(inner_size)
    h, c, e = (
        torch.randn(*shape, dtype=torch.float64)
        for shape in ((ROWS, 2, H), (ROWS, 2, H), (ROWS, inner_size))
    )
    with torch.set_grad_enabled(grad):
        found = composed(cell, e, h, c)
    for row in range(ROWS):
        left, right = ((h[row, k].numpy(), c[row, k].numpy()) for k in range(2))
        expected = node(cell, top=right, second=left, e=e[row].numpy())
        np.testing.assert_allclose([part[row] for part in found], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("inner_size", [0, 2])
def test_the_word_projection(inner_size: int) -> None:
    """(4): a linear map, h before c."""
    cell = random_cell(inner_size)
    x = torch.randn(ROWS, X, dtype=torch.float64)
    h, c = (part.detach().numpy() for part in cell.leaf(x))
    expected = x.numpy() @ cell.w_word.detach().numpy() + cell.b_word.detach().numpy()
    np.testing.assert_allclose(h, expected[:, :H], rtol=0, atol=1e-10)
    np.testing.assert_allclose(c, expected[:, H:], rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("sizes", "composition", "projection"),
    [
        ({"input_size": 300, "hidden_size": 300}, 901_500, 180_600),  # the encoder of SPINN-PI-NT
        (
            {"input_size": X, "hidden_size": H, "inner_size": 2},
            (2 * H + 2) * 5 * H + 5 * H,
            X * 2 * H + 2 * H,
        ),
    ],
)
def test_number_of_parameters(sizes: dict[str, int], composition: int, projection: int) -> None:
    cell = SpinnLSTM(**sizes)
    assert cell.w_comp.numel() + cell.b_comp.numel() == composition
    assert sum(part.numel() for part in cell.parameters()) == composition + projection


def test_fresh_weights_lie_within_the_fan_in() -> None:
    torch.manual_seed(1)
    cell = SpinnLSTM(input_size=100, hidden_size=50, inner_size=44)
    assert 0.09 < cell.w_word.detach().abs().max() <= 0.1
    assert 0.08 < cell.w_comp.detach().abs().max() <= 1 / 12
    assert not cell.b_word.any()
    assert not cell.b_comp.any()


@pytest.mark.parametrize("inner_size", [0, 2])
def test_rows_of_none(inner_size: int) -> None:
    cell = random_cell(inner_size)
    none = torch.zeros(0, 2, H).double()
    for state in (
        cell.leaf(torch.zeros(0, X).double()),
        composed(cell, torch.zeros(0, inner_size).double(), none, none),
    ):
        assert [tuple(part.shape) for part in state] == [(0, H), (0, H)]


def test_it_is_registered() -> None:
    cell = manager().cell("spinn_lstm.v1").create({}, input_size=X, hidden_size=H, inner_size=2)
    assert isinstance(cell, SpinnLSTM)
    assert (cell.arity, cell.kinds, cell.input_size, cell.hidden_size, cell.inner_size) == (
        2,
        0,
        X,
        H,
        2,
    )
    assert cell.state_sizes == [H, H]


def test_it_has_no_options() -> None:
    with pytest.raises(ConfigError, match=r"spinn_lstm\.v1.*arity"):
        manager().cell("spinn_lstm.v1").create({"arity": 2}, input_size=X, hidden_size=H)
