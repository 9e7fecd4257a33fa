"""Beam search against all trees that a sentence has."""

import warnings
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from thinstack.core.beam import likeliest, trace
from thinstack.core.shift_reduce import ShiftReduce
from thinstack.core.stack_encoding import StackEncoding
from thinstack.plugins.cells.spinn_lstm import SpinnLSTM
from thinstack.spinn.tracking_lstm import TrackingLSTM

LENGTHS = torch.tensor([4, 1, 6, 2, 5, 3, 7])


def trees(words: int, stack: int = 0) -> Iterator[list[int]]:
    """Transitions of every binary tree over so many words more."""
    if words == 0 and stack == 1:
        yield []
        return
    if words:
        yield from ([0, *rest] for rest in trees(words - 1, stack + 1))
    if stack > 1:
        yield from ([1, *rest] for rest in trees(words, stack - 1))


def random_executor(seed: int, inner_size: int) -> ShiftReduce:
    torch.manual_seed(seed)
    cell = SpinnLSTM(input_size=4, hidden_size=5, inner_size=inner_size).double()
    executor = ShiftReduce(
        cell, TrackingLSTM(input_size=5, size=3, lookahead=2, parses=True).double()
    )
    for weight in executor.parameters():
        torch.nn.init.normal_(weight)
    return executor


def probability(encoding: StackEncoding) -> Tensor:
    """Logarithm of that of each sentence's tree: of all its choices."""
    chosen = encoding.choices.log_softmax(1).gather(1, encoding.transitions.unsqueeze(1)).squeeze(1)
    return torch.stack(
        [part.sum() for part in (chosen * encoding.free).split((2 * LENGTHS - 1).tolist())]
    )


@pytest.mark.parametrize("inner_size", [0, 3])
@pytest.mark.parametrize("seed", range(3))
def test_a_beam_wide_enough_finds_the_likeliest_tree_of_all(seed: int, inner_size: int) -> None:
    executor = random_executor(seed, inner_size)
    words = torch.randn(int(LENGTHS.sum()), 4, dtype=torch.float64)
    best = []
    for part in words.split(LENGTHS.tolist()):
        all_trees = torch.tensor(list(trees(len(part))))
        every = executor(
            part.repeat(len(all_trees), 1),
            all_trees.flatten(),
            torch.full([len(all_trees)], len(part)),
        )
        chosen = (
            every.choices.log_softmax(1).gather(1, every.transitions.unsqueeze(1)).squeeze(1)
            * every.free
        )
        best.append(chosen.view(len(all_trees), -1).sum(1).max())
    with torch.no_grad():
        found = [probability(executor.parse(words, LENGTHS, beam)) for beam in (1, 2, 200)]
    torch.testing.assert_close(found[2], torch.stack(best).detach())
    assert (found[0] <= found[2] + 1e-12).all()


def test_a_beam_finds_better_trees_than_the_likelier_transition_each_time() -> None:
    better = 0
    for seed in range(6):
        executor = random_executor(seed, 3)
        words = torch.randn(int(LENGTHS.sum()), 4, dtype=torch.float64)
        greedy, wide = (probability(executor.parse(words, LENGTHS, beam)) for beam in (1, 8))
        better += int((wide > greedy + 1e-9).sum())
    assert better > 3


@pytest.mark.parametrize("beam", [1, 2, 3, 50])
def test_what_the_best_hypothesis_made_is_what_its_tree_gives(beam: int) -> None:
    executor = random_executor(1, 3)
    words = torch.randn(int(LENGTHS.sum()), 4, dtype=torch.float64)
    found = executor.parse(words, LENGTHS, beam)
    given = executor(words, found.transitions, LENGTHS)
    torch.testing.assert_close(found.stacked[found.places], given.stacked[given.places])
    for name in ("roots", "choices", "free"):
        torch.testing.assert_close(getattr(found, name), getattr(given, name))


def test_sentences_in_a_beam_do_not_meet() -> None:
    executor = random_executor(2, 3)
    words = torch.randn(int(LENGTHS.sum()), 4, dtype=torch.float64)
    together = executor.parse(words, LENGTHS, 3).transitions.split((2 * LENGTHS - 1).tolist())
    for part, length, steps in zip(words.split(LENGTHS.tolist()), LENGTHS, together, strict=True):
        assert executor.parse(part, length.view(1), 3).transitions.tolist() == steps.tolist()


def test_an_empty_batch_has_no_trees() -> None:
    assert random_executor(0, 0).parse(
        torch.zeros(0, 4, dtype=torch.float64), LENGTHS[:0], 4
    ).transitions.shape == (0,)


def test_a_hypothesis_that_fills_a_place_takes_a_possible_transition() -> None:
    """Two sentences of two hypotheses each: one that can only SHIFT, one that can only REDUCE, and
    nothing beside them."""
    never = float("-inf")
    can_shift = torch.tensor([True, True, False, False])
    source, taken, scores = likeliest(
        torch.tensor([[0.0, 9.0]] * 2 + [[9.0, 0.0]] * 2),
        can_shift,
        ~can_shift,
        torch.tensor([-1.0, never] * 2),
        2,
    )
    assert (source // 2).tolist() == [0, 0, 1, 1]
    assert taken.tolist() == [0, 0, 1, 1]
    assert scores.tolist() == [-1.0, never] * 2
    assert source[::2].tolist() == [0, 2]


def test_the_way_back_follows_the_best_of_each_sentence_from_its_own_end() -> None:
    """Sentence 0 of three steps, sentence 1 of two, two hypotheses each; the second sentence's
    first hypothesis is best."""
    sources = [torch.tensor([0, 0, 2, 2]), torch.tensor([1, 0, 3, 3]), torch.tensor([0, 1])]
    scores = [torch.zeros(4), torch.tensor([0.0, 0.0, -1.0, -2.0]), torch.tensor([-3.0, -1.0])]
    assert [rows.tolist() for rows in trace(sources, scores, 2)] == [[0, 3], [1, 2], [1]]


def test_scripted() -> None:
    executor = random_executor(3, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)

        class Parser(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.executor = executor

            def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
                return self.executor.parse(words, lengths, 3).transitions

        scripted = torch.jit.script(Parser())
    words = torch.randn(int(LENGTHS.sum()), 4, dtype=torch.float64)
    assert (
        scripted(words, LENGTHS).tolist() == executor.parse(words, LENGTHS, 3).transitions.tolist()
    )
