"""Fresh weights by Glorot & Bengio: their spread, and the blocks that cells name."""

from typing import Any

import numpy as np
import pytest
import tiny_recipe
import torch
from torch import Tensor, nn

from thinstack.core.model.model import Model
from thinstack.errors import ConfigError
from thinstack.plugins.manager import manager
from thinstack.training.loop.initial import initial_model
from thinstack.training.recipe import Recipe

WORDS, UNITS, HIDDEN = 48, 96, 128
CELLS = {
    "s_lstm.v1": {},
    "lexicalized_lstm.v1": {},
    "peephole_lstm.v1": {},
    "nary_lstm.v1": {"inner_size": 7},
    "top_down_lstm.v1": {"options": {"inputs": "per_side"}, "kinds": 2},
}


def recipe(cell: str = "lexicalized_lstm.v1", **model: Any) -> Recipe:
    settings: dict[str, Any] = {
        "cell": {"name": cell, "hidden_size": UNITS},
        "embedding": {"size": WORDS},
        "model": {"head": {"name": "node_classifier.v1", "options": {"hidden": HIDDEN}}, **model},
    }
    return tiny_recipe.recipe(init="glorot", **settings)


def drawn(of: Recipe) -> Model:
    torch.manual_seed(1)
    return initial_model(of, np.full((4, WORDS), 2, np.float32))


def is_uniform(block: Tensor, variance: float) -> bool:
    """Whether entries have the variance that torch's formula has, about 0, within sqrt(3) of its
    root."""
    values = block.detach()
    spread = float(values.square().mean())
    return abs(spread / variance - 1) < 0.1 and float(values.abs().max()) < (3 * variance) ** 0.5


def glorot_variance(rows: int, columns: int) -> float:
    """Of a matrix that `nn.init.xavier_normal_` draws: 2 / (fan in + fan out)."""
    gain = nn.init.calculate_gain("linear")
    return gain**2 * 2 / (rows + columns)


def test_every_matrix_of_the_equations_is_drawn_by_itself() -> None:
    model = drawn(recipe(encoder={"top_down": {"name": "top_down_lstm.v1", "hidden_size": UNITS}}))
    weights = dict(model.named_parameters())
    up, down = "encoder.layers.0.up.cell.", "encoder.layers.0.down.cell."
    square = glorot_variance(UNITS, UNITS)
    for name, rows, columns in (("w_fi", 4, 3), ("w_g", 2, 1), ("w_o", 3, 1)):
        for part in weights[up + name].chunk(rows, 0):
            for block in part.chunk(columns, 1):
                assert is_uniform(block, square), name
    for name in (up + "w_x", down + "w_x"):
        assert all(is_uniform(b, glorot_variance(WORDS, UNITS)) for b in weights[name].chunk(4, 1))
    words = glorot_variance(WORDS, WORDS)
    assert all(is_uniform(b, words) for b in weights[up + "w_z"].chunk(2, 0))
    assert all(is_uniform(b, square) for b in weights[down + "w_fi"].chunk(8, 1))
    assert is_uniform(weights["head.hidden.0.weight"], glorot_variance(3 * UNITS, HIDDEN))
    assert is_uniform(weights["head.linear.weight"], glorot_variance(HIDDEN, 3))


def test_biases_are_drawn_within_dynet_s_bound_and_the_leaves_are_left() -> None:
    model = drawn(recipe())
    bias = dict(model.named_parameters())["encoder.layers.0.up.cell.b"].detach()
    bound = (3 / UNITS) ** 0.5
    assert 0.95 * bound < float(bias.abs().max()) < bound
    assert abs(float(bias.mean())) < 0.2 * bound
    assert bool((model.embedding.table == 2).all())


def test_weights_of_a_seed_are_the_same_and_others_by_default() -> None:
    one, again = drawn(recipe()).state_dict(), drawn(recipe()).state_dict()
    own = recipe().model_dump()
    own["training"]["init"] = "own"
    other = drawn(Recipe.parse(own, source="test")).state_dict()
    assert all(torch.equal(value, again[name]) for name, value in one.items())
    differing = {name for name, value in one.items() if not torch.equal(value, other[name])}
    assert differing == one.keys() - {"embedding.table"}
    assert not bool(other["encoder.layers.0.up.cell.b"].any())


@pytest.mark.parametrize("name", CELLS)
def test_the_blocks_of_a_cell_make_up_its_weights(name: str) -> None:
    sizes = dict(CELLS[name])
    options = sizes.pop("options", {})
    cell = manager().find("cell", name).create(options, input_size=7, hidden_size=5, **sizes)
    own = {key: list(value.shape) for key, value in cell.named_parameters()}
    blocks = cell.blocks()
    assert {key: [sum(sizes) for sizes in blocks[key]] for key in own} == own
    assert {size for sizes in blocks.values() for part in sizes for size in part} == {5, 7}


def test_a_cell_that_does_not_name_its_blocks_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"TreeGRU does not say .* weight w .* leave init out"):
        drawn(recipe("tree_gru.v1"))
