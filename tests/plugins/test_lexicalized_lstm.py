"""The lexicalized Tree-LSTM against Teng & Zhang 2017, equations (8)-(11), in NumPy, and against
the sizes in their Table 4."""

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
from thinstack.plugins.cells.lexicalized_lstm import LexicalizedLSTM, LexicalizedLSTMOptions
from thinstack.plugins.manager import manager

X, H, ROWS = 3, 4, 5
WIDTHS = (H, H, X)
LINKS = Links(torch.zeros(0, dtype=torch.long), torch.ones(ROWS, 2, dtype=torch.long))
WAYS = ["gate", "left", "right", "average"]

State = tuple[np.ndarray, np.ndarray, np.ndarray]


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def random_cell(lexicalize: str = "gate") -> LexicalizedLSTM:
    """In float64, with biases that are not zero."""
    torch.manual_seed(3)
    cell = LexicalizedLSTM(input_size=X, hidden_size=H, lexicalize=lexicalize).double()
    for name, part in cell.named_parameters():
        if name.startswith("b"):
            nn.init.normal_(part)
    return cell


class Paper:
    """The parameters under the names of the paper, such as W["hfl", "L"]; W h is h @ W here."""

    def __init__(self, cell: LexicalizedLSTM, lexicalize: str = "gate"):
        w = {name: part.detach().numpy() for name, part in cell.named_parameters()}
        self.lexicalize = lexicalize
        self.b = dict(zip(("fl", "fr", "i", "g", "o"), np.split(w["b"], 5), strict=True))
        self.W: dict = {}
        for source, rows in zip(
            [("h", "L"), ("h", "R"), ("c", "L"), ("c", "R")], np.split(w["w_fi"], 4), strict=True
        ):
            for gate, block in zip(("fl", "fr", "i"), np.split(rows, 3, axis=1), strict=True):
                self.W[source[0] + gate, source[1]] = block
        self.W["hg", "L"], self.W["hg", "R"] = np.split(w["w_g"], 2)
        self.W["ho", "L"], self.W["ho", "R"], self.W["co"] = np.split(w["w_o"], 3)
        self.W["xf"], self.W["xi"], self.W["xg"], self.W["xo"] = np.split(w["w_x"], 4, axis=1)
        if lexicalize == "gate":
            self.W["zx", "L"], self.W["zx", "R"] = np.split(w["w_z"], 2)
            self.b["z"] = w["b_z"]

    def head_word(self, x_l: np.ndarray, x_r: np.ndarray) -> np.ndarray:
        if self.lexicalize == "gate":
            z = sigmoid(x_l @ self.W["zx", "L"] + x_r @ self.W["zx", "R"] + self.b["z"])
            return z * x_l + (1 - z) * x_r
        return {"left": x_l, "right": x_r, "average": (x_l + x_r) / 2}[self.lexicalize]

    def node(self, left: State, right: State) -> State:
        (h_l, c_l, x_l), (h_r, c_r, x_r) = left, right
        W, b, x = self.W, self.b, self.head_word(x_l, x_r)

        def gate(k: str, of_x: str) -> np.ndarray:
            from_h = h_l @ W[f"h{k}", "L"] + h_r @ W[f"h{k}", "R"]
            return sigmoid(
                x @ W[of_x] + from_h + c_l @ W[f"c{k}", "L"] + c_r @ W[f"c{k}", "R"] + b[k]
            )

        g = np.tanh(x @ W["xg"] + h_l @ W["hg", "L"] + h_r @ W["hg", "R"] + b["g"])
        c = gate("fl", "xf") * c_l + gate("fr", "xf") * c_r + gate("i", "xi") * g
        o = sigmoid(x @ W["xo"] + h_l @ W["ho", "L"] + h_r @ W["ho", "R"] + c @ W["co"] + b["o"])
        return o * np.tanh(c), c, x

    def leaf(self, x: np.ndarray) -> State:
        c = sigmoid(x @ self.W["xi"] + self.b["i"]) * np.tanh(x @ self.W["xg"] + self.b["g"])
        return sigmoid(x @ self.W["xo"] + c @ self.W["co"] + self.b["o"]) * np.tanh(c), c, x


def assert_state(found: list[Tensor], row: int, expected: State) -> None:
    for part, value in zip(found, expected, strict=True):
        np.testing.assert_allclose(part[row].detach().numpy(), value, rtol=0, atol=1e-10)


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("lexicalize", WAYS)
def test_the_equations_at_inner_nodes(lexicalize: str, grad: bool) -> None:
    cell = random_cell(lexicalize)
    children = [torch.randn(ROWS, 2, width, dtype=torch.float64) for width in WIDTHS]
    with torch.set_grad_enabled(grad):
        found = cell.compose(
            children[0].new_zeros(ROWS, 0), [part.clone() for part in children], LINKS
        )
    for row in range(ROWS):
        left, right = (tuple(part[row, k].numpy() for part in children) for k in range(2))
        assert_state(found, row, Paper(cell, lexicalize).node(left, right))


