"""Recursive neural tensor network (Socher et al. 2013)."""

from typing import Literal

import torch
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links, fan_in_uniform_
from thinstack.errors import ConfigError
from thinstack.plugins.fast import affine

__all__ = ["RNTN"]

Leaf = Literal["projected", "word"]


class RNTN(Cell):
    """A node with children a and b (Socher et al. 2013):

        p = tanh([a; b]' V [a; b] + W [a; b] + w)

    V has H slices of 2H x 2H, one for each entry of p: n nodes take 2 n H^2 numbers of working
    memory. It starts within 1 / 2H, the bound of fan in for the 4 H^2 terms of an entry. A leaf is,
    by the option `leaf`:

        projected    h = tanh(W_x x + b_x), for any X
        word         h = x, for X = H only, as in the paper

    State: h.

    Raises ConfigError (a ValueError) if the leaves are to be words and X is not H.
    """

    name = "rntn.v1"
    summary = "recursive neural tensor network, Socher et al. 2013"

    def __init__(self, *, input_size: int, hidden_size: int, leaf: Leaf = "projected"):
        if leaf == "word" and input_size != hidden_size:
            raise ConfigError(
                "leaf = 'word' makes a word's vector the state of its leaf, so it must be "
                f"hidden_size = {hidden_size} wide, "
                f"found input_size = {input_size}; make them equal or set leaf = 'projected'"
            )
        super().__init__(
            input_size=input_size,
            inner_size=0,
            hidden_size=hidden_size,
            state_sizes=[hidden_size],
            arity=2,
        )
        pair = 2 * hidden_size
        # v[:, k] is the slice of p's entry k.
        self.v = nn.Parameter(torch.empty(pair, hidden_size, pair))
        self.w = nn.Parameter(torch.empty(pair, hidden_size))
        self.b = nn.Parameter(torch.zeros(hidden_size))
        projected = leaf == "projected"
        self.w_x = nn.Parameter(torch.empty(input_size, hidden_size)) if projected else None
        self.b_x = nn.Parameter(torch.zeros(hidden_size)) if projected else None
        nn.init.uniform_(self.v, -1 / pair, 1 / pair)
        fan_in_uniform_(self.w)
        if self.w_x is not None:
            fan_in_uniform_(self.w_x)

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        w_x, b_x = self.w_x, self.b_x
        if w_x is None or b_x is None:
            return [inputs]
        return [torch.tanh(affine(b_x, inputs, w_x))]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        pairs = children[0].flatten(1)
        left = (pairs @ self.v.flatten(1)).view(
            [pairs.shape[0], self.hidden_size, pairs.shape[1]]
        )  # [a; b]' V, by slice
        # Not by einsum: onnxruntime's may end the process where there are no rows.
        products = torch.bmm(left, pairs.unsqueeze(2)).squeeze(2)
        return [torch.tanh(products + affine(self.b, pairs, self.w))]
