"""The parser of Shen et al. 2018 ("Straight to the Tree"): distances of gaps by convolutions and an
LSTM in both directions over the words."""

from typing import Annotated, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.parser import Parser
from thinstack.core.schedule import arange, sums_before, tree_numbers

__all__ = ["Bounds", "Distances", "beside", "sentence_bounds"]

Size = Annotated[int, Field(gt=0)]
Dropout = Annotated[float, Field(ge=0, lt=1)]


class Bounds(NamedTuple):
    """Where L words stand, (L, 1) int64 each.

    Attributes:
        place: the number of the word.
        sentence: the number of its sentence.
        before, behind: how many words of its sentence stand before a word, and behind it.
    """

    place: Tensor
    sentence: Tensor
    before: Tensor
    behind: Tensor


class Distances(Parser):
    """Gives the gap after each word x_i a distance g_i. With the neighbours of a word in its
    sentence (zeros beyond it) and dilations d:

        h_i  = W x_i + b
        h_i := h_i + relu(C_d [h_{i-d}; h_i; h_{i+d}] + c_d)      for each d
        s_i  = [LSTM(h_1 .. h_i); LSTM(h_n .. h_i)]
        g_i  = v relu(L s_i + R s_{i+1} + u)

    Args:
        input_size: width X of a word's vector.
        width: width of h.
        dilations: the distances d of the convolutions, one for each.
        lstm: width of each direction of the LSTM.
        hidden: width of what L and R give.
        input_dropout: dropout of the words' vectors.
        dropout: dropout of what each convolution adds, of s, and of the gaps' hidden layer.
    """

    name = "distances.v1"
    summary = "syntactic distances of gaps: convolutions and a bidirectional LSTM (Shen 2018)"
    onnx = "thinstack.plugins.parsers.distances.onnx"

    around: Tensor

    def __init__(
        self,
        *,
        input_size: int,
        width: Size = 96,
        dilations: tuple[Size, ...] = (1, 2),
        lstm: Size = 64,
        hidden: Size = 64,
        input_dropout: Dropout = 0.1,
        dropout: Dropout = 0.3,
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
        # The host has the lengths: it sees how long the longest is without a look at the device.
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
        """Outputs (L, 2 lstm) of the LSTM in both directions."""
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
    """The bounds of the sentences of `lengths` (B,), over their `words` (L, ...)."""
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
    """The words at the distances `around` (K,) from each word, as numbers (L, K) from 1. The number
    is 0 beyond the sentence."""
    inside = (bounds.before >= 0 - around) & (bounds.behind >= around)
    return torch.where(inside, bounds.place + (around + 1), 0)
