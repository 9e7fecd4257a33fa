"""The parser `distances.v1`, against torch's convolution and LSTM over one sentence at a time."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from thinstack.plugins.manager import manager
from thinstack.plugins.parsers.distances import Distances
from thinstack.testing import PARSER_CHECKS

X = 7


def drawn():
    torch.manual_seed(0)
    options = {"width": 6, "dilations": [1, 2, 3], "lstm": 5, "hidden": 4}
    parser = manager().find("parser", "distances.v1").create(options, input_size=X)
    assert isinstance(parser, Distances)
    return parser.double().eval()


def by_torch(parser, words):
    """Distances (n - 1,) of the gaps of a sentence (n, X)."""
    states = parser.input(words)
    for convolution, dilation in zip(parser.convolutions, parser.dilations, strict=True):
        kernel = convolution.weight.view(6, 3, 6).transpose(1, 2)
        channels = states.t().unsqueeze(0)
        added = functional.conv1d(
            channels, kernel, convolution.bias, padding=dilation, dilation=dilation
        )
        states = states + added[0].t().relu()
    both = nn.LSTM(6, 5, bidirectional=True).double()
    for name, value in parser.forwards.named_parameters():
        getattr(both, name).data = value.data
    for name, value in parser.backwards.named_parameters():
        getattr(both, f"{name}_reverse").data = value.data
    states, _ = both(states)
    hidden = parser.left(states[:-1]) + parser.right(states[1:])
    return parser.score(hidden.relu()).squeeze(1)


def test_distances():
    parser, lengths = drawn(), torch.tensor([5, 1, 12, 2, 1])
    words = torch.randn(21, X, dtype=torch.double)
    found = parser(words, lengths)
    assert found.shape == (21,)
    for sentence, distances in zip(
        words.split(lengths.tolist()), found.split(lengths.tolist()), strict=True
    ):
        expected = by_torch(parser, sentence)
        torch.testing.assert_close(distances[:-1], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("check", PARSER_CHECKS.values(), ids=PARSER_CHECKS)
def test_contract(check):
    check("distances.v1", {"width": 6, "dilations": [1, 3], "lstm": 5, "hidden": 4})
