"""The tracking LSTM against its equation, written out in NumPy one step at a time."""

import numpy as np
import pytest
import torch
from core.stacks import drawn

from thinstack.plugins.encoders.spinn.tracking_lstm import TrackingLSTM

H, T = 4, 3


def new(lookahead: int = 1, *, parses: bool = True) -> TrackingLSTM:
    return drawn(TrackingLSTM(input_size=H, size=T, lookahead=lookahead, parses=parses))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def by_hand(
    tracker: TrackingLSTM, second, top, buffer: list, h, c
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """h', c' and scores of one step: (5) and the equation of the docstring, one input after the
    other."""
    p = {name: part.detach().numpy() for name, part in tracker.named_parameters()}
    gates = p["b"] + h @ p["u"] + second @ p["w_stack"][:, : 4 * T] + top @ p["w_stack"][:, 4 * T :]
    for ahead, word in enumerate(buffer):
        gates = gates + word @ p["w_buffer"][:, 4 * T * ahead : 4 * T * (ahead + 1)]
    i, f, o, g = (
        sigmoid(gates[:T]),
        sigmoid(gates[T : 2 * T]),
        sigmoid(gates[2 * T : 3 * T]),
        np.tanh(gates[3 * T :]),
    )
    c = f * c + i * g
    h = o * np.tanh(c)
    return h, c, h @ p["w_transition"] + p["b_transition"]


@pytest.fixture
def outputs():
    """Of the words 0-2 of one sentence, the words 3-4 of the next, and two nodes more."""
    return torch.from_numpy(np.random.default_rng(4).normal(size=(7, H)))


ENDS = torch.tensor([3, 3, 3, 5, 5])


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("lookahead", [1, 2, 3, 5])
@pytest.mark.parametrize(("second", "top"), [(6, 5), (5, 6), (None, 5), (None, None)])
def test_a_step_that_reads_every_place(outputs, second, top, lookahead, grad):
    """At each front of the buffer; the sentence's end hides the next one's words, and the last row
    is the empty buffer."""
    tracker = new(lookahead)
    h, c = (torch.from_numpy(np.random.default_rng(seed).normal(size=(6, T))) for seed in (5, 6))
    with torch.set_grad_enabled(grad):
        nodes = tracker.read_nodes(outputs)
        assert nodes.shape == (7, 8 * T)
        buffer = tracker.read_buffer(outputs[:5], ENDS)
        assert buffer.shape == (6, 4 * T)
        read = buffer.clone()
        for place, node in enumerate((second, top)):
            if node is not None:
                read = read + nodes[node, 4 * T * place : 4 * T * (place + 1)]
        new_h, new_c = tracker.step(read, h, c)
        scores = tracker.choices(new_h)
    x, none = outputs.numpy(), np.zeros(H)
    for front, end in enumerate([*ENDS.tolist(), 5]):
        words = [x[word] if word < end else none for word in range(front, front + lookahead)]
        stack = [none if node is None else x[node] for node in (second, top)]
        expected = by_hand(tracker, *stack, words, h[front].numpy(), c[front].numpy())
        for found, value in zip((new_h, new_c, scores), expected, strict=True):
            np.testing.assert_allclose(found[front].detach(), value, rtol=0, atol=1e-14)


def test_weights_start_within_one_over_the_root_of_what_a_gate_reads():
    torch.manual_seed(3)
    tracker = TrackingLSTM(input_size=50, size=40, lookahead=2, parses=True)
    bounds = {"w_stack": 200**-0.5, "w_buffer": 200**-0.5, "u": 40**-0.5, "w_transition": 40**-0.5}
    for name, bound in bounds.items():
        assert 0.9 * bound < getattr(tracker, name).abs().max() <= bound
