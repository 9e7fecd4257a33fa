"""Draws fresh weights as Glorot & Bengio (2010) do."""

import math
from itertools import accumulate, product

import torch
from torch import nn

from thinstack.core.cell import Cell
from thinstack.core.model.model import Model
from thinstack.errors import ConfigError

__all__ = ["draw_by_glorot"]


@torch.no_grad()
def draw_by_glorot(model: Model) -> None:
    """Draw the weights of all cells, and of the linear layers of the task head.

    A block of m rows and n columns is uniform within sqrt(6 / (m + n)), (16) of Glorot & Bengio
    2010. A bias of n entries is uniform within sqrt(3 / n). The latter is DyNet's rule, with which
    Teng & Zhang (2017) trained. `Cell.blocks` says what the blocks are.

    Raises ConfigError for a cell that does not name the blocks of all its weights.
    """
    for name, part in model.named_modules():
        own = dict(part.named_parameters(recurse=False))
        if isinstance(part, Cell):
            blocks = part.blocks()
        elif isinstance(part, nn.Linear) and name.startswith("head."):
            blocks = {key: [[size] for size in weight.shape] for key, weight in own.items()}
        else:
            continue
        for key, weight in own.items():
            if key not in blocks:
                raise ConfigError(
                    f"training.init = 'glorot': {type(part).__name__} does not say what its weight "
                    f"{key} is made of, in `blocks`; take another cell, or leave init out"
                )
            _draw(weight, blocks[key])


def _draw(weight: nn.Parameter, blocks: list[list[int]]) -> None:
    assert tuple(map(sum, blocks)) == weight.shape, "blocks make up the weight"
    ends = [list(accumulate(sizes)) for sizes in blocks]
    parts = [list(zip(end, sizes, strict=True)) for end, sizes in zip(ends, blocks, strict=True)]
    for place in product(*parts):
        bound = math.sqrt(3 * len(place) / sum(size for _, size in place))
        block = weight[tuple(slice(end - size, end) for end, size in place)]
        nn.init.uniform_(block, -bound, bound)
