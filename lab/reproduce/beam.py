"""The k best trees of a sentence, by beam search over the transitions of SPINN's parser."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thinstack.core.cell import Links
from thinstack.core.forest import without_trees
from thinstack.core.model.model import Model
from thinstack.core.transitions import REDUCE
from thinstack.plugins.encoders.spinn import StackEncoder
from thinstack.training.examples.example import Example, forests_of

IntArray = NDArray[np.int64]

TOGETHER = 64
"""Sentences that are searched at a time."""


class Candidates(NamedTuple):
    """The best trees of a sentence of n words, the most probable first: their transitions (k, 2n -
    1), and the natural logarithms of their probabilities (k,)."""

    transitions: NDArray[np.int8]
    log_probs: NDArray[np.float64]


@torch.inference_mode()
def k_best(model: Model, examples: Sequence[Example], k: int) -> list[Candidates]:
    """Up to `k` trees of each example, a sentence, found by a beam as wide.

    The probability of a tree is the product of those of its transitions, (5) of Bowman et al. 2016;
    where only one is possible, it is 1. With `k` = 1 the tree is the one that the model parses.
    `model` is one of a tracking LSTM with a transition classifier, in evaluation mode.
    """
    order = np.argsort([-example.words for example in examples], kind="stable").tolist()
    encoder, found = cast(StackEncoder, model.encoder), dict[int, Candidates]()
    places = iter(order)
    for _, forest in forests_of([examples[place] for place in order], "gold", TOGETHER):
        inputs = model.inputs(without_trees(forest))
        for one in _search(encoder, model.embed(inputs), forest.lengths, k):
            found[next(places)] = one
    return [found[place] for place in range(len(examples))]


class _Beam(NamedTuple):
    """K hypotheses of each of S sentences, after some transitions.

    Attributes:
        scores: (S, K) log probabilities; -inf where there are fewer hypotheses than K.
        hidden, memory: (S, K, T) of the tracking LSTM.
        stack: (S, K, 2 + n) numbers of the nodes on the stack, over two numbers of nothing.
        height: (S, K) how many numbers stand there.
        front: (S, K) how many words have been shifted.
        steps: (S, K, 2n - 1) the transitions.
    """

    scores: Tensor
    hidden: Tensor
    memory: Tensor
    stack: Tensor
    height: Tensor
    front: Tensor
    steps: Tensor

    @classmethod
    def of(cls, state: Tensor, words: int) -> "_Beam":
        """One empty hypothesis of each sentence of at most so many `words`, with the first `state`
        (S, K, T) of the tracking LSTM."""
        sentences, k = state.shape[:2]
        scores = torch.full((sentences, k), -torch.inf, dtype=torch.float64)
        scores[:, 0] = 0.0
        none = torch.zeros((sentences, k), dtype=torch.int64)
        stack = torch.zeros((sentences, k, 2 + words), dtype=torch.int64)
        steps = torch.zeros((sentences, k, 2 * words - 1), dtype=torch.int8)
        return cls(scores, state, state, stack, none + 2, none, steps)

    def first(self, count: int) -> "_Beam":
        """The hypotheses of the first `count` sentences."""
        return _Beam(*(part[:count] for part in self))

    def follow(self, parents: Tensor) -> "_Beam":
        """A copy of each hypothesis as often as `parents` (S, K) names it."""
        rows = torch.arange(len(parents)).unsqueeze(1)
        return _Beam(*(part[rows, parents] for part in self))


class _Nodes:
    """The states of all nodes by number, and what the tracker reads of them, (n, 2, 4T): as the
    second of the stack and as its top. Node 0 is nothing; words come next."""

    def __init__(self, encoder: StackEncoder, leaves: list[Tensor], most: int):
        self.encoder, self.made = encoder, 1
        self.tables = [part.new_empty(most, part.shape[1]) for part in leaves]
        self.reads = leaves[0].new_empty(most, 2, 4 * encoder.tracker.size)
        self.reads[0] = 0.0
        self._add(leaves)

    def _add(self, state: list[Tensor]) -> Tensor:
        """Put new nodes, as the parts of their states; returns their numbers."""
        first, self.made = self.made, self.made + len(state[0])
        reads = self.encoder.tracker.read_nodes(self.encoder.cell.output(state))
        self.reads[first : self.made] = reads.view(-1, *self.reads.shape[1:])
        for table, part in zip(self.tables, state, strict=True):
            table[first : self.made] = part
        return torch.arange(first, self.made)

    def reduce(self, pairs: Tensor, hidden: Tensor) -> Tensor:
        """Compose pairs of nodes (n, 2), with the tracker's h (n, T); returns the new numbers."""
        cell, children = self.encoder.cell, [table[pairs] for table in self.tables]
        links = Links(pairs.new_zeros(0), torch.ones_like(pairs))
        if cell.arity == 0:
            children = [part.flatten(0, 1) for part in children]
            links = Links(torch.arange(2 * len(pairs)) // 2, torch.ones_like(pairs.flatten()))
        return self._add(cell.compose(hidden[:, : cell.inner_size], children, links))


class _Words(NamedTuple):
    """The first word of each of S sentences in the batch, and the word after its last, (S, 1) each;
    and what the tracker reads of the buffer (L + 1, 4T)."""

    firsts: Tensor
    ends: Tensor
    buffer: Tensor


def _search(encoder: StackEncoder, vectors: Tensor, lengths: IntArray, k: int) -> list[Candidates]:
    """The candidates of sentences, longest first, from the vectors (L, X) of their words."""
    counts, leaves = torch.from_numpy(lengths), encoder.cell.leaf(vectors)
    ends = counts.cumsum(0)
    buffer = encoder.tracker.read_buffer(
        encoder.cell.output(leaves), ends.repeat_interleave(counts)
    )
    words = _Words((ends - counts).unsqueeze(1), ends.unsqueeze(1), buffer)
    # At each step, every hypothesis makes one node at most.
    nodes = _Nodes(encoder, leaves, 1 + len(vectors) + k * int((2 * counts - 1).sum()))
    beam = _Beam.of(vectors.new_zeros(len(counts), k, encoder.tracker.size), int(counts[0]))
    found: list[Candidates] = []
    for step in range(2 * int(counts[0]) - 1):
        going = int((step < 2 * counts - 1).sum())
        found[:0] = _finished(beam, step, going)
        beam = _advance(beam.first(going), nodes, words, step)
    return _finished(beam, 2 * int(counts[0]) - 1, 0) + found


def _finished(beam: _Beam, steps: int, going: int) -> list[Candidates]:
    """The candidates of the sentences from `going` on, which are done after so many steps."""
    parts = zip(beam.scores[going:].numpy(), beam.steps[going:, :, :steps].numpy(), strict=True)
    return [
        Candidates(taken[np.isfinite(scores)], scores[np.isfinite(scores)])
        for scores, taken in parts
    ]


def _advance(beam: _Beam, nodes: _Nodes, words: _Words, step: int) -> _Beam:
    """The best hypotheses with one more transition."""
    sentences, k = beam.scores.shape
    tracker, ahead = nodes.encoder.tracker, words.firsts[:sentences] + beam.front
    pairs = beam.stack.gather(2, beam.height.unsqueeze(2) + torch.arange(-2, 0))
    has_word, has_pair = ahead < words.ends[:sentences], beam.height > 3
    buffer = words.buffer[torch.where(has_word, ahead, len(words.buffer) - 1)]
    read = nodes.reads[pairs, torch.arange(2)].sum(2) + buffer
    flat = (part.flatten(0, 1) for part in (read, beam.hidden, beam.memory))
    hidden, memory = (part.view(sentences, k, -1) for part in tracker.step(*flat))
    possible = torch.stack([has_word, has_pair], 2)
    choices = tracker.choices(hidden.flatten(0, 1)).view(sentences, k, 2).double()
    log_probs = choices.masked_fill(~possible, -torch.inf).log_softmax(2)
    scores = (beam.scores.unsqueeze(2) + log_probs).flatten(1)
    scores, best = scores.sort(dim=1, descending=True, stable=True)
    scores, best = scores[:, :k], best[:, :k]
    moved = beam._replace(hidden=hidden, memory=memory).follow(best // 2)
    # What is in no place of the beam takes a possible transition, too.
    forced = (~has_word).long().gather(1, best // 2)
    action = torch.where(scores.isfinite(), best % 2, forced)
    number = 1 + words.firsts[:sentences] + moved.front
    reducing = action == REDUCE
    pairs = pairs[torch.arange(sentences).unsqueeze(1), best // 2]
    number[reducing] = nodes.reduce(pairs[reducing], moved.hidden[reducing])
    height = moved.height + 1 - 2 * action
    moved.stack.scatter_(2, height.unsqueeze(2) - 1, number.unsqueeze(2))
    moved.steps[:, :, step] = action.to(torch.int8)
    return moved._replace(scores=scores, height=height, front=moved.front + 1 - action)
