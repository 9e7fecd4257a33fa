"""The Child-Sum Tree-LSTM against Tai et al. 2015, equations (2)-(8), in NumPy, and against torch's
LSTM on a chain."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from thinstack.core.cell import Links
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.core.schedule import schedule_parents
from thinstack.errors import ConfigError, PluginError
from thinstack.plugins.cells.child_sum_lstm import ChildSumLSTM
from thinstack.plugins.manager import manager

X, H, ROWS = 3, 4, 5
NONE = torch.zeros(0, dtype=torch.long)
OWNER = torch.tensor([3, 0, 3, 4, 1, 3])  # row 2 has no child, row 3 has three
EVERY_OPTION = [
    {"bias": bias, "output_gate": gate}
    for bias, gate in product(("single", "double"), (True, False))
]

every_option = pytest.mark.parametrize(
    "options", EVERY_OPTION, ids=lambda options: "-".join(map(str, options.values()))
)
every_inner_size = pytest.mark.parametrize("inner_size", [0, X])


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def random_cell(**keywords: Any) -> ChildSumLSTM:
    """In float64, with biases that are not zero."""
    torch.manual_seed(3)
    cell = ChildSumLSTM(input_size=X, hidden_size=H, **keywords).double()
    for part in cell.parameters():
        nn.init.normal_(part)
    return cell


class Paper:
    """W, U and b of each gate under the names of the paper, and b_u, the bias of U; W x is x @ W
    here."""

    def __init__(self, cell: ChildSumLSTM, bias: str = "single", output_gate: bool = True):
        self.output_gate = output_gate
        gates = "iuof" if output_gate else "iuf"
        b_u = cell.b_u if bias == "double" else torch.zeros_like(cell.b)
        parts = (part.detach().numpy() for part in (cell.w, cell.u, cell.b, b_u))
        self.w, self.u, self.b, self.b_u = (
            dict(zip(gates, np.split(part, part.shape[-1] // H, axis=-1), strict=False))
            for part in parts
        )

    def node(
        self, x: np.ndarray | None, h: list[np.ndarray], c: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """h_j and c_j of a node with input x (None: no input) and children's h and c."""

        def before(gate: str, hidden: np.ndarray) -> np.ndarray:
            total = hidden @ self.u[gate] + self.b[gate] + self.b_u[gate]
            return total if x is None else total + x @ self.w[gate]

        h_sum = sum(h, np.zeros(H))
        i, u = sigmoid(before("i", h_sum)), np.tanh(before("u", h_sum))
        c_j = i * u + sum(sigmoid(before("f", h_k)) * c_k for h_k, c_k in zip(h, c, strict=True))
        return (sigmoid(before("o", h_sum)) if self.output_gate else 1) * np.tanh(c_j), c_j


@every_option
@every_inner_size
def test_the_equations_at_inner_nodes(inner_size: int, options: dict[str, Any]) -> None:
    cell = random_cell(inner_size=inner_size, **options)
    x = torch.randn(ROWS, inner_size, dtype=torch.float64)
    children = [torch.randn(len(OWNER), H, dtype=torch.float64) for _ in "hc"]
    h, c = (
        part.detach().numpy()
        for part in cell.compose(x, [part.clone() for part in children], Links(OWNER, OWNER + 1))
    )
    for row in range(ROWS):
        below = [list(part[row == OWNER].numpy()) for part in children]
        expected = Paper(cell, **options).node(x[row].numpy() if inner_size else None, *below)
        np.testing.assert_allclose((h[row], c[row]), expected, rtol=0, atol=1e-10)


@every_option
@every_inner_size
def test_the_equations_at_leaves(inner_size: int, options: dict[str, Any]) -> None:
    cell = random_cell(inner_size=inner_size, **options)
    x = torch.randn(ROWS, X, dtype=torch.float64)
    h, c = (part.detach().numpy() for part in cell.leaf(x))
    for row in range(ROWS):
        np.testing.assert_allclose(
            (h[row], c[row]),
            Paper(cell, **options).node(x[row].numpy(), [], []),
            rtol=0,
            atol=1e-10,
        )


