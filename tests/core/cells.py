"""Small cells with inner inputs, several state parts, missing children and edge types."""

import torch
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links, sum_by_owner

X, INNER, H, MEMORY, KINDS = 3, 2, 4, 5, 3


def weights(*shape: int) -> nn.Parameter:
    """Random float64 weights; seed torch first."""
    return nn.Parameter(torch.rand(shape, dtype=torch.float64) - 0.5)


class FixedArity(Cell):
    """h = tanh(x W + sum_k (h_k U_k + e[kind_k])), m = h V + sum_k k m_k, output h + m; a leaf of
    its own, h = tanh(x L), m = h V. m passes for the head word."""

    def __init__(self, arity: int, inner_size: int = INNER):
        super().__init__(
            input_size=X,
            inner_size=inner_size,
            hidden_size=H,
            state_sizes=[H, MEMORY],
            arity=arity,
            kinds=KINDS,
            word_part=1,
        )
        self.w, self.u = weights(inner_size, H), weights(arity, H, H)
        self.v, self.e = weights(H, MEMORY), weights(KINDS + 1, H)
        self.w_leaf = weights(X, H)

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        h = torch.tanh(inputs @ self.w_leaf)
        return [h, h @ self.v]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        from_children = torch.einsum("nkh,khj->nj", children[0], self.u) + self.e[links.kind].sum(1)
        h = torch.tanh(inputs @ self.w + from_children)
        ranks = torch.arange(1, self.arity + 1).to(inputs.dtype)
        children[1].mul_(ranks.unsqueeze(1))  # children may be overwritten
        return [h, h @ self.v + children[1].sum(1)]

    def output(self, state: list[Tensor]) -> Tensor:
        return state[0] + state[1][:, :4]


class AnyArity(Cell):
    """h = tanh(x W + sum_k (h_k U + e[kind_k]) m_k / 2), m = h + 1 - sum_k h_k; a leaf composes no
    children."""

    def __init__(self) -> None:
        super().__init__(
            input_size=X, inner_size=X, hidden_size=H, state_sizes=[H, H], arity=0, kinds=KINDS
        )
        self.w, self.u, self.e = weights(X, H), weights(H, H), weights(KINDS + 1, H)

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        n = inputs.shape[0]
        children[1].mul_(0.5)  # children may be overwritten
        messages = (children[0] @ self.u + self.e[links.kind]) * children[1]
        h = torch.tanh(inputs @ self.w + sum_by_owner(messages, links.owner, n))
        return [h, h + 1 - sum_by_owner(children[0], links.owner, n)]
