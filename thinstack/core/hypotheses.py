"""Where the sentences are that are being parsed, and what they do at a step."""

from typing import NamedTuple

import torch
from torch import Tensor

from thinstack.core.beam import widen
from thinstack.core.stack_schedule import Timetable

__all__ = ["Hypotheses", "Step", "first_hypotheses", "first_of", "rows_of"]


class Hypotheses(NamedTuple):
    """Where the sentences that go on are, each with one or more hypotheses side by side.

    `front` is the next word of the buffer, `ends` the one after the last; a row of `queue` is what
    stands on the stack, over two numbers of nothing, up to `height`; `hidden` and `memory` are
    those of the tracking LSTM; `scores` log-probabilities.
    """

    front: Tensor
    height: Tensor
    queue: Tensor
    ends: Tensor
    hidden: Tensor
    memory: Tensor
    scores: Tensor


class Step(NamedTuple):
    """What the hypotheses did: `pairs` was on top of their stacks, `numbers` they pushed, `taken`
    is the transition, `choices` its scores, `free` whether there was a choice; `source` is the
    hypothesis before, empty without a beam."""

    pairs: Tensor
    numbers: Tensor
    taken: Tensor
    choices: Tensor
    free: Tensor
    scores: Tensor
    source: Tensor


def first_hypotheses(
    words: Tensor, lengths: Tensor, table: Timetable, tracker_size: int, beam: int
) -> Hypotheses:
    """One hypothesis for each sentence, by falling length, and with a beam others of no
    probability."""
    counts = lengths.long().index_select(0, table.order)
    ends = torch.cumsum(lengths.long(), 0).index_select(0, table.order)
    front, ends = widen(ends - counts, beam), widen(ends, beam)
    longest = int(lengths.max()) if lengths.shape[0] > 0 else 0
    scores = words.new_zeros([lengths.shape[0], beam])
    scores[:, 1:] = float("-inf")
    hidden = words.new_zeros([front.shape[0], tracker_size])
    queue = front.new_zeros([front.shape[0], 2 + longest])
    return Hypotheses(
        front, torch.full_like(front, 2), queue, ends, hidden, hidden, scores.flatten()
    )


def first_of(now: Hypotheses, count: int) -> Hypotheses:
    """The first `count` hypotheses: sentences end last first."""
    return Hypotheses(
        now.front[:count],
        now.height[:count],
        now.queue[:count],
        now.ends[:count],
        now.hidden[:count],
        now.memory[:count],
        now.scores[:count],
    )


def rows_of(step: Step, rows: Tensor) -> Step:
    return Step(
        step.pairs.index_select(0, rows),
        step.numbers.index_select(0, rows),
        step.taken.index_select(0, rows),
        step.choices.index_select(0, rows),
        step.free.index_select(0, rows),
        step.scores.index_select(0, rows),
        rows,
    )
