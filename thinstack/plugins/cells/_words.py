"""What cells read of words: leaves of recursive networks, which are the word itself or a projection
of it, and leading columns, for cells to which all of them would cost too much."""

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


def first_columns(cell: str, input_size: int, columns: int | None) -> int:
    """Return how many leading columns a cell of this name reads; None means all. Raises ConfigError
    for more columns than words have."""
    width = input_size if columns is None else columns
    if width > input_size:
        raise ConfigError(
            f"{cell}: expected at most {input_size} columns, found {width}; omit columns to read "
            "all of them"
        )
    return int(width)
