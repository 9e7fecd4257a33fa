"""Beam search over transitions: of all ways to go on from the hypotheses of a sentence, the
likeliest few are kept."""

import torch
from torch import Tensor

__all__ = ["likeliest", "trace", "widen"]


def widen(rows: Tensor, width: int) -> Tensor:
    """Each row (B, ...) `width` times in turn: those of a sentence's hypotheses stand together."""
    return torch.repeat_interleave(rows, width, dim=0)


def likeliest(
    choices: Tensor, can_shift: Tensor, can_reduce: Tensor, scores: Tensor, width: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The hypotheses to go on with: which one (n,) each comes from, the transition (n,) it takes,
    and its score (n,).

    A score is the log-probability of all transitions so far; where only one is possible its
    probability is 1. A hypothesis of score -inf fills a place for which there are not ways enough;
    it takes a possible transition too, so that it does no harm.

    Args:
        choices: (n, 2) unnormalised scores of SHIFT and REDUCE of n = B * width hypotheses.
        can_shift, can_reduce: (n,) bool; one is true.
        scores: (n,) so far.
        width: hypotheses of a sentence.
    """
    possible = torch.stack([can_shift, can_reduce], 1)
    ways = choices.masked_fill(~possible, float("-inf")).log_softmax(1) + scores.unsqueeze(1)
    best, place = ways.masked_fill(~possible, float("-inf")).view(-1, 2 * width).topk(width, 1)
    first = torch.arange(0, scores.shape[0], width, device=scores.device).unsqueeze(1)
    source, action = (first + place // 2).flatten(), (place % 2).flatten()
    is_possible = possible.index_select(0, source).gather(1, action.unsqueeze(1)).squeeze(1)
    return source, torch.where(is_possible, action, 1 - action), best.flatten()


def trace(sources: list[Tensor], scores: list[Tensor], width: int) -> list[Tensor]:
    """Which hypothesis (B_t,) of each sentence leads to its best last one, at each step t.

    Args:
        sources: at each step the hypothesis before it (B_t * width,) that each comes from;
            sentences end last first.
        scores: at each step those of the hypotheses (B_t * width,).
        width: hypotheses of a sentence.
    """
    found: list[Tensor] = []
    rows = scores[-1][:0].long()
    for step in range(len(scores) - 1, -1, -1):
        if step + 1 < len(scores):
            rows = sources[step + 1].index_select(0, rows)
        ending = scores[step].view(-1, width)[rows.shape[0] :].argmax(1)
        first = (
            torch.arange(rows.shape[0], rows.shape[0] + ending.shape[0], device=rows.device) * width
        )
        rows = torch.cat([rows, first + ending])
        found.append(rows)
    found.reverse()
    return found
