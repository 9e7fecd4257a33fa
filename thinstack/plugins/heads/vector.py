"""A vector of every node, as a sentence encoder gives the text of the node."""

from typing import Annotated, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from thinstack.core.head import TaskHead
from thinstack.plugins.heads._classifier import Share, Width

__all__ = ["Vector"]


class Vector(TaskHead):
    """Gives every node a vector of length 1:

        v = unit(W r + W_o silu(W_i r + b_i)),   unit(x) = x / |x|

    where r is the row of the node. Over `mean_beside.v1` with `reads = "state"`, r is the state of
    a cell, the mean of the words and the logarithm of their number. At first W_o is 0. The loss is
    1 - cosine, summed over the rows. Dropout is applied to the row.

    Args:
        size: the number of columns D of a vector.
        hidden: width of the net W_i, W_o; with 0 there is none.
    """

    name = "vector.v1"
    summary = "a unit vector for every node, for similarity and search"
    gives: ClassVar[Literal["scores", "vectors"]] = "vectors"

    def __init__(
        self,
        *,
        hidden_size: int,
        size: Annotated[int, Field(ge=2)] = 256,
        hidden: Width = 0,
        dropout: Share = 0.0,
    ):
        super().__init__(hidden_size=hidden_size, classes=size, reads="nodes")
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(hidden_size, size, bias=False)
        self.net: nn.Sequential | None = None
        if hidden:
            last = nn.Linear(hidden, size, bias=False)
            nn.init.zeros_(last.weight)
            self.net = nn.Sequential(nn.Linear(hidden_size, hidden), nn.SiLU(), last)

    def forward(self, rows: Tensor) -> Tensor:
        """Vectors (n, D) of rows (n, H), before they get length 1."""
        read = self.dropout(rows)
        vectors: Tensor = self.linear(read)
        return vectors if self.net is None else vectors + self.net(read)

    def scores(self, rows: Tensor) -> Tensor:
        """Vectors (n, D) of length 1, of rows (n, H)."""
        return unit(self.forward(rows))

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The sum over the rows of 1 - cosine, for `forward`'s vectors and the vectors `labels` of
        length 1, both (n, D). A row of -1 in all columns means no vector."""
        has_one = (labels != -1).any(1)
        return ((1 - (unit(logits) * labels).sum(1)) * has_one).sum()


def unit(vectors: Tensor) -> Tensor:
    """The vectors (n, D), each divided by its length."""
    return vectors / torch.sqrt((vectors * vectors).sum(1, keepdim=True) + 1e-12)