def test_a_dependency_tree_of_four_words() -> None:
    """Word 2 is the root, 0 and 3 hang on it and 1 on 0."""
    cell = random_cell(inner_size=X)
    words = torch.randn(4, X, dtype=torch.float64)
    schedule = schedule_parents(torch.tensor([2, 0, -1, 2]), NONE.new_zeros(4), NONE.new_ones(4), 0)
    assert schedule.leaf_words.tolist() == [0, 1]
    root = DepthOrdered(cell)(words[[1, 3]], words[[0, 2]], schedule)[1]
    paper = Paper(cell)
    one, three = (paper.node(words[word].numpy(), [], []) for word in (1, 3))
    zero = paper.node(words[0].numpy(), [one[0]], [one[1]])
    expected, _ = paper.node(words[2].numpy(), [zero[0], three[0]], [zero[1], three[1]])
    np.testing.assert_allclose(root[0].detach(), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("bias", ["single", "double"])
def test_on_a_chain_it_is_an_lstm(bias: str) -> None:
    """The first word is the leaf. torch's gates are i, f, g, o; its second bias is that of the
    recurrent map, or zero."""
    size = 7
    cell = random_cell(inner_size=X, bias=bias)
    paper = Paper(cell, bias=bias)
    lstm = nn.LSTM(X, H).double()
    rows = {
        "weight_ih_l0": np.concatenate([paper.w[gate] for gate in "ifuo"], axis=1).T,
        "weight_hh_l0": np.concatenate([paper.u[gate] for gate in "ifuo"], axis=1).T,
        "bias_ih_l0": np.concatenate([paper.b[gate] for gate in "ifuo"]),
        "bias_hh_l0": np.concatenate([paper.b_u[gate] for gate in "ifuo"]),
    }
    assert rows["bias_hh_l0"].any() == (bias == "double")
    lstm.load_state_dict(
        {name: torch.from_numpy(np.ascontiguousarray(part)) for name, part in rows.items()}
    )
    words = torch.randn(size, X, dtype=torch.float64)
    chain = schedule_parents(
        torch.tensor([*range(1, size), -1]), NONE.new_zeros(size), NONE.new_ones(size), 0
    )
    encoded = DepthOrdered(cell)(words[:1], words[1:], chain)
    expected, _ = lstm(words)
    torch.testing.assert_close(encoded[0], expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(encoded[1], expected[-1:], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("output_gate", "d", "expected"), [(False, 150, 203_400), (True, 168, 315_840)]
)
def test_number_of_parameters_in_the_papers_runs(output_gate: bool, d: int, expected: int) -> None:
    """Tai et al. 2015, Table 1: relatedness without an output gate, sentiment with it."""
    options = {"bias": "double", "output_gate": output_gate}
    cell = (
        manager()
        .cell("child_sum_lstm.v1")
        .create(options, input_size=300, inner_size=300, hidden_size=d)
    )
    assert sum(part.numel() for part in cell.parameters()) == expected


@every_inner_size
def test_number_of_parameters(inner_size: int) -> None:
    """As printed: W_f only where it is read."""
    cell = ChildSumLSTM(input_size=X, hidden_size=H, inner_size=inner_size)
    gates_of_x = 4 if inner_size else 3
    assert sum(part.numel() for part in cell.parameters()) == gates_of_x * X * H + 4 * H * H + 4 * H
    assert (cell.state_sizes, cell.arity, cell.kinds) == ([H, H], 0, 0)


def test_fresh_weights_lie_within_the_fan_in() -> None:
    torch.manual_seed(1)
    cell = ChildSumLSTM(input_size=100, hidden_size=25, bias="double")
    assert 0.09 < cell.w.detach().abs().max() <= 0.1
    assert 0.19 < cell.u.detach().abs().max() <= 0.2
    assert not cell.b.any()
    assert not cell.b_u.any()


def test_rows_of_none() -> None:
    cell, nothing = random_cell(), torch.zeros(0, H).double()
    for state in (
        cell.leaf(torch.zeros(0, X).double()),
        cell.compose(torch.zeros(0, 0).double(), [nothing] * 2, Links(NONE, NONE)),
    ):
        assert [tuple(part.shape) for part in state] == [(0, H), (0, H)]


def test_an_inner_input_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="inner_size must be 0 or input_size = 3, got 2"):
        ChildSumLSTM(input_size=X, hidden_size=H, inner_size=2)
    with pytest.raises(PluginError, match="inner_size must be 0 or input_size = 3, got 2"):
        manager().cell("child_sum_lstm.v1").create({}, input_size=X, hidden_size=H, inner_size=2)


def test_it_is_registered() -> None:
    spec = manager().cell("child_sum_lstm.v1")
    cell = spec.create(
        {"bias": "double", "output_gate": False}, input_size=X, hidden_size=H, inner_size=X
    )
    assert isinstance(cell, ChildSumLSTM)
    assert (cell.input_size, cell.inner_size, cell.hidden_size) == (X, X, H)
    assert (cell.double_bias, cell.output_gate) == (True, False)
    default = spec.create({}, input_size=X, hidden_size=H)
    assert (default.double_bias, default.output_gate, default.inner_size) == (False, True, 0)


@pytest.mark.parametrize("options", [{"arity": 2}, {"bias": "triple"}, {"output_gate": "half"}])
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"child_sum_lstm\.v1.*{next(iter(options))}"):
        manager().cell("child_sum_lstm.v1").create(options, input_size=X, hidden_size=H)
