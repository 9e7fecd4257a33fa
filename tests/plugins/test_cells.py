"""Every registered cell: the contract suite on all its paths, and what else holds of all cells."""

import pytest
import torch

from thinstack.errors import ConfigError, PluginError
from thinstack.plugins.manager import manager
from thinstack.testing import CELL_CHECKS

X = 5

CONFIGURATIONS = {
    "child_sum_lstm.v1": [{"inner_size": X}, {"options": {"bias": "double", "output_gate": False}}],
    "dt_rnn.v1": [{"inner_size": X}, {}],
    "dual_gate_lstm.v1": [{}, {"options": {"arity": 3}}],
    "lexicalized_lstm.v1": [
        *({}, {"options": {"lexicalize": "average"}}, {"options": {"columns": 2}})
    ],
    "mean_beside.v1": [
        {},
        {"options": {"columns": 2, "cell": "lexicalized_lstm.v1"}},
        {"options": {"cell": "child_sum_lstm.v1", "options": {"bias": "double"}}},
    ],
    "mv_rnn.v1": [
        {},
        {"options": {"rank": 2}},
        {"options": {"leaf": "table", "rank": 1}, "input_size": 12, "hidden_size": 3},
    ],
    "nary_lstm.v1": [
        {},
        {"options": {"arity": 3}, "inner_size": X},
        {"options": {"arity": 1}, "inner_size": X},
    ],
    "peephole_lstm.v1": [{"inner_size": X}],
    "rntn.v1": [{}, {"options": {"leaf": "word"}, "hidden_size": X}],
    "rvnn.v1": [{}, {"options": {"leaf": "word"}, "hidden_size": X, "inner_size": X}],
    "s_lstm.v1": [{}],
    "sdt_rnn.v1": [{"inner_size": X, "kinds": 3}, {"kinds": 1}],
    "spinn_lstm.v1": [{}, {"inner_size": X}],
    "top_down_lstm.v1": [
        {"inner_size": X},
        {"options": {"inputs": "per_side"}, "inner_size": X, "kinds": 3},
    ],
    "tree_gru.v1": [{"inner_size": X}, {}],
    "word_mean.v1": [{"hidden_size": X}, {"hidden_size": X, "inner_size": X}],
}
"""What each cell is asked for; the first of each is tried on the most trees."""

WIDER = {("mean_beside.v1", "built_as_asked")}
"""A cell's output is wider than it is asked for by what stands beside that of another cell."""

CASES = [
    (name, number, {"inner_size": 0, "examples": 30 if number else 60, **asked})
    for name, several in CONFIGURATIONS.items()
    for number, asked in enumerate(several)
]


@pytest.mark.parametrize(
    ("name", "asked", "check", "number"),
    [
        pytest.param(name, asked, check, number, id=f"{name}-{number}-{check}")
        for name, number, asked in CASES
        for check in CELL_CHECKS
        if check != "onnx" or number == 0
        if (name, check) not in WIDER
    ],
)
def test_contract(name, asked, check, number, request):
    """Long trees, which take long in TorchScript, are of the first options of each cell."""
    if check == "torchscript" and number:
        request.getfixturevalue("short_samples")
    CELL_CHECKS[check](name, **asked)


@pytest.mark.parametrize(
    ("name", "asked"),
    [pytest.param(name, asked, id=f"{name}-{number}") for name, number, asked in CASES if number],
)
def test_contract_of_further_options_in_onnx(name, asked):
    """In a job of its own, see `tests/jobs.py`."""
    CELL_CHECKS["onnx"](name, **asked)


def cell_of(name, options=None, **sizes):
    sizes = {"input_size": X, "hidden_size": H} | sizes
    return manager().find("cell", name).create(options or {}, **sizes)


H = 4
READING_X = ["child_sum_lstm.v1", "dt_rnn.v1", "nary_lstm.v1", "rvnn.v1", "sdt_rnn.v1"]
READING_X += ["tree_gru.v1", "word_mean.v1"]
"""Cells that read the same x at inner nodes as at leaves, or none."""


def test_the_table_is_of_the_built_in_cells():
    cells = [record for record in manager().records() if record.kind == "cell"]
    assert {*CONFIGURATIONS} == {one.name for one in cells if one.distribution == "thinstack"}


@pytest.mark.parametrize("name", READING_X)
def test_an_inner_input_of_another_width_is_refused(name):
    hidden = X if name == "word_mean.v1" else H
    with pytest.raises(PluginError, match=f"input_size = {X}, found 2"):
        cell_of(name, hidden_size=hidden, inner_size=2)
    assert cell_of(name, hidden_size=hidden).inner_size == 0


BOUNDS = {("rntn.v1", "v"): 1 / 50}
"""Of matrices that start elsewhere than within 1 / sqrt(fan in)."""


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_fresh_weights_lie_within_the_fan_in_and_biases_are_zero(name):
    torch.manual_seed(1)
    hidden = 100 if name == "word_mean.v1" else 25
    for part, values in cell_of(name, input_size=100, hidden_size=hidden).named_parameters():
        bound = BOUNDS.get((name, part), values.shape[-2] ** -0.5 if values.dim() > 1 else 0)
        if (name, part) == ("mv_rnn.v1", "w_x"):  # the part that makes matrices is near 0
            values[:, hidden:].data *= hidden
        assert 0.9 * bound <= values.detach().abs().max() <= bound, part


WRONG = {
    "child_sum_lstm.v1": [{"arity": 2}, {"bias": "triple"}, {"output_gate": "half"}],
    "dual_gate_lstm.v1": [{"arity": 0}, {"arity": "two"}],
    "lexicalized_lstm.v1": [{"lexicalize": "middle"}, {"columns": 0}],
    "mean_beside.v1": [{"columns": 0}, {"cell": 3}],
    "mv_rnn.v1": [{"leaf": "word"}, {"rank": 0}],
    "nary_lstm.v1": [{"arity": 0}, {"arity": "two"}],
    "rntn.v1": [{"leaf": "linear"}],
    "rvnn.v1": [{"leaf": "linear"}],
    "top_down_lstm.v1": [{"inputs": "both"}],
}
NO_OPTIONS = [{"kinds": 2}, {"hidden_size": 2}, {"no_option": 2}]


@pytest.mark.parametrize(
    ("name", "options"),
    [(name, one) for name in CONFIGURATIONS for one in WRONG.get(name, []) + NO_OPTIONS],
)
def test_wrong_options(name, options):
    (option,) = options
    with pytest.raises(ConfigError, match=rf"'{name}': {option}: "):
        cell_of(name, options)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("rntn.v1", {"leaf": "word"}, f"hidden_size = {H}, found {X}"),
        ("rvnn.v1", {"leaf": "word"}, f"hidden_size = {H}, found {X}"),
        ("word_mean.v1", {}, f"input_size = {X}, found {H}"),
    ],
)
def test_words_of_another_width_than_the_state_are_refused(name, options, said):
    with pytest.raises(ConfigError, match=said):
        cell_of(name, options)
