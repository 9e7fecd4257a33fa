"""SPINN (Bowman et al. 2016): a model with a tracking LSTM, over given trees (SPINN-PI) or trees of
its own (SPINN)."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from thinstack.core.embedding import Embedding
from thinstack.core.head import TaskHead
from thinstack.core.shift_reduce import StackEncoding
from thinstack.core.stack_schedule import sentence_lengths
from thinstack.models.model import Model, check_transitions, pair_rows
from thinstack.spinn.stack_encoder import StackEncoder

__all__ = ["Joint", "SpinnModel", "parsing_loss"]


class Joint(NamedTuple):
    """What the joint objective (7) is made of.

    Attributes:
        logits: what the task head's `loss` takes.
        choices: (N, 2) unnormalised scores of SHIFT and REDUCE before each transition.
        free: (N,) 1 where both were possible.
    """

    logits: Tensor
    choices: Tensor
    free: Tensor


def parsing_loss(choices: Tensor, wanted: Tensor) -> Tensor:
    """Sum of the cross-entropies of the transition classifier, (7), over the choices (N, 2) whose
    right answer `wanted` (N,) is known: 0 SHIFT, 1 REDUCE, -1 unknown or not a choice."""
    return functional.cross_entropy(choices, wanted, ignore_index=-1, reduction="sum")


class SpinnModel(Model):
    """Scores nodes, roots or pairs of sentences, over L words, N nodes and B binary trees.

    Inputs, int32 or int64, are those of the embedding, then

    - `transitions` (N,), 0 SHIFT and 1 REDUCE, for a model without a parser;
    - `lengths` (B,), the words of each sentence, and `transitions` for one with a parser. It makes
      trees of its own where `transitions` is empty or not there; `lengths` may be left out where
      they are given.

    Outputs are those of every `Model`; a model with a parser also gives `parse` (N,), the
    transitions that were taken.
    """

    def __init__(self, *, embedding: Embedding, encoder: StackEncoder, head: TaskHead):
        super().__init__(embedding=embedding, head=head, parses=encoder.tracker.parses)
        self.encoder = encoder
        if self.parses:
            self.input_names = [*embedding.index_names, "lengths", "transitions"]
            self.output_names = [*self.output_names, "parse"]

    def forward(self, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
        """Scores by name, see `Model`. Raises ValueError for inputs that do not go together."""
        encoding = self.encode(inputs, False)
        outputs: dict[str, Tensor] = {}
        if self.parses:
            outputs["parse"] = encoding.transitions
        if self.head.reads == "pairs":
            outputs["pair_scores"] = self.head.scores(pair_rows(encoding.roots))
            outputs["sentence_vectors"] = encoding.roots
        else:
            outputs["node_scores"] = self.head.scores(encoding.stacked).index_select(
                0, encoding.places
            )
            outputs["root_scores"] = self.head.scores(encoding.roots)
        return outputs

    def logits(self, inputs: dict[str, Tensor]) -> Tensor:
        """What the task head's `loss` takes, see `Model`."""
        return self.joint(inputs).logits

    def joint(self, inputs: dict[str, Tensor]) -> Joint:
        """The parts of the joint objective (7), over given trees."""
        encoding = self.encode(inputs, True)
        if self.head.reads == "nodes":
            logits = self.head(encoding.stacked).index_select(0, encoding.places)
        else:
            logits = self.head(
                pair_rows(encoding.roots) if self.head.reads == "pairs" else encoding.roots
            )
        return Joint(logits, encoding.choices, encoding.free)

    def encode(self, inputs: dict[str, Tensor], track: bool) -> StackEncoding:
        """Encode the sentences, over given trees where there are some. `track`: whether the scores
        of transitions are wanted.

        Raises ValueError for sentences without words, another number of words than the trees have,
        lengths that are not those of the trees, and where a model without a parser is given no
        trees.
        """
        words = self.embed(inputs)
        transitions = (
            inputs["transitions"] if "transitions" in inputs else words.new_zeros([0]).long()
        )
        given = transitions.shape[0] > 0 or words.shape[0] == 0
        if not given and not self.parses:
            raise ValueError("a model without a parser needs transitions")
        if not given and "lengths" not in inputs:
            raise ValueError(
                "expected lengths, for the model to parse, or transitions; found neither"
            )
        if given:
            check_transitions(transitions)
        lengths = inputs["lengths"] if "lengths" in inputs else sentence_lengths(transitions)
        if bool((lengths < 1).any()):
            raise ValueError("lengths must be at least 1: leave out sentences without words")
        if words.shape[0] != int(lengths.sum()):
            raise ValueError(
                f"expected {int(lengths.sum())} words, as many as the sentences have, found "
                f"{words.shape[0]}"
            )
        if given and not torch.equal(sentence_lengths(transitions), lengths.long()):
            raise ValueError(
                "lengths and transitions disagree: a sentence of n words has 2n - 1 transitions"
            )
        if self.parses and not given:
            parsed = self.encoder.parse(words, lengths)
            if not torch.is_grad_enabled():
                return parsed
            transitions = parsed.transitions
        encoding: StackEncoding = self.encoder(words, transitions, lengths, track)
        return encoding
