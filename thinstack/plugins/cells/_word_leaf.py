"""Leaves of recursive networks: the word itself, or a projection of it."""

from typing import Literal

import torch
from torch import Tensor

from thinstack.core.cell import Cell, matrix, vector
from thinstack.core.fast import affine
from thinstack.errors import ConfigError

Leaf = Literal["projected", "word"]


class WordLeaf(Cell):
    """A cell whose state is one vector, and whose leaf is

        projected    h = tanh(W_x x + b_x), for any X
        word         h = x, for X = H only

    Raises ConfigError (a ValueError) if the leaves are to be words and X is not H.
    """

    w_x: Tensor | None
    b_x: Tensor | None

    def make_leaf(self, leaf: Leaf) -> None:
        """Create W_x and b_x if needed; a constructor ends with this call."""
        words, width = self.input_size, self.hidden_size
        if leaf == "word" and words != width:
            raise ConfigError(
                "leaf = 'word' uses a word's vector as the state of its leaf, so input_size must "
                f"be hidden_size = {width}, found {words}; make them equal or set "
                "leaf = 'projected'"
            )
        self.w_x, self.b_x = None, None
        if leaf == "projected":
            self.w_x = matrix(words, width)
            self.b_x = vector(width)

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        w_x, b_x = self.w_x, self.b_x
        if w_x is None or b_x is None:
            return [inputs]
        return [torch.tanh(affine(b_x, inputs, w_x))]
