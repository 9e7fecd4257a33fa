"""The top-down LSTM against Teng & Zhang 2017, equations (13)-(14), in NumPy, and against the sizes
in their Table 4."""

import copy

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import Tensor, nn

from thinstack.core.cell import Links
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.core.schedule import schedule_parents
from thinstack.errors import ConfigError
from thinstack.plugins.cells.top_down_lstm import TopDownLSTM, TopDownLSTMOptions
from thinstack.plugins.manager import manager

X, H, ROWS = 3, 4, 7
NONE = torch.zeros(0, dtype=torch.long)
WAYS = ["shared", "per_side"]


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def random_cell(inputs: str, kinds: int = 2) -> TopDownLSTM:
    """In float64, with biases that are not zero."""
    torch.manual_seed(3)
    cell = TopDownLSTM(input_size=X, hidden_size=H, kinds=kinds, inputs=inputs).double()
    nn.init.normal_(cell.b)
    return cell


class Paper:
    """The parameters of each side (1, 2, ..) under the names of the paper, such as W[1]["hf"]; W h
    is h @ W here."""

    def __init__(self, cell: TopDownLSTM):
        w = {name: part.detach().numpy() for name, part in cell.named_parameters()}
        of_x, of_b = (np.split(w[name], w["b"].size // (4 * H), axis=-1) for name in ("w_x", "b"))
        fi, g, o = (np.split(w[name], cell.kinds, axis=1) for name in ("w_fi", "w_g", "w_o"))
        self.W: dict[int, dict[str, np.ndarray]] = {}
        self.b: dict[int, dict[str, np.ndarray]] = {}
        for side in range(cell.kinds):
            own = side if len(of_x) > 1 else 0
            self.b[side + 1] = dict(zip("figo", np.split(of_b[own], 4), strict=True))
            named = dict(zip(("xf", "xi", "xg", "xo"), np.split(of_x[own], 4, axis=1), strict=True))
            for gate, block in zip("fi", np.split(fi[side], 2, axis=1), strict=True):
                named[f"h{gate}"], named[f"c{gate}"] = np.split(block, 2)
            named["hg"] = g[side]
            named["ho"], named["co"] = np.split(o[side], 2)
            self.W[side + 1] = named

    def step(
        self, side: int, x: np.ndarray, h: np.ndarray, c: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """h_t and c_t of child number `side` from its x_t and its parent's h_t-1 and c_t-1."""
        W, b = self.W[side], self.b[side]
        i = sigmoid(x @ W["xi"] + h @ W["hi"] + c @ W["ci"] + b["i"])
        f = sigmoid(x @ W["xf"] + h @ W["hf"] + c @ W["cf"] + b["f"])
        g = np.tanh(x @ W["xg"] + h @ W["hg"] + b["g"])
        c = f * c + i * g
        o = sigmoid(x @ W["xo"] + h @ W["ho"] + c @ W["co"] + b["o"])
        return o * np.tanh(c), c


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("kinds", [1, 2, 3])
@pytest.mark.parametrize("inputs", WAYS)
def test_the_equations(inputs: str, kinds: int, grad: bool) -> None:
    cell = random_cell(inputs, kinds)
    x, (h, c) = torch.randn(ROWS, X).double(), (torch.randn(ROWS, 1, H).double() for _ in "hc")
    sides = torch.arange(ROWS).remainder(kinds).add(1).flip(0)
    with torch.set_grad_enabled(grad):
        found = cell.compose(x, [h.clone(), c.clone()], Links(NONE, sides.unsqueeze(1)))
    for row, side in enumerate(sides.tolist()):
        expected = Paper(cell).step(side, x[row].numpy(), h[row, 0].numpy(), c[row, 0].numpy())
        np.testing.assert_allclose(
            [part[row].detach() for part in found], expected, rtol=0, atol=1e-10
        )


@pytest.mark.parametrize("inputs", WAYS)
def test_the_root_is_a_left_child_of_zeros(inputs: str) -> None:
    cell = random_cell(inputs)
    x = torch.randn(ROWS, X).double()
    found = cell.leaf(x)
    for row in range(ROWS):
        expected = Paper(cell).step(1, x[row].numpy(), np.zeros(H), np.zeros(H))
        np.testing.assert_allclose(
            [part[row].detach() for part in found], expected, rtol=0, atol=1e-10
        )


@pytest.mark.parametrize("inputs", WAYS)
@pytest.mark.parametrize("sides", [[1, 1, 2], [1, 2, 1]])
def test_two_paths_from_the_root(sides: list[int], inputs: str) -> None:
    """Those to the nodes 7 and 8 of Figure 4."""
    cell, paper = random_cell(inputs), Paper(random_cell(inputs))
    words = torch.randn(4, X).double()
    path = schedule_parents(
        torch.tensor([1, 2, 3, -1]), NONE.new_zeros(4), torch.tensor([*sides, 1]), 1
    )
    last = DepthOrdered(cell)(words[:1], words[1:], path)[1]
    h, c = paper.step(1, words[0].numpy(), np.zeros(H), np.zeros(H))
    for side, word in zip(sides, words[1:], strict=True):
        h, c = paper.step(side, word.numpy(), h, c)
    np.testing.assert_allclose(last[0].detach(), h, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("hidden", "both", "up"), [(75, 564_923, 376_673), (150, 1_297_523, 763_523)]
)
def test_number_of_parameters(hidden: int, both: int, up: int) -> None:
    """BiConTree over ConTree+Lex of their Table 4, where a classifier reads 3 H instead of H."""
    cell = TopDownLSTM(input_size=300, hidden_size=hidden)
    count = sum(part.numel() for part in cell.parameters())
    assert count == both - up - 2 * hidden * 128
    assert count == 4 * 300 * hidden + 14 * hidden * hidden + 4 * hidden


@pytest.mark.parametrize("kinds", [1, 2, 3])
def test_number_of_parameters_by_sides(kinds: int) -> None:
    shared, per_side = (
        TopDownLSTM(input_size=X, hidden_size=H, kinds=kinds, inputs=inputs) for inputs in WAYS
    )
    of_x, of_state = 4 * X * H + 4 * H, 7 * H * H
    assert sum(part.numel() for part in shared.parameters()) == of_x + kinds * of_state
    assert sum(part.numel() for part in per_side.parameters()) == kinds * (of_x + of_state)
    assert (shared.state_sizes, shared.arity, shared.inner_size, shared.kinds) == (
        [H, H],
        1,
        X,
        kinds,
    )


def test_fresh_weights_lie_within_the_fan_in() -> None:
    torch.manual_seed(1)
    cell = TopDownLSTM(input_size=100, hidden_size=50)
    for matrix, fan_in in ((cell.w_x, 100), (cell.w_fi, 100), (cell.w_g, 50), (cell.w_o, 100)):
        assert 0.95 * fan_in**-0.5 < matrix.detach().abs().max() <= fan_in**-0.5
    assert not cell.b.any()


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("inputs", WAYS)
def test_float32_equals_float64(inputs: str, grad: bool) -> None:
    """In widths where float32 may take other kernels, values and gradients."""
    torch.manual_seed(5)
    cell = TopDownLSTM(input_size=48, hidden_size=40, inputs=inputs)
    exact = copy.deepcopy(cell).double()
    words, links = (
        torch.randn(2 * ROWS, 48),
        Links(NONE, torch.tensor([1, 2, 2, 1, 2, 1, 1]).unsqueeze(1)),
    )
    found: list[list[Tensor]] = []
    for each, x in ((cell, words), (exact, words.double())):
        with torch.set_grad_enabled(grad):
            state = each.compose(
                x[ROWS:], [part.unsqueeze(1) for part in each.leaf(x[:ROWS])], links
            )
        loss = torch.cat(state, 1).sum()
        found.append(
            [*state, *(torch.autograd.grad(loss, list(each.parameters())) if grad else [])]
        )
    for value, expected in zip(*found, strict=True):
        torch.testing.assert_close(value.double(), expected, rtol=1e-5, atol=1e-5)


def test_it_is_registered() -> None:
    spec = manager().cell("top_down_lstm.v1")
    cell = spec.create({"inputs": "per_side"}, input_size=X, hidden_size=H, inner_size=X, kinds=3)
    assert isinstance(cell, TopDownLSTM)
    assert (cell.per_side, cell.kinds, cell.inner_size) == (True, 3, X)
    default = spec.create({}, input_size=X, hidden_size=H, inner_size=X, kinds=0)
    assert isinstance(default, TopDownLSTM)
    assert (default.per_side, default.kinds) == (False, 1)


@pytest.mark.parametrize("options", [{"inputs": "both"}, {"kinds": 2}])
def test_wrong_options(options: dict) -> None:
    with pytest.raises(ValidationError):
        TopDownLSTMOptions(**options)
    with pytest.raises(ConfigError, match=rf"top_down_lstm\.v1.*{next(iter(options))}"):
        manager().cell("top_down_lstm.v1").create(
            options, input_size=X, hidden_size=H, inner_size=X
        )


def test_wrong_sizes() -> None:
    with pytest.raises(ValueError, match="kinds must be at least 1, got 0"):
        TopDownLSTM(input_size=X, hidden_size=H, kinds=0)
    with pytest.raises(ValueError, match="inputs must be 'shared' or 'per_side', got 'both'"):
        TopDownLSTM(input_size=X, hidden_size=H, inputs="both")
