"""The transitions that a tracking LSTM chooses by itself: always one tree a sentence, and those of
the reference."""

import pytest
import torch
from core.stacks import FED, PLAIN, batch_of, cell_of, in_node_order, mixed_sizes, tracker_of
from oracle import by_reference

from thinstack.core.transitions import validate
from thinstack.plugins.encoders.spinn.shift_reduce import ShiftReduce


def parser_of(name, lookahead=1, **drawn):
    cell = cell_of(name)
    return ShiftReduce(cell, tracker_of(cell, lookahead, **drawn))


def check_trees(transitions, lengths):
    """One tree over all of its words for each sentence."""
    assert len(transitions) == sum(2 * words - 1 for words in lengths)
    for taken, words in zip(
        transitions.split([2 * words - 1 for words in lengths]), lengths, strict=True
    ):
        validate(taken.numpy(), words)


LEAN = (-6.0, -1.5, 0.0, 1.5, 6.0)
"""What is added to the score of REDUCE: from a parser that all but never REDUCEs to one that all
but always does."""


@pytest.mark.parametrize("lean", LEAN)
def test_ten_thousand_random_inputs(lean):
    """2,000 for each lean, of 1 to 14 words, by 8 sets of weights from small to large."""
    reduces = words = 0
    for seed in range(8):
        parser = parser_of(
            ("spinn_lstm_fed", "nary_lstm")[seed % 2], 1 + seed % 3, seed=seed, scale=0.2 * 2**seed
        )
        parser.tracker.b_transition.data = torch.tensor([0, lean], dtype=torch.float64)
        batch = batch_of(mixed_sizes(250, seed), seed)
        found = parser.parse(batch.words, batch.lengths)
        check_trees(found.transitions, batch.lengths.tolist())
        free = found.free == 1
        assert torch.equal(found.transitions[free], found.choices[free].argmax(1))
        reduces, words = reduces + int(found.transitions[free].sum()), words + int(free.sum())
    share = reduces / words
    assert {-6.0: share < 0.3, 0.0: 0.2 < share < 0.8, 6.0: share > 0.7}.get(
        lean, 0.05 < share < 0.95
    ), share


@pytest.mark.parametrize("lookahead", [1, 2, 5])
@pytest.mark.parametrize("name", PLAIN | FED)
def test_the_parse_of_the_reference(name, lookahead):
    for seed, size in enumerate((1, 6, 15)):
        parser = parser_of(name, lookahead, seed=seed)
        words, lengths, given = batch_of(mixed_sizes(size, seed + 20), seed)
        expected = by_reference(parser.cell, parser.tracker, words, lengths)
        found = in_node_order(parser.parse(words, lengths))
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
        assert not any(part.requires_grad for part in found)
        assert size < 15 or found.transitions.tolist() != given.tolist()


LENGTHS = [[1], [2], [300], [], [2, 1, 300, 1, 7, 2], [1, 1, 1]]


@pytest.mark.parametrize("lean", [-6.0, 0.0, 6.0])
@pytest.mark.parametrize("sizes", LENGTHS, ids=str)
def test_sentences_of_any_length(sizes, lean):
    parser = parser_of("spinn_lstm_fed", 2)
    parser.tracker.b_transition.data += torch.tensor([0, lean])
    words, lengths, _ = batch_of(sizes)
    found = in_node_order(parser.parse(words, lengths))
    check_trees(found.transitions, sizes)
    assert found.roots.shape == (len(sizes), 4)
    assert torch.isfinite(found.outputs).all()
    given = in_node_order(parser(words, found.transitions, lengths))
    torch.testing.assert_close(given, found, rtol=0, atol=1e-12)
