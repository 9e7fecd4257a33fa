"""Draws fresh weights as Glorot & Bengio (2010) do, and the code of Teng & Zhang (2017)."""

import math
from itertools import accumulate, product
from typing import Any

import torch
from torch import nn

from thinstack.core.cell import Cell
from thinstack.core.model.model import Model
from thinstack.errors import ConfigError

Blocks = dict[str, list[list[int]]]
"""The sizes of the blocks that weights are cut into, by name, along each of their dimensions. A
block is one matrix, or one bias, of a cell's equations."""


@torch.no_grad()
def draw_by_glorot(model: Model) -> None:
    """Draw the weights of all cells, and of the linear layers of the task head.

    A block of m rows and n columns is uniform within sqrt(6 / (m + n)), (16) of Glorot & Bengio
    2010. A bias of n entries is uniform within sqrt(3 / n), by the rule of DyNet. Raises
    ConfigError for a cell that `blocks_of` does not know.
    """
    for name, part in model.named_modules():
        own = dict(part.named_parameters(recurse=False))
        if own and isinstance(part, Cell):
            blocks = blocks_of(part)
        elif isinstance(part, nn.Linear) and name.startswith("head."):
            blocks = {key: [[size] for size in weight.shape] for key, weight in own.items()}
        else:
            continue
        for key, weight in own.items():
            _draw(weight, blocks[key])


def blocks_of(cell: Any) -> Blocks:
    """The blocks of all weights of a cell. Raises ConfigError for an unknown one."""
    x, h = [cell.input_size], cell.hidden_size
    match cell.name:
        case "nary_lstm.v1":
            n, gates = cell.arity, [h] * (4 if cell.inner_size else 3)
            return {"w": [x, gates], "u": [[h] * n, [h] * (3 + n)], "b": [[h] * 4]}
        case "peephole_lstm.v1":
            of_c: Blocks = {"w_if": [[*x, h, h], [h] * 2], "w_o": [[*x, h, h], [h]]}
            return {**of_c, "w_g": [[*x, h], [h]], "b": [[h] * 4]}
        case "s_lstm.v1" | "lexicalized_lstm.v1":
            gates = [h] * (3 if cell.name == "s_lstm.v1" else 4)
            of_h: Blocks = {"w_if": [[h] * 4, [h] * 3], "w_g": [[h] * 2, [h]]}
            of_x: Blocks = {"w_x": [x, gates], "w_z": [x * 2, x], "b_z": [x]}
            return {**of_x, **of_h, "w_o": [[h] * 3, [h]], "b": [[h] * 5]}
        case "top_down_lstm.v1":
            sides = cell.kinds
            gates = [h] * (4 * sides if cell.per_side else 4)
            of_h = {"w_if": [[h] * 2, [h] * (2 * sides)], "w_g": [[h], [h] * sides]}
            return {"w_x": [x, gates], "b": [gates], **of_h, "w_o": [[h] * 2, [h] * sides]}
    raise ConfigError(
        f"training.init = 'glorot': lab/reproduce/glorot.py does not say what the weights of "
        f"{type(cell).__name__} are made of; take another cell, or leave init out"
    )


def _draw(weight: nn.Parameter, blocks: list[list[int]]) -> None:
    assert tuple(map(sum, blocks)) == weight.shape, "blocks make up the weight"
    ends = [list(accumulate(sizes)) for sizes in blocks]
    parts = [list(zip(end, sizes, strict=True)) for end, sizes in zip(ends, blocks, strict=True)]
    for place in product(*parts):
        bound = math.sqrt(3 * len(place) / sum(size for _, size in place))
        block = weight[tuple(slice(end - size, end) for end, size in place)]
        nn.init.uniform_(block, -bound, bound)
