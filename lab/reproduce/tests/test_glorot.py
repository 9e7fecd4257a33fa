"""Fresh weights by Glorot & Bengio: their spread, and the blocks of cells."""

import numpy as np
import pytest
import torch
from training import tiny_recipe

from reproduce.glorot import blocks_of, draw_by_glorot
from thinstack.errors import ConfigError
from thinstack.plugins.manager import manager
from thinstack.training.loop.initial import initial_model

WORDS, UNITS, HIDDEN = 48, 96, 128
CELLS = {
    "s_lstm.v1": {},
    "lexicalized_lstm.v1": {},
    "peephole_lstm.v1": {},
    "nary_lstm.v1": {"inner_size": 7},
    "top_down_lstm.v1": {"options": {"inputs": "per_side"}, "kinds": 2},
}


def drawn(cell="lexicalized_lstm.v1", **model):
    recipe = tiny_recipe.recipe(
        cell={"name": cell, "hidden_size": UNITS},
        embedding={"size": WORDS},
        model={"head": {"name": "node_classifier.v1", "options": {"hidden": HIDDEN}}, **model},
    )
    torch.manual_seed(1)
    found = initial_model(recipe, np.full((4, WORDS), 2, np.float32))
    draw_by_glorot(found)
    return found


def is_uniform(block, rows, columns):
    """Whether entries have the variance of a matrix that `nn.init.xavier_normal_` draws, 2 / (fan
    in + fan out), and are within sqrt(3) of its root."""
    variance, values = 2 / (rows + columns), block.detach()
    spread = float(values.square().mean())
    return abs(spread / variance - 1) < 0.1 and float(values.abs().max()) < (3 * variance) ** 0.5


def test_every_matrix_of_the_equations_is_drawn_by_itself():
    model = drawn(encoder={"top_down": {"name": "top_down_lstm.v1", "hidden_size": UNITS}})
    weights = dict(model.named_parameters())
    up, down = "encoder.layers.0.up.cell.", "encoder.layers.0.down.cell."
    for name, rows, columns in (("w_if", 4, 3), ("w_g", 2, 1), ("w_o", 3, 1)):
        for part in weights[up + name].chunk(rows, 0):
            assert all(is_uniform(block, UNITS, UNITS) for block in part.chunk(columns, 1)), name
    for name in (up + "w_x", down + "w_x"):
        assert all(is_uniform(block, WORDS, UNITS) for block in weights[name].chunk(4, 1))
    assert all(is_uniform(block, WORDS, WORDS) for block in weights[up + "w_z"].chunk(2, 0))
    assert all(is_uniform(block, UNITS, UNITS) for block in weights[down + "w_if"].chunk(8, 1))
    assert is_uniform(weights["head.hidden.0.weight"], 3 * UNITS, HIDDEN)
    assert is_uniform(weights["head.linear.weight"], HIDDEN, 3)
    bias = weights[up + "b"].detach()
    bound = (3 / UNITS) ** 0.5  # DyNet's, of a bias
    assert 0.95 * bound < float(bias.abs().max()) < bound
    assert abs(float(bias.mean())) < 0.2 * bound
    assert bool((model.embedding.table == 2).all())


@pytest.mark.parametrize("name", CELLS)
def test_the_blocks_of_a_cell_make_up_its_weights(name):
    sizes = dict(CELLS[name])
    options = sizes.pop("options", {})
    cell = manager().find("cell", name).create(options, input_size=7, hidden_size=5, **sizes)
    own = {key: list(value.shape) for key, value in cell.named_parameters()}
    blocks = blocks_of(cell)
    assert {key: [sum(sizes) for sizes in blocks[key]] for key in own} == own
    assert {size for sizes in blocks.values() for part in sizes for size in part} == {5, 7}


def test_a_cell_of_unknown_blocks_is_refused():
    with pytest.raises(ConfigError, match="TreeGRU"):
        drawn("tree_gru.v1")