@pytest.mark.parametrize("lexicalize", WAYS)
def test_the_equations_at_leaves(lexicalize: str) -> None:
    cell = random_cell(lexicalize)
    x = torch.randn(ROWS, X, dtype=torch.float64)
    found = cell.leaf(x)
    for row in range(ROWS):
        assert_state(found, row, Paper(cell, lexicalize).leaf(x[row].numpy()))


@pytest.mark.parametrize("lexicalize", WAYS)
def test_a_sentence_of_three_words(lexicalize: str) -> None:
    cell = random_cell(lexicalize)
    words = torch.randn(3, X, dtype=torch.float64)
    forest = Forest.of([from_brackets("(3 (2 a) (3 (2 b) (2 c)))")])
    schedule = schedule_parents(
        *(torch.from_numpy(part) for part in (forest.parents, forest.slots, forest.kinds)), 2
    )
    _, root = DepthOrdered(cell)(words[schedule.leaf_words], words.new_zeros(2, 0), schedule)[:2]
    paper = Paper(cell, lexicalize)
    a, b, c = (paper.leaf(word.numpy()) for word in words)
    np.testing.assert_allclose(
        root[0].detach(), paper.node(a, paper.node(b, c))[0], rtol=0, atol=1e-10
    )


@pytest.mark.parametrize(
    ("hidden", "printed"), [(75, 376_673), (150, 763_523), (215, 1_253_493), (300, 2_110_973)]
)
def test_number_of_parameters(hidden: int, printed: int) -> None:
    """ConTree+Lex of their Table 4, without its classifier."""
    cell = LexicalizedLSTM(input_size=300, hidden_size=hidden)
    assert sum(part.numel() for part in cell.parameters()) == printed - (
        hidden * 128 + 128 + 128 * 5 + 5
    )


@pytest.mark.parametrize("lexicalize", WAYS)
def test_a_gate_alone_has_parameters(lexicalize: str) -> None:
    cell = LexicalizedLSTM(input_size=X, hidden_size=H, lexicalize=lexicalize)
    expected = 17 * H * H + 4 * X * H + 5 * H + (2 * X * X + X if lexicalize == "gate" else 0)
    assert sum(part.numel() for part in cell.parameters()) == expected
    assert (cell.state_sizes, cell.arity, cell.inner_size, cell.word_part) == ([H, H, X], 2, 0, 2)


def test_fresh_weights_lie_within_the_fan_in() -> None:
    torch.manual_seed(1)
    cell = LexicalizedLSTM(input_size=100, hidden_size=50)
    assert cell.w_z is not None
    assert cell.b_z is not None
    for matrix, fan_in in (
        (cell.w_x, 100),
        (cell.w_fi, 200),
        (cell.w_g, 100),
        (cell.w_o, 150),
        (cell.w_z, 200),
    ):
        assert 0.95 * fan_in**-0.5 < matrix.detach().abs().max() <= fan_in**-0.5
    assert not cell.b.any()
    assert not cell.b_z.any()


@pytest.mark.parametrize("grad", [True, False])
def test_float32_equals_float64(grad: bool) -> None:
    """In widths where float32 may take other kernels, values and gradients."""
    torch.manual_seed(5)
    cell = LexicalizedLSTM(input_size=48, hidden_size=40)
    exact = copy.deepcopy(cell).double()
    words = torch.randn(2 * ROWS, 48)
    found: list[list[Tensor]] = []
    for each, x in ((cell, words), (exact, words.double())):
        with torch.set_grad_enabled(grad):
            state = each.compose(
                x.new_zeros(ROWS, 0), [part.view(ROWS, 2, -1) for part in each.leaf(x)], LINKS
            )
        loss = torch.cat(state, 1).sum()
        found.append(
            [*state, *(torch.autograd.grad(loss, list(each.parameters())) if grad else [])]
        )
    for value, expected in zip(*found, strict=True):
        torch.testing.assert_close(value.double(), expected, rtol=1e-5, atol=1e-5)


def test_it_is_registered() -> None:
    spec = manager().cell("lexicalized_lstm.v1")
    cell = spec.create({"lexicalize": "average"}, input_size=X, hidden_size=H)
    assert isinstance(cell, LexicalizedLSTM)
    assert cell.z == 0.5
    default = spec.create({}, input_size=X, hidden_size=H)
    assert isinstance(default, LexicalizedLSTM)
    assert default.w_z is not None


@pytest.mark.parametrize("options", [{"lexicalize": "middle"}, {"arity": 2}])
def test_wrong_options(options: dict) -> None:
    with pytest.raises(ValidationError):
        LexicalizedLSTMOptions(**options)
    with pytest.raises(ConfigError, match=rf"lexicalized_lstm\.v1.*{next(iter(options))}"):
        manager().cell("lexicalized_lstm.v1").create(options, input_size=X, hidden_size=H)


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(
        ValueError, match="lexicalize must be 'gate', 'left', 'right' or 'average', got 'middle'"
    ):
        LexicalizedLSTM(input_size=X, hidden_size=H, lexicalize="middle")
