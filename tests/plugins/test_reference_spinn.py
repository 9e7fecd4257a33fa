"""The reference of SPINN against the worked example of the paper (its Table 1) written out by hand
in NumPy."""

import numpy as np
import pytest
import torch
from core.stacks import H, cell_of, drawn, tracker_of
from spinn_reference import encode_spinn

from thinstack.plugins.cells.spinn_lstm import SpinnLSTM
from thinstack.plugins.encoders.spinn.tracking_lstm import TrackingLSTM

X, T, SHIFT, REDUCE = 3, 2, 0, 1
SPOT_SAT_DOWN = [SHIFT, SHIFT, SHIFT, REDUCE, REDUCE]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_spot_sat_down_by_hand():
    """(1)-(5) with D = 4, a tracking LSTM of width 2 and a look at the next two words."""
    cell = drawn(SpinnLSTM(input_size=X, hidden_size=H, inner_size=T))
    tracker = drawn(TrackingLSTM(input_size=H, size=T, lookahead=2, parses=True), seed=2)
    p = {
        name: part.detach().numpy()
        for module in (cell, tracker)
        for name, part in module.named_parameters()
    }
    x = np.random.default_rng(1).normal(size=(3, X))
    nothing = np.zeros(H)

    def track(h, c, *reads):
        """The stack's second and its top, the buffer's front and its second."""
        weights = [*np.split(p["w_stack"], 2, axis=1), *np.split(p["w_buffer"], 2, axis=1)]
        a = sum(read @ w for read, w in zip(reads, weights, strict=True)) + h @ p["u"] + p["b"]
        i, f, o, g = sigmoid(a[0:2]), sigmoid(a[2:4]), sigmoid(a[4:6]), np.tanh(a[6:8])
        c = f * c + i * g
        return o * np.tanh(c), c

    def compose(left, right, e):
        a = np.concatenate([left[0], right[0], e]) @ p["w_comp"] + p["b_comp"]
        i, f_left, f_right, o = np.split(sigmoid(a[: 4 * H]), 4)
        c = f_left * left[1] + f_right * right[1] + i * np.tanh(a[4 * H :])
        return o * np.tanh(c), c

    spot, sat, down = (np.split(row @ p["w_word"] + p["b_word"], 2) for row in x)
    h1, c1 = track(np.zeros(T), np.zeros(T), nothing, nothing, spot[0], sat[0])
    h2, c2 = track(h1, c1, nothing, spot[0], sat[0], down[0])
    h3, c3 = track(h2, c2, spot[0], sat[0], down[0], nothing)
    h4, c4 = track(h3, c3, sat[0], down[0], nothing, nothing)
    sat_down = compose(sat, down, h4)
    h5, _ = track(h4, c4, spot[0], sat_down[0], nothing, nothing)
    whole = compose(spot, sat_down, h5)

    found = encode_spinn(
        cell, tracker, torch.from_numpy(x), torch.tensor([3]), torch.tensor(SPOT_SAT_DOWN)
    )
    assert found.transitions == SPOT_SAT_DOWN
    assert found.free == [False, False, True, False, False]
    for state, (h, c) in zip(found.states, [spot, sat, down, sat_down, whole], strict=True):
        np.testing.assert_allclose(state[0][0].detach(), h, rtol=0, atol=1e-14)
        np.testing.assert_allclose(state[1][0].detach(), c, rtol=0, atol=1e-14)
    choices = np.stack([h1, h2, h3, h4, h5]) @ p["w_transition"] + p["b_transition"]
    np.testing.assert_allclose(torch.cat(found.choices).detach(), choices, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("bias", "expected"),
    [([0, 0], "SSSRR"), ([1, 0], "SSSRR"), ([0, 1], "SSRSR")],
    ids=["tie", "shift", "reduce"],
)
def test_the_rule_of_its_own_transitions(bias, expected):
    """SHIFT on a tie; REDUCE where there are two; REDUCE without words, whatever the scores."""
    cell = cell_of("spinn_lstm")
    tracker = tracker_of(cell)
    tracker.w_transition.data.zero_()
    tracker.b_transition.data = torch.tensor(bias, dtype=torch.float64)
    words = torch.randn(3, X, dtype=torch.float64)
    found = encode_spinn(cell, tracker, words, torch.tensor([3]))
    assert "".join("SR"[step] for step in found.transitions) == expected
