"""Recursive neural network (Socher et al. 2011), with an input at inner nodes for deep ones (Irsoy
& Cardie 2014)."""

from typing import Literal

import torch
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links, fan_in_uniform_
from thinstack.errors import ConfigError
from thinstack.plugins.fast import affine

__all__ = ["RvNN"]

Leaf = Literal["projected", "word"]


class RvNN(Cell):
    """A node with children a and b (Socher et al. 2011):

        p = tanh(W [a; b] + w)

    With `inner_size` X an inner node also reads an x of its own, in a deep network its h one layer
    below (Irsoy & Cardie 2014): p = tanh(W [a; b] + V x + w). A leaf is, by the option `leaf`:

        projected    h = tanh(W_x x + b_x), for any X
        word         h = x, for X = H only, as in the papers: words lie in the space of phrases

    A leaf's map is its own: neither V nor w is shared with it. State: h.

    Raises ConfigError (a ValueError) if the leaves are to be words and X is not H.
    """

    name = "rvnn.v1"
    summary = "recursive network, Socher et al. 2011; with inner inputs, Irsoy & Cardie 2014"

    def __init__(
        self, *, input_size: int, hidden_size: int, inner_size: int = 0, leaf: Leaf = "projected"
    ):
        if inner_size not in (0, input_size):
            raise ValueError(f"inner_size must be 0 or input_size = {input_size}, got {inner_size}")
        if leaf == "word" and input_size != hidden_size:
            raise ConfigError(
                "leaf = 'word' makes a word's vector the state of its leaf, so it must be "
                f"hidden_size = {hidden_size} wide, "
                f"found input_size = {input_size}; make them equal or set leaf = 'projected'"
            )
        super().__init__(
            input_size=input_size,
            inner_size=inner_size,
            hidden_size=hidden_size,
            state_sizes=[hidden_size],
            arity=2,
        )
        # W and below it V.
        self.w = nn.Parameter(torch.empty(2 * hidden_size + inner_size, hidden_size))
        self.b = nn.Parameter(torch.zeros(hidden_size))
        projected = leaf == "projected"
        self.w_x = nn.Parameter(torch.empty(input_size, hidden_size)) if projected else None
        self.b_x = nn.Parameter(torch.zeros(hidden_size)) if projected else None
        fan_in_uniform_(self.w)
        if self.w_x is not None:
            fan_in_uniform_(self.w_x)

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        w_x, b_x = self.w_x, self.b_x
        if w_x is None or b_x is None:
            return [inputs]
        return [torch.tanh(affine(b_x, inputs, w_x))]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        rows = children[0].flatten(1)
        if self.inner_size > 0:
            rows = torch.cat([rows, inputs], 1)
        return [torch.tanh(affine(self.b, rows, self.w))]
