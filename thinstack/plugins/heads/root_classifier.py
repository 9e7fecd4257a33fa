"""A softmax classifier of whole trees (Teng & Zhang 2017, section 5)."""

from collections.abc import Iterable

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.head import TaskHead
from thinstack.plugins import HeadSpec, hookimpl

__all__ = ["RootClassifier", "RootClassifierOptions"]


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

    def __init__(self, *, hidden_size: int, classes: int, hidden: int = 128, dropout: float = 0.0):
        super().__init__(hidden_size=hidden_size, classes=classes, reads="roots")
        self.dropout = nn.Dropout(dropout)
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


class RootClassifierOptions(BaseModel):
    """Options of `root_classifier.v1`.

    Attributes:
        hidden: width of the ReLU layer before the softmax, 0 for none.
        dropout: share of a root's output that is dropped in training.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    hidden: int = Field(default=128, ge=0)
    dropout: float = Field(default=0.0, ge=0, lt=1)


def _build(*, hidden_size: int, classes: int, options: RootClassifierOptions) -> TaskHead:
    return RootClassifier(
        hidden_size=hidden_size, classes=classes, hidden=options.hidden, dropout=options.dropout
    )


@hookimpl
def thinstack_heads() -> Iterable[HeadSpec]:
    """Register `root_classifier.v1`."""
    spec = HeadSpec(
        name="root_classifier.v1",
        build=_build,
        config=RootClassifierOptions,
        summary="ReLU layer and softmax at the root, Teng & Zhang 2017, (15)-(17)",
    )
    return [spec]
