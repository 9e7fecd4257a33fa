"""The parser of Shen et al. 2018 ("Straight to the Tree"): distances of gaps by convolutions and an
LSTM in both directions over the words."""

from typing import Annotated, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.parser import Parser
from thinstack.core.schedule import arange, tree_numbers

__all__ = ["Bounds", "Distances", "Padding", "beside", "pad", "sentence_bounds"]

Size = Annotated[int, Field(gt=0)]
Dropout = Annotated[float, Field(ge=0, lt=1)]


class Bounds(NamedTuple):
    """Where L words stand, (L,) int64 each.

    Attributes:
        place: the place of each word in its sentence, from 0.
        sentence: the number of its sentence.
        first, last: the numbers of the first and the last word of its sentence.
    """

    place: Tensor
    sentence: Tensor
    first: Tensor
    last: Tensor


class Padding(NamedTuple):
    """B sentences as the columns of a grid of T rows.

    Attributes:
        words, words_backwards: (T, B) the number of the word at each place, read from the start and
            from the end. Beyond a sentence it is the word where that sentence ends.
        places, places_backwards: (L,) the place of each word in the flat grid (T * B).
    """

    words: Tensor
    words_backwards: Tensor
    places: Tensor
    places_backwards: Tensor


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
        padding = pad(lengths, bounds, arange(longest, lengths.device))
        found, _ = self.forwards(states[padding.words])
        back, _ = self.backwards(states[padding.words_backwards])
        return torch.cat(
            [
                found.flatten(0, 1).index_select(0, padding.places),
                back.flatten(0, 1).index_select(0, padding.places_backwards),
            ],
            1,
        )


def sentence_bounds(lengths: Tensor, words: Tensor) -> Bounds:
    """The bounds of the sentences of `lengths` (B,), over their `words` (L, ...)."""
    ends = torch.cumsum(lengths, 0)
    place, last = arange(words.size(0), lengths.device), ends - 1
    sentence = tree_numbers(place, last)
    first = (ends - lengths).index_select(0, sentence)
    return Bounds(place, sentence, first, last.index_select(0, sentence))


def beside(bounds: Bounds, around: Tensor) -> Tensor:
    """The words at the distances `around` (K,) from each word, as numbers (L, K) from 1. The number
    is 0 beyond the sentence."""
    place = bounds.place.unsqueeze(1) + around
    inside = (place >= bounds.first.unsqueeze(1)) & (place <= bounds.last.unsqueeze(1))
    return torch.where(inside, place + 1, 0)


def pad(lengths: Tensor, bounds: Bounds, time: Tensor) -> Padding:
    """Sentences of `lengths` (B,) as the columns of a grid.

    `time` (T,) counts from 0 to the greatest length. Padding comes last in both directions, so an
    LSTM needs no mask.
    """
    ends, row, sentences = torch.cumsum(lengths, 0), time.unsqueeze(1), lengths.size(0)
    firsts, lasts = ends - lengths, ends - 1
    return Padding(
        words=torch.minimum(firsts + row, lasts),
        words_backwards=torch.maximum(lasts - row, firsts),
        places=(bounds.place - bounds.first) * sentences + bounds.sentence,
        places_backwards=(bounds.last - bounds.place) * sentences + bounds.sentence,
    )
