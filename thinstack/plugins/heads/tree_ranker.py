"""Scores candidate trees of a sentence, for reranking the output of a parser (Teng & Zhang 2017,
section 8.1)."""

from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn

from thinstack.core.head import TaskHead

__all__ = ["TreeRanker"]


class TreeRanker(TaskHead):
    """Scores each constituent A with children B and C by its label, and a tree by its constituents
    (Teng & Zhang 2017).

        y_hat = argmax over candidates y of f(x, y)                                         (18)
        f(x, y) = sum over constituents A of Score(A)                                       (19)
        o = ReLU(W_L n_B + W_R n_C + W_H h_A + b),   Score(A) = log softmax(o)[A]           (20)
        r_i = max(0, max over candidates y of f(x_i, y) + Delta(y_i, y) - f(x_i, y_i))      (22)
        Delta(y_i, y) = kappa * number of constituents of y that the oracle y_i has not     (23)

    `forward` and `scores` take a row for each constituent. `loss` takes whole trees: its caller
    knows the constituents' labels, and sums their scores (19). The paper averages r_i over
    sentences (21). Here `loss` is the sum.

    Args:
        hidden_size: width H of n_B and n_C.
        classes: number C of constituent labels.
        word_size: width of the head-word vector h_A. It is 0 if the cell has no head words, and
            then W_H h_A is left out.
        kappa: loss for each constituent that is wrong.
    """

    name = "tree_ranker.v1"
    summary = "score of a candidate tree, Teng & Zhang 2017, (18)-(23)"

    def __init__(
        self,
        *,
        hidden_size: int,
        classes: int,
        word_size: int = 0,
        kappa: Annotated[float, Field(ge=0)] = 0.1,
    ):
        super().__init__(hidden_size=hidden_size, classes=classes, reads="candidates")
        self.kappa = float(kappa)
        # W_L, W_R and W_H side by side.
        self.linear = nn.Linear(2 * hidden_size + word_size, classes)

    def forward(self, constituents: Tensor) -> Tensor:
        """o (n, C) of constituents (n, 2H + word_size), each [n_B; n_C; h_A]."""
        return torch.relu(self.linear(constituents))

    def scores(self, constituents: Tensor) -> Tensor:
        """Log probabilities (n, C) of the labels of constituents (n, 2H + word_size)."""
        return torch.log_softmax(self.forward(constituents), 1)

    def loss(self, scores: Tensor, candidates: Tensor) -> Tensor:
        """The sum over sentences of r_i, for the scores f (B,) of trees and their `candidates`
        int64 (B, 2).

        Column 0 is the sentence, 0..S-1, that a tree is a candidate for. Column 1 is the number of
        its constituents that the sentence's oracle does not have. A tree with -1 in either column
        is left out. Each sentence needs its oracle, a tree with 0; without one the loss is
        infinite.
        """
        # No sentence has less than one tree, so B places do for all sentences. One more takes what
        # is left out: what is chosen by a mask would have the host wait for its size.
        is_candidate, places = (candidates >= 0).all(1), scores.shape[0]
        sentence = candidates[:, 0].masked_fill(~is_candidate, places)
        wrong = candidates[:, 1].to(scores.dtype)
        none = scores.new_zeros([places + 1])
        rivals, oracles = scores + self.kappa * wrong, scores.masked_fill(wrong > 0, -torch.inf)
        rival = none.scatter_reduce(0, sentence, rivals, "amax", include_self=False)
        oracle = none.scatter_reduce(0, sentence, oracles, "amax", include_self=False)
        # Not below 0: the oracle is one of its own rivals, with a margin of 0.
        return (rival - oracle)[:-1].sum()
