"""The encoder of SPINN on given trees, against the reference recursion in float64."""

import pytest
import torch
from core.stacks import (
    FED,
    PLAIN,
    SCRIPT_WARNING,
    H,
    batch_of,
    cell_of,
    in_node_order,
    mixed_sizes,
    tracker_of,
)
from oracle import by_reference, gradients
from torch import Tensor

from thinstack.plugins.encoders.spinn.stack_encoder import StackEncoder


def encoder_of(name: str, lookahead: int = 1, *, parses: bool = True) -> StackEncoder:
    cell = cell_of(name)
    return StackEncoder(cell, tracker_of(cell, lookahead, parses=parses))


@pytest.mark.parametrize("lookahead", [1, 2, 5])
@pytest.mark.parametrize("name", PLAIN | FED)
def test_random_trees(name: str, lookahead: int) -> None:
    """By depth where the tracking LSTM only follows, by step where it feeds the composition; the
    same either way."""
    encoder = encoder_of(name, lookahead)
    assert encoder.hidden_size == H
    assert encoder.feeds == (name in FED)
    for seed, size in enumerate((1, 6, 15), start=10):
        batch = batch_of(mixed_sizes(size, seed), seed)
        expected = by_reference(encoder.cell, encoder.tracker, *batch)
        for grad in (True, False):
            with torch.set_grad_enabled(grad):
                found = in_node_order(encoder(batch.words, batch.transitions, batch.lengths))
                torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", [*PLAIN, "spinn_lstm_fed"])
def test_scores_that_are_not_wanted(name: str) -> None:
    """Without them the rest is the same, and a tracking LSTM that only follows is left out."""
    encoder, (words, lengths, transitions) = encoder_of(name), batch_of([3, 1, 5])
    expected = in_node_order(encoder(words, transitions, lengths))
    found = in_node_order(encoder(words, transitions, lengths, track=False))
    torch.testing.assert_close(
        (*found[:2], found.transitions), (*expected[:2], expected.transitions), rtol=0, atol=0
    )
    if name in PLAIN:
        assert found.choices.shape == (15, 0)
        assert found.free.tolist() == [0] * 15


@pytest.mark.parametrize("name", ["spinn_lstm", "child_sum_lstm"])
def test_following_finished_states_in_any_order(name: str) -> None:
    """`places` says where a node's output is; words are found by them too."""
    encoder, batch = encoder_of(name, lookahead=2), batch_of([3, 1, 5, 2])
    expected = by_reference(encoder.cell, encoder.tracker, *batch)
    places = torch.randperm(len(expected.outputs), generator=torch.Generator().manual_seed(3))
    stacked = torch.empty_like(expected.outputs).index_copy(0, places, expected.outputs)
    for integers in (torch.int64, torch.int32):
        choices, free = encoder.follow(
            stacked, places, batch.transitions.to(integers), batch.lengths
        )
        torch.testing.assert_close(
            (choices, free), (expected.choices, expected.free), rtol=0, atol=1e-10
        )


@pytest.mark.parametrize("name", PLAIN | FED)
def test_gradients(name: str) -> None:
    """Those that autograd finds in the reference, twice over one graph."""
    encoder = encoder_of(name, lookahead=2)
    batch = batch_of([3, 1, 6, 2])
    words = batch.words.requires_grad_()
    wanted = [words, *encoder.parameters()]
    expected = gradients(by_reference(encoder.cell, encoder.tracker, *batch)[:3], wanted)
    found = in_node_order(encoder(words, batch.transitions, batch.lengths))[:3]
    for _ in range(2):
        torch.testing.assert_close(gradients(found, wanted), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["spinn_lstm", "spinn_lstm_fed"])
def test_gradcheck(name: str) -> None:
    """Of all weights, of the cell and of the tracking LSTM."""
    encoder, batch = encoder_of(name, lookahead=2), batch_of([4, 1, 3])
    names, weights = zip(*encoder.named_parameters(), strict=True)

    def outputs(words: Tensor, *values: Tensor) -> tuple[Tensor, ...]:
        inputs = (words, batch.transitions, batch.lengths)
        encoding = torch.func.functional_call(
            encoder, dict(zip(names, values, strict=True)), inputs
        )
        return encoding.stacked, encoding.roots, encoding.choices

    assert torch.autograd.gradcheck(
        outputs, (batch.words.requires_grad_(), *weights), fast_mode=True
    )


def test_gradcheck_of_following() -> None:
    encoder, batch = encoder_of("nary_lstm", lookahead=2), batch_of([4, 1, 3])
    tracker, places = encoder.tracker, torch.arange(13).flip(0)
    names, weights = zip(*tracker.named_parameters(), strict=True)
    outputs = torch.randn(
        13, H, dtype=torch.float64, generator=torch.Generator().manual_seed(3)
    ).requires_grad_()

    def choices(outputs: Tensor, *values: Tensor) -> Tensor:
        with torch.nn.utils.stateless._reparametrize_module(
            tracker, dict(zip(names, values, strict=True))
        ):
            return encoder.follow(outputs, places, batch.transitions, batch.lengths)[0]

    assert torch.autograd.gradcheck(choices, (outputs, *weights), fast_mode=True)


@pytest.mark.parametrize("name", ["nary_lstm", "spinn_lstm_fed"])
def test_no_sentences(name: str) -> None:
    encoder, (words, lengths, transitions) = encoder_of(name), batch_of([])
    for found in (
        in_node_order(encoder(words, transitions, lengths)),
        in_node_order(encoder.parse(words, lengths)),
    ):
        assert [tuple(part.shape) for part in found] == [(0, H), (0, H), (0, 2), (0,), (0,)]


@pytest.mark.filterwarnings(SCRIPT_WARNING)
@pytest.mark.parametrize("name", ["child_sum_lstm", "two_widths_fed"])
def test_scripted(name: str) -> None:
    encoder = encoder_of(name, lookahead=2)
    scripted = torch.jit.script(encoder)
    for batch in (batch_of([4, 1, 7, 2]), batch_of([]), batch_of([1, 1]), batch_of([4, 1, 7, 2])):
        words, lengths, transitions = batch
        with torch.no_grad():
            for track in (True, False):
                expected = in_node_order(encoder(words, transitions, lengths, track))
                found = in_node_order(scripted(words, transitions, lengths, track))
                torch.testing.assert_close(found, expected, rtol=0, atol=1e-13)
