"""The N-ary Tree-LSTM against Tai et al. 2015, equations (9)-(14), in NumPy, and against torch's
LSTM on a chain."""

import copy
from itertools import product
from typing import Any

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
from thinstack.plugins.cells.nary_lstm import NaryLSTM, NaryLSTMOptions
from thinstack.plugins.manager import manager

X, H, ROWS = 3, 4, 5
NONE = torch.zeros(0, dtype=torch.long)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


CHOICES = {
    "forget": ("full", "tied", "diagonal"),
    "leaf": ("shared", "own"),
    "bias": ("single", "double"),
    "output_gate": (True, False),
}
EVERY_OPTION = [dict(zip(CHOICES, values, strict=True)) for values in product(*CHOICES.values())]


def random_cell(**keywords: Any) -> NaryLSTM:
    """In float64, with biases that are not zero."""
    torch.manual_seed(3)
    cell = NaryLSTM(input_size=X, hidden_size=H, **keywords).double()
    for part in cell.parameters():
        nn.init.normal_(part)
    return cell


class Paper:
    """W, U and b of each gate under the names of the paper; W x is x @ W here.

    `maps[gate]` says for each child which recurrent map leads from it to the gate: its key in `u`
    and `b_u`.
    """

    def __init__(
        self,
        cell: NaryLSTM,
        *,
        forget: str = "full",
        leaf: str = "shared",
        bias: str = "single",
        output_gate: bool = True,
    ):
        self.part = {name: part.detach().numpy() for name, part in cell.named_parameters()}
        self.own_leaf, self.output_gate = leaf == "own", output_gate
        every, forgets = range(cell.arity), [f"f{k}" for k in range(cell.arity)]
        first = ["i", "o"] if output_gate else ["i"]
        self.w, self.b = (self.columns([*first, "u", "f"], name) for name in "wb")
        self.maps: dict[str, list[Any]] = {
            gate: [(gate, child) for child in every] for gate in [*first, "u"]
        }
        for k, gate in enumerate(forgets):
            self.maps[gate] = [
                (gate, child) if forget == "full" or child == k else forget for child in every
            ]
        blocks = self.columns([*first, *(forgets if forget == "full" else []), "u"], "u")
        self.u: dict[Any, np.ndarray] = {
            (gate, child): u
            for gate, block in blocks.items()
            for child, u in enumerate(np.split(block, cell.arity))
        }
        of_f = [*dict.fromkeys(key for gate in forgets for key in self.maps[gate] if key != forget)]
        of_f += ["tied"] if forget == "tied" else []
        if forget != "full":
            self.u |= zip(of_f, self.part["u_f"], strict=True)
        order = [*(key for gate in first for key in self.maps[gate]), *of_f, *self.maps["u"]]
        self.b_u: dict[Any, np.ndarray] = {}
        if bias == "double":
            self.b_u = dict(zip(order, self.part["b_u"].reshape(-1, H), strict=True))

    def columns(self, gates: list[str], name: str) -> dict[str, np.ndarray]:
        """The columns of a parameter, H for each gate in turn; none where there is no such
        parameter."""
        part = self.part.get(name)
        return (
            {}
            if part is None
            else dict(zip(gates, np.split(part, part.shape[-1] // H, axis=-1), strict=False))
        )

    def node(
        self, x: np.ndarray | None, h: list[np.ndarray], c: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """h_j and c_j of a node with input x (None: no input) and children's h and c."""

        def before(gate: str) -> np.ndarray:
            total = self.b.get(gate[0], 0) + sum(self.b_u.get(key, 0) for key in self.maps[gate])
            total = total + sum(
                h_l @ self.u[key]
                for h_l, key in zip(h, self.maps[gate], strict=False)
                if key != "diagonal"
            )
            return total if x is None else total + x @ self.w[gate[0]]

        c_j = sigmoid(before("i")) * np.tanh(before("u")) + sum(
            sigmoid(before(f"f{k}")) * c_k for k, c_k in enumerate(c)
        )
        return (sigmoid(before("o")) if self.output_gate else 1) * np.tanh(c_j), c_j

    def leaf(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """h and c of a leaf: by the same equations, or c = W x + b, o = sigmoid(W_o x + b_o), h = o
        * tanh(c)."""
        if not self.own_leaf:
            return self.node(x, [], [])
        c, *o = np.split(
            x @ self.part["w_leaf"] + self.part["b_leaf"], 2 if self.output_gate else 1
        )
        return (sigmoid(o[0]) if self.output_gate else 1) * np.tanh(c), c


def random_children(arity: int) -> list[Tensor]:
    random = torch.Generator().manual_seed(arity)
    return [torch.randn(ROWS, arity, H, generator=random, dtype=torch.float64) for _ in "hc"]


def composed(cell: NaryLSTM, x: Tensor, children: list[Tensor]) -> list[np.ndarray]:
    links = Links(NONE, torch.ones(children[0].shape[:2], dtype=torch.long))
    return [
        part.detach().numpy()
        for part in cell.compose(x, [part.clone() for part in children], links)
    ]


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("inner_size", [0, X])
@pytest.mark.parametrize("arity", [1, 2, 3])
def test_the_equations_at_inner_nodes(arity: int, inner_size: int, grad: bool) -> None:
    cell, children = random_cell(arity=arity, inner_size=inner_size), random_children(arity)
    x = torch.randn(ROWS, inner_size, dtype=torch.float64)
    with torch.set_grad_enabled(grad):
        h, c = composed(cell, x, children)
    for row in range(ROWS):
        expected = Paper(cell).node(
            x[row].numpy() if inner_size else None, *(list(part[row].numpy()) for part in children)
        )
        np.testing.assert_allclose((h[row], c[row]), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    "options", EVERY_OPTION, ids=lambda options: "-".join(map(str, options.values()))
)
@pytest.mark.parametrize("inner_size", [0, X])
@pytest.mark.parametrize("arity", [1, 2, 3])
def test_the_equations_under_every_option(
    arity: int, inner_size: int, options: dict[str, Any]
) -> None:
    cell = random_cell(arity=arity, inner_size=inner_size, **options)
    paper = Paper(
        cell, **options | ({"forget": "full"} if arity == 1 else {})
    )  # of one child nothing is off the diagonal
    children = random_children(arity)
    words, x = (
        torch.randn(ROWS, X, dtype=torch.float64),
        torch.randn(ROWS, inner_size, dtype=torch.float64),
    )
    leaves = [part.detach().numpy() for part in cell.leaf(words)]
    h, c = composed(cell, x, children)
    for row in range(ROWS):
        expected = paper.leaf(words[row].numpy())
        np.testing.assert_allclose([part[row] for part in leaves], expected, rtol=0, atol=1e-10)
        expected = paper.node(
            x[row].numpy() if inner_size else None, *(list(part[row].numpy()) for part in children)
        )
        np.testing.assert_allclose((h[row], c[row]), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("arity", [2, 3])
def test_a_missing_child_counts_as_zeros(arity: int) -> None:
    """A node over slot 1 alone, through the executor."""
    cell = random_cell(arity=arity)
    words = torch.randn(1, X, dtype=torch.float64)
    schedule = schedule_parents(
        torch.tensor([1, -1]), torch.tensor([1, 0]), torch.tensor([1, 1]), arity
    )
    root = DepthOrdered(cell)(words, words.new_zeros(1, 0), schedule)[1]
    paper, zero = Paper(cell), np.zeros(H)
    h, c = paper.node(words[0].numpy(), [], [])
    expected, _ = paper.node(None, [zero, h, zero][:arity], [zero, c, zero][:arity])
    np.testing.assert_allclose(root[0].detach(), expected, rtol=0, atol=1e-10)


def test_a_sentence_of_three_words() -> None:
    cell = random_cell(arity=2)
    words = torch.randn(3, X, dtype=torch.float64)
    forest = Forest.of([from_brackets("(3 (2 a) (3 (2 b) (2 c)))")])
    schedule = schedule_parents(
        *(torch.from_numpy(part) for part in (forest.parents, forest.slots, forest.kinds)), 2
    )
    root = DepthOrdered(cell)(words[schedule.leaf_words], words.new_zeros(2, 0), schedule)[1]
    paper = Paper(cell)
    a, b, c = (paper.node(word.numpy(), [], []) for word in words)
    bc = paper.node(None, [b[0], c[0]], [b[1], c[1]])
    np.testing.assert_allclose(
        root[0].detach(), paper.node(None, [a[0], bc[0]], [a[1], bc[1]])[0], rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("bias", ["single", "double"])
def test_on_a_chain_it_is_an_lstm(bias: str) -> None:
    """The first word is the leaf. torch's gates are i, f, g, o; its second bias is that of the
    recurrent map, or zero."""
    size = 7
    cell = random_cell(arity=1, inner_size=X, bias=bias)
    paper = Paper(cell, bias=bias)
    lstm = nn.LSTM(X, H).double()
    recurrent = ("i", "f0", "u", "o")
    rows = {
        "weight_ih_l0": np.concatenate([paper.w[gate] for gate in "ifuo"], axis=1).T,
        "weight_hh_l0": np.concatenate([paper.u[gate, 0] for gate in recurrent], axis=1).T,
        "bias_ih_l0": np.concatenate([paper.b[gate] for gate in "ifuo"]),
        "bias_hh_l0": np.concatenate([paper.b_u.get((gate, 0), np.zeros(H)) for gate in recurrent]),
    }
    assert rows["bias_hh_l0"].any() == (bias == "double")
    lstm.load_state_dict(
        {name: torch.from_numpy(np.ascontiguousarray(part)) for name, part in rows.items()}
    )
    words = torch.randn(size, X, dtype=torch.float64)
    chain = schedule_parents(
        torch.tensor([*range(1, size), -1]), NONE.new_zeros(size), NONE.new_ones(size), 1
    )
    encoded = DepthOrdered(cell)(words[:1], words[1:], chain)
    expected, _ = lstm(words)
    torch.testing.assert_close(encoded[0], expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(encoded[1], expected[-1:], rtol=0, atol=1e-12)


def parameters(options: dict[str, Any], **sizes: int) -> int:
    cell = manager().cell("nary_lstm.v1").create(options, **sizes)
    return sum(part.numel() for part in cell.parameters())


@pytest.mark.parametrize("words_at", ["chain", "chain of two layers", "leaves"])
@pytest.mark.parametrize("output_gate", [False, True])
def test_number_of_parameters_in_the_papers_runs(words_at: str, output_gate: bool) -> None:
    """Tai et al. 2015, Table 1: relatedness without an output gate, sentiment with it."""
    options: dict[str, Any] = {"bias": "double", "output_gate": output_gate}
    if words_at == "leaves":
        d, expected = (150, 316_800) if output_gate else (142, 205_190)
        assert parameters({"leaf": "own", **options}, input_size=300, hidden_size=d) == expected
    elif words_at == "chain":
        d, expected = (168, 315_840) if output_gate else (150, 203_400)
        assert (
            parameters({"arity": 1, **options}, input_size=300, inner_size=300, hidden_size=d)
            == expected
        )
    else:
        d, expected = (120, 318_720) if output_gate else (108, 203_472)
        layers = [
            parameters({"arity": 1, **options}, input_size=x, inner_size=x, hidden_size=d)
            for x in (300, d)
        ]
        assert sum(layers) == expected


@pytest.mark.parametrize(("forget", "maps"), [("full", 9), ("tied", 4), ("diagonal", 3)])
def test_number_of_recurrent_maps(forget: str, maps: int) -> None:
    """Of three children: nine of i, o and u, and those of f; each has a matrix and, on demand, a
    bias."""
    without = parameters({"arity": 3, "forget": forget}, input_size=X, hidden_size=H)
    assert without == 3 * X * H + 4 * H + (9 + maps) * H * H
    assert (
        parameters({"arity": 3, "forget": forget, "bias": "double"}, input_size=X, hidden_size=H)
        == without + (9 + maps) * H
    )


@pytest.mark.parametrize(("inner_size", "gates_of_x"), [(0, 3), (X, 4)])
@pytest.mark.parametrize("arity", [1, 2, 3])
def test_number_of_parameters(arity: int, inner_size: int, gates_of_x: int) -> None:
    """W for each gate that reads an x, U_i, U_o and U_u for each child and U_f for each pair of
    children, four biases."""
    cell = NaryLSTM(input_size=X, hidden_size=H, inner_size=inner_size, arity=arity)
    expected = gates_of_x * X * H + (3 * arity + arity * arity) * H * H + 4 * H
    assert sum(part.numel() for part in cell.parameters()) == expected
    assert list(cell.state_dict()) == ["w", "u", "b"]
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
            state = each.compose(
                x.new_zeros(rows, 0), children, Links(NONE, torch.ones(rows, 2, dtype=torch.long))
            )
        loss = ((state[0] + state[1]) * weight).sum()
        found.append(
            [*state, *(torch.autograd.grad(loss, list(each.parameters())) if grad else [])]
        )
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
    options = {"arity": 3, "forget": "tied", "leaf": "own", "bias": "double", "output_gate": False}
    cell = manager().cell("nary_lstm.v1").create(options, input_size=X, hidden_size=H, inner_size=X)
    assert isinstance(cell, NaryLSTM)
    assert (cell.arity, cell.input_size, cell.hidden_size, cell.inner_size) == (3, X, H, X)
    assert (cell.forget, cell.own_leaf, cell.double_bias, cell.output_gate) == (
        "tied",
        True,
        True,
        False,
    )
    default = manager().cell("nary_lstm.v1").create({}, input_size=X, hidden_size=H)
    assert (default.arity, default.inner_size) == (2, 0)


@pytest.mark.parametrize(
    "options",
    [
        {"arity": 0},
        {"arity": "two"},
        {"n": 2},
        {"forget": "none"},
        {"leaf": "mine"},
        {"bias": 2},
        {"output_gate": "half"},
    ],
)
def test_wrong_options(options: dict) -> None:
    with pytest.raises(ValidationError):
        NaryLSTMOptions(**options)
    with pytest.raises(ConfigError, match=rf"nary_lstm\.v1.*{next(iter(options))}"):
        manager().cell("nary_lstm.v1").create(options, input_size=X, hidden_size=H)
