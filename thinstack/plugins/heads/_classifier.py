"""The base classes of heads that predict probabilities of classes."""

from typing import Annotated, ClassVar, cast

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.config.base import Rate
from thinstack.core.head import Reads, TaskHead

Width = Annotated[int, Field(ge=0)]


class Softmax(TaskHead):
    """A head with p(y | row) = softmax(forward(row)). The loss is the negative log-likelihood,
    summed over labeled rows. Its submodule `linear` computes the logits."""

    soft_labels = True

    def scores(self, rows: Tensor) -> Tensor:
        """Return the probabilities (n, C) of rows (n, width)."""
        return torch.softmax(self.forward(rows), 1)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the sum of -log p(label) over the labeled rows, for logits (n, C) and labels int64
        (n,), where -1 means no label; for soft labels, float (n, C), the sum of -label log p."""
        if labels.is_floating_point():
            return -(labels * torch.log_softmax(logits, 1)).sum()
        return functional.cross_entropy(logits, labels, ignore_index=-1, reduction="sum")

    @torch.no_grad()
    def scale_logits(self, factor: float) -> bool:
        """Scale the last layer, and with it the logits, by `factor`; return True."""
        last = cast(nn.Linear, self.get_submodule("linear"))
        last.weight.mul_(factor)
        last.bias.mul_(factor)
        return True


class Classifier(Softmax):
    """The softmax of W h + b, where h is the row (n, H) after dropout or, with a hidden layer of
    width `hidden` above 0, ReLU(W' row + b'). `rows`: what it reads."""

    rows: ClassVar[Reads] = "nodes"

    def __init__(self, *, hidden_size: int, classes: int, hidden: Width = 0, dropout: Rate = 0.0):
        super().__init__(hidden_size=hidden_size, classes=classes, reads=self.rows)
        self.dropout = nn.Dropout(dropout)
        self.hidden = (
            nn.Sequential(nn.Linear(hidden_size, hidden), nn.ReLU()) if hidden else nn.Identity()
        )
        self.linear = nn.Linear(hidden or hidden_size, classes)

    def forward(self, rows: Tensor) -> Tensor:
        """Return the logits (n, C) of rows (n, H)."""
        logits: Tensor = self.linear(self.hidden(self.dropout(rows)))
        return logits
