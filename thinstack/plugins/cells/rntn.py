"""Recursive neural tensor network (Socher et al. 2013)."""

import torch
from torch import Tensor

from thinstack.core.cell import Links, matrix, vector
from thinstack.core.fast import affine
from thinstack.plugins.cells._words import Leaf, WordLeaf


class RNTN(WordLeaf):
    """The recursive neural tensor network of Socher et al. 2013, for a node with children a and b:

        p = tanh([a; b]' V [a; b] + W [a; b] + w)

    V has H slices of 2H x 2H, one per entry of p; n nodes need 2 n H^2 numbers of working memory. V
    is initialized within 1 / 2H, the fan-in bound for the 4 H^2 terms of an entry. A leaf is as in
    `WordLeaf`; in the paper it is the word. State: h (n, H).
    """

    name = "rntn.v1"
    summary = "recursive neural tensor network, Socher et al. 2013"

    def __init__(self, *, input_size: int, hidden_size: int, leaf: Leaf = "projected"):
        super().__init__(input_size, hidden_size, [hidden_size], arity=2)
        pair = 2 * hidden_size
        # v[:, k] is the slice of p's entry k.
        self.v = matrix(pair, hidden_size, pair, bound=1 / pair)
        self.w = matrix(pair, hidden_size)
        self.b = vector(hidden_size)
        self.make_leaf(leaf)

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        ab = children[0].flatten(1)
        n, pair = ab.shape
        left = (ab @ self.v.flatten(1)).view([n, self.hidden_size, pair])  # [a; b]' V, by slice
        # Not by einsum: onnxruntime's may crash the process if there are no rows.
        products = torch.bmm(left, ab.unsqueeze(2)).squeeze(2)
        return [torch.tanh(products + affine(self.b, ab, self.w))]
