"""A minimal gated unit (Zhou et al. 2016) over trees, as a thinstack cell."""

import torch
from torch import Tensor

from thinstack.plugins import Cell, Links, matrix, sum_by_owner, vector


class TreeMGU(Cell):
    """A node with input x. The mean s of its children's states h_k replaces the previous state:

        s = mean_k h_k
        f = sigmoid(W_f x + U_f s + b_f)
        n = tanh(W_n x + U_n (f * s) + b_n)
        h = (1 - f) * s + f * n

    A leaf has no children: s = 0. State: h. The bias of f starts at `forget_bias`.
    """

    name = "mgu.v1"
    summary = "minimal gated unit, Zhou et al. 2016"

    def __init__(
        self, *, input_size: int, hidden_size: int, inner_size: int = 0, forget_bias: float = 0.0
    ):
        super().__init__(
            input_size=input_size,
            inner_size=inner_size,
            hidden_size=hidden_size,
            state_sizes=[hidden_size],
            arity=0,
        )
        self.w = matrix(input_size, 2 * hidden_size)  # to f, n
        self.u_f = matrix(hidden_size, hidden_size)
        self.u_n = matrix(hidden_size, hidden_size)
        self.b = vector(2 * hidden_size)
        with torch.no_grad():
            self.b[:hidden_size] = forget_bias

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        f, n = torch.addmm(self.b, inputs, self.w).chunk(2, 1)
        return [torch.sigmoid(f) * torch.tanh(n)]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        n = inputs.shape[0]
        h = children[0]
        count = sum_by_owner(torch.ones_like(h[:, :1]), links.owner, n)
        s = sum_by_owner(h, links.owner, n) / count.clamp(min=1)
        gates = (
            self.b + inputs @ self.w if self.inner_size > 0 else self.b.expand(n, self.b.shape[0])
        )
        from_f, from_n = gates.chunk(2, 1)
        f = torch.sigmoid(from_f + s @ self.u_f)
        return [(1 - f) * s + f * torch.tanh(from_n + (f * s) @ self.u_n)]
