"""Semantic dependency-tree recursive network (Socher et al. 2014): a matrix for each relation."""

import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links, matrix, sum_by_owner, vector
from thinstack.core.fast import affine


class SDTRNN(Cell):
    """The semantic dependency-tree recursive network of Socher et al. 2014. For node j with
    children k, where R(k) in 1..kinds is the relation of k to j:

        h_j = tanh(W x_j + b + sum_k U_R(k) h_k)

    Children are summed, not weighted by the words below them. A child of kind 0 is ignored. A leaf
    has no children. With `inner_size` 0, only leaves have an x. State: h (n, H).
    """

    name = "sdt_rnn.v1"
    summary = "dependency-tree recursive network, a matrix per relation, Socher et al. 2014"
    inner_like_leaf = True

    def __init__(self, *, input_size: int, hidden_size: int, inner_size: int = 0, kinds: int = 1):
        sizes = input_size, hidden_size, [hidden_size]
        super().__init__(*sizes, arity=0, inner_size=inner_size, kinds=kinds)
        self.w = matrix(input_size, hidden_size)
        self.u = matrix(kinds, hidden_size, hidden_size)
        self.b = vector(hidden_size)

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [torch.tanh(affine(self.b, inputs, self.w))]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        # Sum the children of each relation first, so that one product serves all relations.
        n = inputs.shape[0]
        place = links.owner * self.kinds + links.kind
        place = place * (links.kind > 0)  # row 0 collects children without a relation
        sums = sum_by_owner(children[0], place, 1 + n * self.kinds)[1:]
        rows = sums.view([n, self.kinds * self.hidden_size])
        total = affine(self.b, rows, self.u.flatten(0, 1))
        if self.inner_size > 0:
            total = total + inputs @ self.w
        return [torch.tanh(total)]
