"""Dependency-tree recursive network (Socher et al. 2014), as compared in Tai et al. 2015."""

import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links, matrix, sum_by_owner, vector
from thinstack.core.fast import affine


class DTRNN(Cell):
    """The dependency-tree recursive network of Socher et al. 2014. For node j with children k,
    which share one matrix U:

        h_j = tanh(W x_j + b + sum_k U h_k)

    Children are summed, not weighted by the words below them. A leaf has no children. With
    `inner_size` 0, only leaves have an x. State: h (n, H).
    """

    name = "dt_rnn.v1"
    summary = "dependency-tree recursive network, Socher et al. 2014"
    inner_like_leaf = True

    def __init__(self, *, input_size: int, hidden_size: int, inner_size: int = 0):
        super().__init__(input_size, hidden_size, [hidden_size], arity=0, inner_size=inner_size)
        self.w = matrix(input_size, hidden_size)
        self.u = matrix(hidden_size, hidden_size)
        self.b = vector(hidden_size)

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [torch.tanh(affine(self.b, inputs, self.w))]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        sums = sum_by_owner(children[0], links.owner, inputs.shape[0])
        total = affine(self.b, sums, self.u)
        if self.inner_size > 0:
            total = total + inputs @ self.w
        return [torch.tanh(total)]
