"""Weights of before the gates of cells stood in one order give what they gave.

`former-gates.safetensors` was written by the last version with the former orders: for each part
below its weights, and what `outputs` gave.
"""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from thinstack.core.cell import Links
from thinstack.core.model.former_gates import reorder_gates
from thinstack.plugins.encoders.spinn.tracking_lstm import TrackingLSTM
from thinstack.plugins.manager import manager

GOLDEN = Path(__file__).parents[1] / "golden" / "former-gates.safetensors"
X, H = 3, 2
TABLE_1 = {"forget": "tied", "bias": "double", "leaf": "own"}

PARTS = [
    ("child_sum_lstm.v1", {}, {}),
    ("child_sum_lstm.v1", {"bias": "double", "output_gate": False}, {"inner_size": X}),
    ("dual_gate_lstm.v1", {"arity": 3}, {}),
    ("lexicalized_lstm.v1", {}, {}),
    ("mean_beside.v1", {"cell": "s_lstm.v1"}, {}),
    ("peephole_lstm.v1", {}, {}),
    ("nary_lstm.v1", {}, {}),
    ("nary_lstm.v1", {"arity": 3}, {"inner_size": X}),
    ("nary_lstm.v1", {**TABLE_1, "arity": 3}, {"inner_size": X}),
    ("nary_lstm.v1", {"bias": "double", "output_gate": False}, {"inner_size": X}),
    ("nary_lstm.v1", {"forget": "diagonal", "bias": "double"}, {}),
    ("s_lstm.v1", {}, {}),
    ("spinn_lstm.v1", {}, {"inner_size": X}),
    ("top_down_lstm.v1", {"inputs": "per_side"}, {"inner_size": X, "kinds": 3}),
    ("top_down_lstm.v1", {}, {"inner_size": X, "kinds": 2}),
    ("tree_gru.v1", {}, {}),
    ("tree_gru.v1", {}, {"inner_size": X}),
    ("tracker", {}, {}),
]


def part_of(number):
    name, options, sizes = PARTS[number]
    if name == "tracker":
        return TrackingLSTM(input_size=X, size=H, lookahead=2, parses=True)
    return manager().find("cell", name).create(options, input_size=X, hidden_size=H, **sizes)


def values(*shape):
    """Numbers that every version of torch computes alike."""
    count = torch.Size(shape).numel()
    return ((torch.arange(count) * 7 % 11 - 5) / 4).view(shape)


@torch.no_grad()
def outputs(part):
    """Of leaves, and of two nodes with all children of the last kind."""
    if isinstance(part, TrackingLSTM):
        read = part.read_buffer(values(4, X), torch.tensor([2, 2, 4, 4]))
        read = read + sum(part.read_nodes(values(5, X)).chunk(2, 1))
        return [*part.step(read, values(5, H), values(5, H))]
    children = 2 * max(part.arity, 1)
    states = [values(children, width) for width in part.state_sizes]
    kind = torch.full((children,), max(part.kinds, 1))
    links = Links(torch.tensor([0, 1]), kind)
    if part.arity:
        states = [state.view(2, part.arity, -1) for state in states]
        links = Links(kind[:0], kind.view(2, part.arity))
    nodes = part.compose(values(2, part.inner_size), states, links)
    return [*part.leaf(values(3, X)), *nodes]


@pytest.mark.parametrize("number", range(len(PARTS)), ids=lambda number: PARTS[number][0])
def test_former_weights_give_what_they_gave(number):
    part, golden = part_of(number), load_file(GOLDEN)
    former, expected = (
        {
            name.removeprefix(start): value
            for name, value in golden.items()
            if name.startswith(start)
        }
        for start in (f"{number}/weights/", f"{number}/outputs/")
    )
    part.load_state_dict(reorder_gates(part, former))
    found = outputs(part)
    assert len(found) == len(expected)
    for place, value in enumerate(found):
        torch.testing.assert_close(value, expected[str(place)], atol=1e-6, rtol=0)


def test_only_what_is_there_and_in_a_former_order_changes():
    cell = torch.nn.ModuleDict({"up": part_of(11), "other": torch.nn.Linear(2, 5)})
    state = {"up.b": torch.arange(10.0), "other.bias": torch.arange(5.0)}
    found = reorder_gates(cell, state)
    assert found["up.b"].tolist() == [4, 5, 0, 1, 2, 3, 8, 9, 6, 7]
    assert found.keys() == state.keys()
    assert found["other.bias"] is state["other.bias"]
    with pytest.raises(RuntimeError):
        reorder_gates(cell, {"up.b": torch.arange(9.0)})
