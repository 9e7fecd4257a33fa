"""The encoder of SPINN on given trees, against the reference recursion in float64."""

import pytest
import torch
from core.stacks import PLAIN, batch_of, cell_of, in_node_order, tracker_of
from oracle import by_reference

from thinstack.plugins.encoders.spinn.stack_encoder import StackEncoder
from thinstack.plugins.encoders.spinn.tracking_lstm import TrackingLSTM


def encoder_of(name, lookahead=1, *, parses=True):
    cell = cell_of(name)
    return StackEncoder(cell, tracker_of(cell, lookahead, parses=parses))


@pytest.mark.parametrize("name", [*PLAIN, "spinn_lstm_fed"])
def test_scores_that_are_not_wanted(name):
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
def test_following_finished_states_in_any_order(name):
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


def test_weights_of_a_tracker_start_within_one_over_the_root_of_what_a_gate_reads():
    torch.manual_seed(3)
    tracker = TrackingLSTM(input_size=50, size=40, lookahead=2, parses=True)
    bounds = {"w_stack": 200**-0.5, "w_buffer": 200**-0.5, "u": 40**-0.5, "w_transition": 40**-0.5}
    for name, bound in bounds.items():
        assert 0.9 * bound < getattr(tracker, name).abs().max() <= bound
    assert tracker.b.abs().sum() == tracker.b_transition.abs().sum() == 0
