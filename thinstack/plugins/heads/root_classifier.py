"""A softmax classifier of whole trees (Teng & Zhang 2017, section 5)."""

from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.dropout import Dropout
from thinstack.core.head import TaskHead

__all__ = ["RootClassifier"]


class RootClassifier(TaskHead):
    """Classifies a tree by its representation h (Teng & Zhang 2017).

        h_l = ReLU(W_hl h + b_hl)                       (16)
        P = softmax(W_lp h_l + b_lp)
        L = - sum over trees of log P[label]            (17), without its L2 term

    h is what the encoder has for a root: the root's own h or, top-down over bottom-up, the three
    vectors side by side of (15), so that H is 3D. Dropout falls on h.

    Args:
        hidden: width of h_l; 0 for a softmax of h itself.
    """

    name = "root_classifier.v1"
    summary = "ReLU layer and softmax at the root, Teng & Zhang 2017, (15)-(17)"

    def __init__(
        self,
        *,
        hidden_size: int,
        classes: int,
        hidden: Annotated[int, Field(ge=0)] = 128,
        dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0,
    ):
        super().__init__(hidden_size=hidden_size, classes=classes, reads="roots")
        self.dropout = Dropout(dropout)
        self.hidden = (
            nn.Sequential(nn.Linear(hidden_size, hidden), nn.ReLU()) if hidden else nn.Identity()
        )
        self.linear = nn.Linear(hidden or hidden_size, classes)

    def forward(self, roots: Tensor) -> Tensor:
        """Logits (B, C) of root outputs (B, H)."""
        logits: Tensor = self.linear(self.hidden(self.dropout(roots)))
        return logits

    def scores(self, roots: Tensor) -> Tensor:
        """Probabilities P (B, C) of root outputs (B, H)."""
        return torch.softmax(self.forward(roots), 1)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Sum over the labelled trees of -log P[label], for logits (B, C) and labels int64 (B,), -1
        where there is none."""
        return functional.cross_entropy(logits, labels, ignore_index=-1, reduction="sum")
