"""The similarity of two sentences on a rating scale (Tai, Socher & Manning 2015, section 4.2)."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.config.base import Count, Rate
from thinstack.core.head import TaskHead


class Similarity(TaskHead):
    """A distribution over the ratings 1..K of a pair, with K classes (Tai et al. 2015, (15)).

        h_x = h_L * h_R
        h_+ = |h_L - h_R|
        h_s = sigmoid(W_x h_x + W_+ h_+ + b_h)
        p_hat = softmax(W_p h_s + b_p)
        y_hat = r' p_hat,   r = [1 2 .. K]

    A rating y in [1, K] becomes the sparse target p with y = r' p. The cost of a pair is
    KL(p || p_hat):

        p_i = y - floor(y) for i = floor(y) + 1,   floor(y) - y + 1 for i = floor(y),   0 otherwise

    The paper averages the cost over pairs; here `loss` is the sum. Dropout is applied to h_s.

    Args:
        classes: number K of ratings, at least 2.
        hidden: width of h_s.

    Raises ValueError for fewer than two ratings.
    """

    name = "similarity.v1"
    summary = "distribution over the ratings of a pair, Tai et al. 2015, (15)"
    rates = True

    def __init__(self, *, hidden_size: int, classes: int, hidden: Count = 50, dropout: Rate = 0.0):
        if classes < 2:
            raise ValueError(
                f"expected at least 2 ratings (the model's labels), found {classes}; add labels"
            )
        super().__init__(hidden_size=hidden_size, classes=classes, reads="pairs")
        self.product = nn.Linear(hidden_size, hidden, bias=False)  # W_x
        self.distance = nn.Linear(hidden_size, hidden)  # W_+ and b_h
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(hidden, classes)

    def forward(self, pairs: Tensor) -> Tensor:
        """Return the logits (P, K) of pairs (P, 2H), h_L before h_R."""
        left, right = pairs[:, : self.hidden_size], pairs[:, self.hidden_size :]
        h_s = torch.sigmoid(self.product(left * right) + self.distance((left - right).abs()))
        logits: Tensor = self.linear(self.dropout(h_s))
        return logits

    def scores(self, pairs: Tensor) -> Tensor:
        """Return the distribution p_hat (P, K) over the ratings 1..K, of pairs (P, 2H)."""
        return torch.softmax(self.forward(pairs), 1)

    def ratings(self, scores: Tensor) -> Tensor:
        """Return the expected ratings y_hat (P,) in [1, K] of distributions (P, K)."""
        return (scores * self._scale(scores)).sum(1)

    def loss(self, logits: Tensor, ratings: Tensor) -> Tensor:
        """Return the sum of KL(p || p_hat) over the rated pairs, for logits (P, K) and ratings (P,)
        in [1, K], where -1 means no rating."""
        # Both cases of the paper's p_i are 1 - |y - i|. At y = -1, all are 0, and so is the loss.
        target = (1 - (ratings.to(logits.dtype)[:, None] - self._scale(logits)).abs()).clamp(min=0)
        return functional.kl_div(torch.log_softmax(logits, 1), target, reduction="sum")

    def _scale(self, like: Tensor) -> Tensor:
        """r = [1 2 .. K]."""
        return torch.arange(1, self.classes + 1, dtype=like.dtype, device=like.device)
