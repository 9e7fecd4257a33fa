"""The contract suite over every registered cell, under options and sizes that take all its
paths."""

from typing import Any

import pytest

from thinstack.plugins.manager import manager
from thinstack.testing import CELL_CHECKS

X = 5

CONFIGURATIONS: dict[str, list[dict[str, Any]]] = {
    "child_sum_lstm.v1": [{"inner_size": X}, {"options": {"bias": "double", "output_gate": False}}],
    "dt_rnn.v1": [{"inner_size": X}, {}],
    "dual_gate_lstm.v1": [{}, {"options": {"arity": 3}}],
    "lexicalized_lstm.v1": [{}, {"options": {"lexicalize": "average"}}],
    "mv_rnn.v1": [
        {},
        {"options": {"rank": 2}},
        {"options": {"leaf": "table", "rank": 1}, "input_size": 12, "hidden_size": 3},
    ],
    "nary_lstm.v1": [
        {},
        {"options": {"arity": 3, "forget": "tied", "bias": "double"}, "inner_size": X},
        {"options": {"forget": "diagonal", "leaf": "own", "output_gate": False}},
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

ALIKE_IN_ONNX = {
    ("dt_rnn.v1", 1),
    ("dual_gate_lstm.v1", 1),
    ("lexicalized_lstm.v1", 1),
    ("mv_rnn.v1", 2),
    ("nary_lstm.v1", 3),
    ("rntn.v1", 1),
    ("sdt_rnn.v1", 1),
    ("spinn_lstm.v1", 1),
    ("top_down_lstm.v1", 1),
    ("tree_gru.v1", 1),
    ("word_mean.v1", 1),
}
"""Configurations without an operator that those before lack: an export takes seconds."""

REGISTERED = sorted(
    record.name for record in manager().records() if (record.kind, record.status) == ("cell", "ok")
)

CASES = [
    pytest.param(
        name, {"examples": 50 if number else 500, **asked}, check, id=f"{name}-{number}-{check}"
    )
    for name in REGISTERED
    for number, asked in enumerate(CONFIGURATIONS.get(name, [{}]))
    for check in CELL_CHECKS
    if check != "onnx" or (name, number) not in ALIKE_IN_ONNX
]


@pytest.mark.parametrize(("name", "asked", "check"), CASES)
def test_contract(name: str, asked: dict[str, Any], check: str) -> None:
    CELL_CHECKS[check](name, **asked)


def test_the_configurations_are_those_of_the_built_in_cells() -> None:
    builtin = {
        record.name
        for record in manager().records()
        if (record.kind, record.distribution) == ("cell", "thinstack")
    }
    assert builtin == set(CONFIGURATIONS)
