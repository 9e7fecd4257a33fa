"""The parser of Shen et al. 2018 ("Straight to the Tree"), by convolutions and an LSTM."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.config.base import Count, Rate
from thinstack.core.parser import Parser
from thinstack.core.schedule import arange, sums_before, tree_numbers


class Bounds(NamedTuple):
    """The places of L words, (L, 1) int64 each."""

    place: Tensor  # the index of the word in the batch
    sentence: Tensor  # the index of its sentence
    before: Tensor  # the number of words of its sentence before it
    behind: Tensor  # the number of words of its sentence after it


class Distances(Parser):
    """A distance g_i for the gap after each word x_i, with zeros for neighbors beyond the sentence,
    and dilations d:

        h_i  = W x_i + b
        h_i := h_i + relu(C_d [h_{i-d}; h_i; h_{i+d}] + c_d)      for each d
        s_i  = [LSTM(h_1 .. h_i); LSTM(h_n .. h_i)]
        g_i  = v relu(L s_i + R s_{i+1} + u)

    Args:
        input_size: width X of a word's vector.
        width: width of h.
        dilations: d of each convolution.
        lstm: width of each direction of the LSTM.
        hidden: width of the hidden layer that L and R feed.
        input_dropout: dropout rate of the words' vectors.
        dropout: dropout rate of the output of each convolution, of s, and of the hidden layer.
    """

    name = "distances.v1"
    summary = "syntactic distances of gaps: convolutions and a bidirectional LSTM (Shen 2018)"
    onnx = "thinstack.plugins.parsers.distances.onnx"

    around: Tensor

    def __init__(
        self,
        *,
        input_size: int,
        width: Count = 96,
        dilations: tuple[Count, ...] = (1, 2),
        lstm: Count = 64,
        hidden: Count = 64,
        input_dropout: Rate = 0.1,
        dropout: Rate = 0.3,
    ):
        super().__init__(input_size=input_size)
        self.dilations = list(dilations)
        self.input = nn.Linear(input_size, width)
        around = [step * distance for distance in dilations for step in (-1, 0, 1)]
        self.register_buffer("around", torch.tensor(around), persistent=False)
        self.convolutions = nn.ModuleList(nn.Linear(3 * width, width) for _ in dilations)
        self.forwards, self.backwards = nn.LSTM(width, lstm), nn.LSTM(width, lstm)
        self.left, self.right = nn.Linear(2 * lstm, hidden), nn.Linear(2 * lstm, hidden, bias=False)
        self.score = nn.Linear(hidden, 1, bias=False)  # no tree depends on a bias
        self.input_dropout, self.dropout = nn.Dropout(input_dropout), nn.Dropout(dropout)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        # The host has the lengths, so `longest` does not wait for the device.
        there = lengths.to(words.device, non_blocking=True)
        longest = int(lengths.max()) if words.shape[0] > 0 else 0
        bounds = sentence_bounds(there, words)
        states = self.input(self.input_dropout(words))
        neighbours = torch.split(beside(bounds, self.around), 3, 1)
        for k, convolution in enumerate(self.convolutions):
            padded = torch.cat([states.new_zeros([1, states.size(1)]), states])
            rows = padded.index_select(0, neighbours[k].flatten()).view(-1, 3 * states.size(1))
            states = states + self.dropout(functional.relu(convolution(rows)))
        states = self.dropout(self._both_ways(states, there, longest, bounds))
        after = self.right(states)
        hidden = functional.relu(self.left(states) + torch.cat([after[1:], after[:1]]))
        distances: Tensor = self.score(self.dropout(hidden))
        return distances.squeeze(1)

    def _both_ways(self, states: Tensor, lengths: Tensor, longest: int, bounds: Bounds) -> Tensor:
        """Return the outputs (L, 2 lstm) of the LSTM in both directions."""
        if states.size(0) == 0:
            return states.new_zeros([0, 2 * self.forwards.hidden_size])
        # Padding comes last in both directions, so an LSTM needs no mask.
        grid = states.new_zeros([longest, lengths.size(0), states.size(1)])
        sentence = bounds.sentence.squeeze(1)
        from_start, from_end = bounds.before.squeeze(1), bounds.behind.squeeze(1)
        forth, _ = self.forwards(grid.index_put((from_start, sentence), states))
        back, _ = self.backwards(grid.index_put((from_end, sentence), states))
        return torch.cat([forth[from_start, sentence], back[from_end, sentence]], 1)


def sentence_bounds(lengths: Tensor, words: Tensor) -> Bounds:
    """Return the bounds of sentences of these lengths (B,), over their words (L, ...)."""
    place, last = arange(words.size(0), lengths.device), torch.cumsum(lengths, 0) - 1
    sentence = tree_numbers(place, last)
    before = place - sums_before(lengths).index_select(0, sentence)
    behind = last.index_select(0, sentence) - place
    return Bounds(
        place=place.unsqueeze(1),
        sentence=sentence.unsqueeze(1),
        before=before.unsqueeze(1),
        behind=behind.unsqueeze(1),
    )


def beside(bounds: Bounds, around: Tensor) -> Tensor:
    """Return 1 + index (L, K) of words at distances `around` (K,), 0 beyond the sentence."""
    inside = (bounds.before >= 0 - around) & (bounds.behind >= around)
    return torch.where(inside, bounds.place + (around + 1), 0)
