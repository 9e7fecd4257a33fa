"""What the heads that give probabilities of classes have in common."""

from typing import Annotated, cast

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.head import Reads, TaskHead

__all__ = ["Classifier", "Share", "Softmax", "Width"]

Share = Annotated[float, Field(ge=0, lt=1)]
Width = Annotated[int, Field(ge=0)]


class Softmax(TaskHead):
    """A task head with p(y | row) = softmax(forward(row)). The loss is the negative log-likelihood,
    summed over labelled rows. Its submodule `linear` gives the logits."""

    soft_labels = True

    def scores(self, rows: Tensor) -> Tensor:
        """Probabilities (n, C) of rows (n, width)."""
        return torch.softmax(self.forward(rows), 1)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The sum over the labelled rows of -log p(label), for logits (n, C) and labels int64 (n,),
        where -1 means no label.

        For soft labels, float (n, C), it is the sum of -label log p over rows and classes.
        """
        if labels.is_floating_point():
            return -(labels * torch.log_softmax(logits, 1)).sum()
        return functional.cross_entropy(logits, labels, ignore_index=-1, reduction="sum")

    @torch.no_grad()
    def scale_logits(self, factor: float) -> bool:
        """Multiply the logits by `factor`, in the weight and bias of the last layer, and return
        True."""
        last = cast(nn.Linear, self.get_submodule("linear"))
        last.weight.mul_(factor)
        last.bias.mul_(factor)
        return True


class Classifier(Softmax):
    """The softmax of W h + b, where h is the row (n, H) or, with a hidden layer, ReLU(W' row + b').
    Dropout is applied to the row.

    Args:
        hidden: width of the hidden layer; with 0 there is no such layer.
    """

    def __init__(
        self, *, hidden_size: int, classes: int, hidden: int, dropout: float, reads: Reads
    ):
        super().__init__(hidden_size=hidden_size, classes=classes, reads=reads)
        self.dropout = nn.Dropout(dropout)
        self.hidden = (
            nn.Sequential(nn.Linear(hidden_size, hidden), nn.ReLU()) if hidden else nn.Identity()
        )
        self.linear = nn.Linear(hidden or hidden_size, classes)

    def forward(self, rows: Tensor) -> Tensor:
        """Logits (n, C) of rows (n, H)."""
        logits: Tensor = self.linear(self.hidden(self.dropout(rows)))
        return logits
