"""A softmax classifier at every node (Tai, Socher & Manning 2015, section 4.1)."""

from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.dropout import Dropout
from thinstack.core.head import TaskHead

__all__ = ["NodeClassifier"]


class NodeClassifier(TaskHead):
    """p(y | node j) = softmax(W_s h_j + b_s), and the cost is the negative log-likelihood of the
    labelled nodes (Tai 4.1).

    With a hidden layer the softmax reads ReLU(W_hl h_j + b_hl) in place of h_j (Teng & Zhang 2017,
    (16)).

    The paper averages the cost over nodes; here `loss` is the sum, for the caller to divide as the
    training recipe says. Dropout falls on h.

    Args:
        hidden: width of the hidden layer, 0 for none.
    """

    name = "node_classifier.v1"
    summary = "softmax at every node, Tai et al. 2015, 4.1"

    def __init__(
        self,
        *,
        hidden_size: int,
        classes: int,
        hidden: Annotated[int, Field(ge=0)] = 0,
        dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0,
    ):
        super().__init__(hidden_size=hidden_size, classes=classes, reads="nodes")
        self.dropout = Dropout(dropout)
        self.hidden = (
            nn.Sequential(nn.Linear(hidden_size, hidden), nn.ReLU()) if hidden else nn.Identity()
        )
        self.linear = nn.Linear(hidden or hidden_size, classes)

    def forward(self, outputs: Tensor) -> Tensor:
        """Logits (n, C) of node outputs (n, H)."""
        logits: Tensor = self.linear(self.hidden(self.dropout(outputs)))
        return logits

    def scores(self, outputs: Tensor) -> Tensor:
        """Probabilities (n, C) of node outputs (n, H)."""
        return torch.softmax(self.forward(outputs), 1)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Sum over the labelled nodes of -log p(label), for logits (n, C) and labels (n,), -1 where
        there is none."""
        return functional.cross_entropy(logits, labels, ignore_index=-1, reduction="sum")
