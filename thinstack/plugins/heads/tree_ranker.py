"""Scores candidate trees of a sentence, for reranking the output of a parser (Teng & Zhang 2017,
section 8.1)."""

from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn

from thinstack.core.head import TaskHead


class TreeRanker(TaskHead):
    """Scores of constituents A with children B and C by their labels, and of trees by their
    constituents (Teng & Zhang 2017).

        y_hat = argmax over candidates y of f(x, y)                                         (18)
        f(x, y) = sum over constituents A of Score(A)                                       (19)
        o = ReLU(W_L n_B + W_R n_C + W_H h_A + b),   Score(A) = log softmax(o)[A]           (20)
        r_i = max(0, max over candidates y of f(x_i, y) + Delta(y_i, y) - f(x_i, y_i))      (22)
        Delta(y_i, y) = kappa * number of constituents of y that are not in the oracle y_i  (23)

    `forward` and `scores` take a row per constituent. `loss` takes whole trees: its caller, which
    has the labels of the constituents, sums their scores (19). The paper averages r_i over
    sentences (21); here `loss` is the sum.

    Args:
        hidden_size: width H of n_B and n_C.
        classes: number C of constituent labels.
        word_size: width of the head-word vector h_A; 0 if the cell has no head words, which omits
            W_H h_A.
        kappa: loss for each wrong constituent.
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
        """Return o (n, C) of constituents (n, 2H + word_size), each [n_B; n_C; h_A]."""
        return torch.relu(self.linear(constituents))

    def scores(self, constituents: Tensor) -> Tensor:
        """Return log probabilities (n, C) of labels, of constituents (n, 2H + word_size)."""
        return torch.log_softmax(self.forward(constituents), 1)

    def loss(self, scores: Tensor, candidates: Tensor) -> Tensor:
        """Return the sum of r_i over sentences, for the scores f (B,) of trees and `candidates`
        int64 (B, 2).

        Column 0 is the sentence, 0..S-1, that a tree is a candidate for. Column 1 is the number of
        its constituents that are not in the sentence's oracle. A tree with -1 in either column is
        ignored. Each sentence needs an oracle, a tree with 0; otherwise the loss is infinite.
        """
        # B places suffice, because each sentence has a tree. One more collects the ignored trees,
        # because the host would wait for the size of a selection by mask.
        is_candidate, places = (candidates >= 0).all(1), scores.shape[0]
        sentence = candidates[:, 0].masked_fill(~is_candidate, places)
        wrong = candidates[:, 1].to(scores.dtype)
        none = scores.new_zeros([places + 1])
        rivals, oracles = scores + self.kappa * wrong, scores.masked_fill(wrong > 0, -torch.inf)
        rival = none.scatter_reduce(0, sentence, rivals, "amax", include_self=False)
        oracle = none.scatter_reduce(0, sentence, oracles, "amax", include_self=False)
        # At least 0, because the oracle is among the rivals, with a margin of 0.
        return (rival - oracle)[:-1].sum()
