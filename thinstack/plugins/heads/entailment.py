"""A classifier of sentence pairs by a multi-layer perceptron (Bowman et al. 2016, section 4.1)."""

from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.config.base import Count, Rate
from thinstack.plugins.heads._classifier import Softmax


class Entailment(Softmax):
    """The relation of a premise p and a hypothesis h (Bowman et al. 2016, section 4.1).

        x = [p; h; p - h; p * h]                                        (6)
        P(label) = softmax(W MLP(x) + b),   MLP = `layers` layers ReLU(W_l x + b_l)

    Batch normalization, then dropout, are applied to the input and the output of the MLP. Its
    layers are initialized as in He et al. 2015 (normal, biases zero), W and b uniformly within
    0.005. The cost is the cross-entropy, here summed over pairs.

    Args:
        layers, width: number of layers of the MLP, and the width of each.
        batch_norm: whether to normalize. In training, a batch of one pair has no variance, and uses
            the running statistics.
    """

    name = "entailment.v1"
    summary = "multi-layer perceptron over a pair, Bowman et al. 2016, (6)"

    def __init__(
        self,
        *,
        hidden_size: int,
        classes: int,
        layers: Annotated[int, Field(ge=1, le=3)] = 2,
        width: Count = 1024,
        dropout: Rate = 0.0,
        batch_norm: bool = True,
    ):
        super().__init__(hidden_size=hidden_size, classes=classes, reads="pairs")
        features = 4 * hidden_size
        self.before = nn.Sequential(
            _BatchNorm(features) if batch_norm else nn.Identity(), nn.Dropout(dropout)
        )
        self.mlp = nn.Sequential()
        for fan_in in [features] + [width] * (layers - 1):
            layer = nn.Linear(fan_in, width)
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)
            self.mlp.extend([layer, nn.ReLU()])
        self.after = nn.Sequential(
            _BatchNorm(width) if batch_norm else nn.Identity(), nn.Dropout(dropout)
        )
        self.linear = nn.Linear(width, classes)
        for part in (self.linear.weight, self.linear.bias):
            nn.init.uniform_(part, -0.005, 0.005)

    def forward(self, pairs: Tensor) -> Tensor:
        """Return the logits (P, C) of pairs (P, 2H), premise before hypothesis."""
        premise, hypothesis = pairs[:, : self.hidden_size], pairs[:, self.hidden_size :]
        x = torch.cat([premise, hypothesis, premise - hypothesis, premise * hypothesis], 1)
        logits: Tensor = self.linear(self.after(self.mlp(self.before(x))))
        return logits


class _BatchNorm(nn.BatchNorm1d):
    """Batch normalization that uses running statistics for fewer than two rows."""

    momentum: float  # torch allows None

    def forward(self, rows: Tensor) -> Tensor:
        batch = self.training and rows.shape[0] > 1
        mean, var = self.running_mean, self.running_var
        return functional.batch_norm(
            rows, mean, var, self.weight, self.bias, batch, self.momentum, self.eps
        )
