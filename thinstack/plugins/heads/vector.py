"""A vector for the text of every node, like that of a sentence encoder."""

from typing import Annotated, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from thinstack.core.config.base import Rate
from thinstack.core.head import TaskHead
from thinstack.plugins.heads._classifier import Width


class Vector(TaskHead):
    """A vector of unit norm for every node:

        v = unit(W r + W_o silu(W_i r + b_i)),   unit(x) = x / |x|

    r is the row of the node, after dropout. Over `mean_beside.v1` with `reads = "state"`, it is the
    state of a cell, the mean of the words and the logarithm of their number. W_o is initialized to
    0. The loss is 1 - cosine, summed over the rows.

    Args:
        size: the number of columns D of a vector.
        hidden: width of the hidden layer between W_i and W_o; 0 omits both.
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
        dropout: Rate = 0.0,
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
        """Return vectors (n, D) of rows (n, H), before normalization."""
        read = self.dropout(rows)
        vectors: Tensor = self.linear(read)
        return vectors if self.net is None else vectors + self.net(read)

    def scores(self, rows: Tensor) -> Tensor:
        """Return vectors (n, D) of unit norm, of rows (n, H)."""
        return unit(self.forward(rows))

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the sum of 1 - cosine over the rows, for `forward`'s vectors and target vectors of
        unit norm, both (n, D). A target of -1 in all columns means no vector."""
        has_one = (labels != -1).any(1)
        return ((1 - (unit(logits) * labels).sum(1)) * has_one).sum()


def unit(vectors: Tensor) -> Tensor:
    """Divide the vectors (n, D) by their lengths."""
    return vectors / torch.sqrt((vectors * vectors).sum(1, keepdim=True) + 1e-12)
