"""Encoders over plain sentences are the sequential LSTMs of torch, with the same weights."""

import numpy as np
import pytest
import torch
from torch import nn

from thinstack.core.model.tree_encoder import Layer, TreeEncoder
from thinstack.core.schedule import schedule_lengths
from thinstack.plugins.cells.nary_lstm import NaryLSTM

X, H = 3, 4
LENGTHS = [4, 1, 7, 2]
EXACT = [
    pytest.param(torch.float64, 1e-12, id="float64"),
    pytest.param(torch.float32, 1e-6, id="float32"),
]


def lstm_of(layers, *, bidirectional):
    torch.manual_seed(2)
    return nn.LSTM(X, H, num_layers=layers, bidirectional=bidirectional)


def cell_of(lstm, suffix):
    """The cell with the weights of one layer and direction; torch has two biases for each gate."""
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    w, u, b_w, b_u = (getattr(lstm, f"{name}_{suffix}") for name in names)
    cell = NaryLSTM(input_size=w.shape[1], inner_size=w.shape[1], hidden_size=H, arity=1)
    with torch.no_grad():
        for mine, theirs in ((cell.w, w.t()), (cell.u, u.t()), (cell.b, b_w + b_u)):
            i, f, g, o = theirs.chunk(4, -1)
            mine.copy_(torch.cat([i, f, o, g], -1))
    return cell


def encoder_of(lstm, readout=("up", "down")):
    layers = []
    for number in range(lstm.num_layers):
        down = cell_of(lstm, f"l{number}_reverse") if lstm.bidirectional else None
        layers.append(Layer(cell_of(lstm, f"l{number}"), down))
    return TreeEncoder(layers, words_at_leaves=False, readout=readout)


def run(encoder, words):
    """Outputs of words and of sentences."""
    schedule = schedule_lengths(torch.tensor(LENGTHS))
    encoding = encoder(words, schedule)
    return encoding.stacked[schedule.stacked], encoding.roots


def by_torch(lstm, words):
    """Outputs of words, and final states (B, layers, directions, H), one sentence at a time."""
    outputs, finals = [], []
    for sentence in words.split(LENGTHS):
        every, (final, _) = lstm(sentence)
        outputs.append(every)
        finals.append(final.view(lstm.num_layers, -1, H))
    return torch.cat(outputs), torch.stack(finals)


def words_of(dtype):
    return torch.from_numpy(np.random.default_rng(1).normal(size=(sum(LENGTHS), X))).to(dtype)


@pytest.mark.parametrize(("dtype", "atol"), EXACT)
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_bidirectional_lstm(layers, dtype, atol):
    """Of several layers, each but the first reads both directions of the one below."""
    lstm, words = lstm_of(layers, bidirectional=True).to(dtype), words_of(dtype)
    outputs, finals = by_torch(lstm, words)
    found, _ = run(encoder_of(lstm).to(dtype), words)
    torch.testing.assert_close(found, outputs, rtol=0, atol=atol)
    _, roots = run(encoder_of(lstm, ("up", "leaves")).to(dtype), words)
    torch.testing.assert_close(roots, finals[:, -1].flatten(1), rtol=0, atol=atol)
