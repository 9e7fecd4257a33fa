"""An encoder of binary trees that are parsed before encoding, or passed as input."""

import math
from typing import ClassVar, Literal

import torch
from torch import Tensor

from thinstack.core.distance_trees import trees_of_distances
from thinstack.core.encoder import Encoder, Encoding, Judgement
from thinstack.core.parser import Parser
from thinstack.core.stack_schedule import breaks_behind, check_sentences
from thinstack.core.transitions import REDUCE, spans_of


class ParsingEncoder(Encoder):
    """An `encoder` of transitions over input trees, or trees split at the greatest distances of a
    `parser`, for words of the same width.

    `joins`: whether a text of several sentences, separated by `breaks`, is one tree over the trees
    of its sentences, which the parser reads separately.
    """

    onnx = "thinstack.export.onnx.parser"
    oracle: ClassVar[Literal["dynamic", "static"]] = "static"

    def __init__(self, encoder: Encoder, parser: Parser, *, joins: bool = False):
        super().__init__(
            hidden_size=encoder.hidden_size,
            word_size=encoder.word_size,
            parses=True,
            joins=joins,
            ranks=encoder.ranks,
        )
        self.encoder, self.parser = encoder, parser

    def encode(self, words: Tensor, inputs: dict[str, Tensor], track: bool) -> Encoding:
        """Encode a forest, as in every `Encoder`. Raises ValueError as `check_sentences` does."""
        transitions, lengths, has_trees = check_sentences(words, inputs, True, self.joins)
        choices = words.new_zeros([words.shape[0], 0])
        if track or not has_trees:
            distances = self.parser(words, lengths.long())
            choices = distances.unsqueeze(1)
            if not has_trees:
                transitions = self._trees(distances, lengths, inputs)
        encoding: Encoding = self.encoder.encode(words, {"transitions": transitions}, False)
        return Encoding(*encoding[:7], transitions.long(), choices, encoding.free)

    def choose_trees(self, words: Tensor, inputs: dict[str, Tensor]) -> Tensor:
        """Return the transitions (N,), as in every `Encoder`, without composing."""
        transitions, lengths, has_trees = check_sentences(words, inputs, True, self.joins)
        if not has_trees:
            transitions = self._trees(self.parser(words, lengths.long()), lengths, inputs)
        return transitions.long()

    def _trees(self, distances: Tensor, lengths: Tensor, inputs: dict[str, Tensor]) -> Tensor:
        """Build the transitions (N,) of the trees from the distances (L,) of gaps."""
        lengths = lengths.long()
        breaks = breaks_behind(lengths, inputs) if self.joins else torch.zeros_like(lengths)
        scored = distances.detach().to(lengths.device)
        return trees_of_distances(scored, lengths, breaks).transitions

    def judge(self, choices: Tensor, free: Tensor, wanted: Tensor) -> Judgement:
        """Return the cross-entropies of the splits: at each node of the treebank's trees, a softmax
        over the gaps of the node's span. A span of two words is not a case."""
        cuts, totals, greatest = _spans(choices.squeeze(1), wanted)
        return Judgement((totals - cuts).sum(), (cuts >= greatest).sum(), int(cuts.shape[0]))

    def worst_choice(self, choices: Tensor, free: Tensor, taken: Tensor) -> float:
        """Return the worst choice, as in every `Encoder`. Distances within 1/16 count as equal."""
        cuts, _, greatest = _spans(choices.detach().double().squeeze(1), taken)
        lost = (greatest - cuts - 1 / 16) / greatest.abs().clamp(min=1)
        return float(lost.max()) if lost.numel() else -math.inf


def _spans(distances: Tensor, transitions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return for each span with two gaps or more in these trees: the distance of its split, the
    log-sum-exp of all its distances, and the greatest."""
    steps = transitions.cpu().numpy()
    spans = torch.from_numpy(spans_of(steps))
    nodes = torch.from_numpy((steps == REDUCE).nonzero()[0])
    nodes = nodes[spans[nodes, 1] - spans[nodes, 0] > 2]
    starts, gaps = spans[nodes, 0], spans[nodes, 1] - spans[nodes, 0] - 1
    cuts = spans[nodes - 1, 0] - 1  # the right child precedes its parent
    owner = torch.repeat_interleave(torch.arange(len(nodes)), gaps)
    place = torch.arange(len(owner)) + (starts - gaps.cumsum(0) + gaps)[owner]
    places = torch.cat([owner, place, cuts]).to(distances.device, non_blocking=True)
    owner, place, cuts = torch.split(places, [len(owner), len(owner), len(cuts)])

    scores = distances.index_select(0, place)
    greatest = scores.new_full([len(nodes)], -math.inf)
    greatest = greatest.scatter_reduce(0, owner, scores.detach(), "amax")
    masses = torch.exp(scores - greatest.index_select(0, owner))
    totals = torch.log(scores.new_zeros([len(nodes)]).index_add(0, owner, masses)) + greatest
    return distances.index_select(0, cuts), totals, greatest
