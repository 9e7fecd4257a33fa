"""Compute the stack contents at each step, for transitions that are known in advance, vectorized
over the batch.

Sentences are sorted by decreasing length, so the unfinished ones come first. *Time-major* order is
all first transitions, then all second transitions, and so on.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from thinstack.core.schedule import arange, check_transitions, parents_of_transitions


class Timetable(NamedTuple):
    """The steps of the N transitions of B sentences, which depend only on the lengths."""

    order: Tensor  # (B,) the sentences, from the longest to the shortest
    counts: Tensor  # (T,) the number of unfinished sentences at each step
    places: Tensor  # (N,) the node that each transition creates, in time-major order
    times: Tensor  # (N,) the step of each transition, in time-major order
    ends: Tensor  # (N,) the word after the last of each node's sentence, in node order
    firsts: Tensor  # (N,) 1 for the first node of each sentence, in node order
    roots: Tensor  # (B,) the last node of each sentence
    word_ends: Tensor  # (L,) the word after the last of each word's sentence


class StackSchedule(NamedTuple):
    """Index tensors (int64) of a batch; `pairs` and `fronts` precede each transition."""

    pairs: Tensor  # (N, 2) time-major: the second and the top node of the stack, 0 for none
    fronts: Tensor  # (N,) time-major: the next word of the buffer, L if it is empty
    reduce_counts: Tensor  # (T,) the number of sentences that REDUCE at each step
    reducing: Tensor  # (N - L,) which of the unfinished sentences REDUCE, by step
    free: Tensor  # (N,) 1 if both transitions were possible, in node order


def sentence_lengths(transitions: Tensor) -> Tensor:
    """Return the words (B,) of each sentence, from transitions (N,) of complete binary trees."""
    parents, _ = parents_of_transitions(transitions)
    roots = arange(parents.size(0), parents.device).masked_select(parents < 0)
    before = torch.cat([roots.new_zeros([1]) - 1, roots])[:-1]
    return (roots - before + 1) // 2


def timetable(lengths: Tensor) -> Timetable:
    """Return the timetable of sentences of n >= 1 words each, from their lengths (B,)."""
    words = lengths.long()
    sizes = 2 * words - 1
    order = torch.argsort(words, descending=True, stable=True)
    number = torch.arange(order.shape[0], device=order.device)
    rank = torch.empty_like(order).index_copy(0, order, number)
    sentence = torch.repeat_interleave(number, sizes)
    starts = (torch.cumsum(sizes, 0) - sizes).index_select(0, sentence)
    time = torch.arange(sentence.shape[0], device=sizes.device) - starts
    places = torch.argsort(time * max(1, sizes.shape[0]) + rank.index_select(0, sentence))
    steps = int(sizes.max()) if sizes.shape[0] > 0 else 0
    counts = sizes.new_zeros([steps]).index_add(0, time, torch.ones_like(time))
    ends = torch.cumsum(words, 0)
    return Timetable(
        order=order,
        counts=counts,
        places=places,
        times=time.index_select(0, places),
        ends=ends.index_select(0, sentence),
        firsts=(time == 0).long(),
        roots=torch.cumsum(sizes, 0) - 1,
        word_ends=torch.repeat_interleave(ends, words),
    )


def numbers_by_making(transitions: Tensor, table: Timetable) -> Tensor:
    """Number the nodes (N,) in creation order: 1 .. L for words, L + 1 .. N for the others."""
    words = 1 - transitions.long()
    reduces = table.places.masked_select(words.index_select(0, table.places) == 0)
    first = words.shape[0] - reduces.shape[0] + 1
    numbers = torch.arange(first, first + reduces.shape[0], device=words.device)
    return torch.cumsum(words, 0).index_copy(0, reduces, numbers)


def schedule_stack(transitions: Tensor, numbers: Tensor, table: Timetable) -> StackSchedule:
    """Return the schedule of valid transitions (N,), 0 SHIFT and 1 REDUCE, of sentences with this
    timetable. `numbers`: (N,) of the nodes, >= 1."""
    steps = transitions.long()
    position = torch.arange(steps.shape[0], device=steps.device)
    # The node below i is the latest earlier node of the same sentence at depth - 1, or none at
    # height 1.
    depth = torch.cumsum(1 - 2 * steps, 0)
    height = depth - (torch.cumsum(table.firsts, 0) - 1)
    key = depth * (steps.shape[0] + 1) + position
    ordered, order = torch.sort(key)
    below = (torch.searchsorted(ordered, key - (steps.shape[0] + 1)) - 1).clamp(min=0)
    under = numbers.index_select(0, order.index_select(0, below)) * (height > 1).long()

    before = (position - 1).clamp(min=0)
    started = 1 - table.firsts
    top, second = numbers.index_select(0, before) * started, under.index_select(0, before) * started
    shifted = torch.cumsum(1 - steps, 0)
    front = shifted - (1 - steps)
    has_word = front < table.ends
    reduces = steps.index_select(0, table.places).nonzero().squeeze(1)
    times = table.times.index_select(0, reduces)
    return StackSchedule(
        pairs=torch.stack([second, top], 1).index_select(0, table.places),
        fronts=torch.where(has_word, front, shifted[-1:]).index_select(0, table.places),
        reduce_counts=torch.zeros_like(table.counts).index_add(0, times, torch.ones_like(times)),
        reducing=reduces - (torch.cumsum(table.counts, 0) - table.counts).index_select(0, times),
        free=(has_word & (second > 0)).long(),
    )


def check_sentences(
    words: Tensor, inputs: dict[str, Tensor], parses: bool, joins: bool
) -> tuple[Tensor, Tensor, bool]:
    """Return the transitions (N,) and lengths (B,) in the inputs of an encoder of sentences, and
    whether there are input trees, which are over texts if it `joins` sentences.

    Raises ValueError for sentences without words, for words or lengths that do not match the trees,
    for missing trees if the encoder does not parse, and as `breaks_behind` does.
    """
    none = inputs["lengths"] if "lengths" in inputs else words.flatten()
    transitions = inputs["transitions"] if "transitions" in inputs else none[:0].long()
    has_trees = transitions.shape[0] > 0 or words.shape[0] == 0
    if not has_trees and not parses:
        raise ValueError("a model without a parser needs transitions: pass them")
    if not has_trees and "lengths" not in inputs:
        raise ValueError("expected lengths (the model then parses) or transitions; found neither")
    if has_trees:
        check_transitions(transitions)
    lengths = inputs["lengths"] if "lengths" in inputs else sentence_lengths(transitions)
    if bool((lengths < 1).any()):
        raise ValueError("lengths must be at least 1: remove sentences without words")
    if words.shape[0] != int(lengths.sum()):
        raise ValueError(
            f"expected {int(lengths.sum())} words, the sum of the lengths, found {words.shape[0]}"
        )
    trees = lengths.long()
    if joins:  # of texts
        ends = torch.cumsum(trees, 0).masked_select(breaks_behind(lengths, inputs) == 0)
        trees = ends - torch.cat([torch.zeros_like(ends[:1]), ends[:-1]])
    if has_trees and not torch.equal(sentence_lengths(transitions), trees):
        raise ValueError(
            "lengths and transitions disagree: a sentence of n words has 2n - 1 transitions, as "
            "does a text of n words whose sentences are joined by breaks"
        )
    return transitions, lengths, has_trees


def breaks_behind(lengths: Tensor, inputs: dict[str, Tensor]) -> Tensor:
    """Return the breaks (S,) in the inputs, or zeros, after sentences of these lengths (S,).

    Raises ValueError unless there is one per sentence, all are from 0 to `MOST_BREAK`, and the last
    is 0.
    """
    if "breaks" not in inputs:
        return torch.zeros_like(lengths).long()
    breaks, most = inputs["breaks"].long(), 61440  # MOST_BREAK, unknown to TorchScript
    if breaks.shape[0] != lengths.shape[0]:
        raise ValueError(
            f"expected {lengths.shape[0]} breaks, one per sentence, found {breaks.shape[0]}; "
            "use 0 for the last sentence of each text"
        )
    if bool(((breaks < 0) | (breaks > most)).any()):
        raise ValueError(
            f"breaks must be between 0 and {most}, found {int(breaks.min())} to "
            f"{int(breaks.max())}; duplicates are allowed"
        )
    if bool((breaks[-1:] > 0).any()):
        raise ValueError(
            f"the last break must be 0 because no sentence follows, found {int(breaks[-1])}"
        )
    return breaks
