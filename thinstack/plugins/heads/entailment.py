"""A classifier of sentence pairs by a multi-layer perceptron (Bowman et al. 2016, section 4.1)."""

from collections.abc import Iterable

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.head import TaskHead
from thinstack.plugins import HeadSpec, hookimpl

__all__ = ["Entailment", "EntailmentOptions"]


class Entailment(TaskHead):
    """The relation of a premise p and a hypothesis h (Bowman et al. 2016, section 4.1).

        x = [p; h; p - h; p * h]                                        (6)
        P(label) = softmax(W MLP(x) + b),   MLP = `layers` layers ReLU(W_l x + b_l)

    Batch normalisation, then dropout, fall on what goes into the MLP and on what comes out of it.
    Its layers start from He et al. 2015 (normal, biases zero), W and b uniformly within 0.005. The
    cost is the cross-entropy, here its sum over pairs.

    Args:
        layers: number of layers of the MLP.
        width: width of each.
        batch_norm: whether to normalise; in training a batch of one pair, which has no variance,
            takes the running statistics.
    """

    def __init__(
        self,
        *,
        hidden_size: int,
        classes: int,
        layers: int = 2,
        width: int = 1024,
        dropout: float = 0.0,
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
        """Logits (P, C) of pairs (P, 2H), premise and hypothesis side by side."""
        premise, hypothesis = pairs[:, : self.hidden_size], pairs[:, self.hidden_size :]
        x = torch.cat([premise, hypothesis, premise - hypothesis, premise * hypothesis], 1)
        logits: Tensor = self.linear(self.after(self.mlp(self.before(x))))
        return logits

    def scores(self, pairs: Tensor) -> Tensor:
        """Probabilities (P, C) of pairs (P, 2H)."""
        return torch.softmax(self.forward(pairs), 1)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Sum over the labelled pairs of -log P(label), for logits (P, C) and labels int64 (P,), -1
        where there is none."""
        return functional.cross_entropy(logits, labels, ignore_index=-1, reduction="sum")


class _BatchNorm(nn.BatchNorm1d):
    """Takes the running statistics for fewer than two rows also in training, where torch's own
    raises."""

    momentum: float  # torch's own allows None

    def forward(self, rows: Tensor) -> Tensor:
        batch = self.training and rows.shape[0] > 1
        return functional.batch_norm(
            rows,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            batch,
            self.momentum,
            self.eps,
        )


class EntailmentOptions(BaseModel):
    """Options of `entailment.v1`.

    Attributes:
        layers: number of ReLU layers, 1 to 3.
        width: width of each.
        dropout: share of the MLP's input and of its output that is dropped in training.
        batch_norm: whether the MLP's input and its output are normalised over the batch.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    layers: int = Field(default=2, ge=1, le=3)
    width: int = Field(default=1024, ge=1)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    batch_norm: bool = True


def _build(*, hidden_size: int, classes: int, options: EntailmentOptions) -> TaskHead:
    return Entailment(hidden_size=hidden_size, classes=classes, **options.model_dump())


@hookimpl
def thinstack_heads() -> Iterable[HeadSpec]:
    """Register `entailment.v1`."""
    spec = HeadSpec(
        name="entailment.v1",
        build=_build,
        config=EntailmentOptions,
        summary="multi-layer perceptron over a pair, Bowman et al. 2016, (6)",
    )
    return [spec]
