"""Recursive neural network (Socher et al. 2011), with an input at inner nodes for deep ones (Irsoy
& Cardie 2014)."""

import torch
from torch import Tensor

from thinstack.core.cell import Links, matrix, vector
from thinstack.core.fast import affine
from thinstack.plugins.cells._words import Leaf, WordLeaf


class RvNN(WordLeaf):
    """The recursive neural network of Socher et al. 2011, for a node with children a and b:

        p = tanh(W [a; b] + w)

    With `inner_size` X, an inner node also reads an input x. In a deep network (Irsoy & Cardie
    2014), x is the node's h one layer below:

        p = tanh(W [a; b] + V x + w)

    A leaf is as in `WordLeaf`, and shares neither V nor w. In the papers it is the word, which is
    in the space of phrases. State: h (n, H).
    """

    name = "rvnn.v1"
    summary = "recursive network, Socher et al. 2011; with inner inputs, Irsoy & Cardie 2014"
    inner_like_leaf = True

    def __init__(
        self, *, input_size: int, hidden_size: int, inner_size: int = 0, leaf: Leaf = "projected"
    ):
        super().__init__(input_size, hidden_size, [hidden_size], arity=2, inner_size=inner_size)
        self.w = matrix(2 * hidden_size + inner_size, hidden_size)  # W and below it V
        self.b = vector(hidden_size)
        self.make_leaf(leaf)

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        rows = children[0].flatten(1)
        if self.inner_size > 0:
            rows = torch.cat([rows, inputs], 1)
        return [torch.tanh(affine(self.b, rows, self.w))]
