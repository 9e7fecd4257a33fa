"""Checks the inputs of encoders that parse: words, and the trees or lengths of sentences."""

import torch
from torch import Tensor

from thinstack.core.schedule import check_transitions
from thinstack.core.stack_schedule import sentence_lengths


def check_sentences(
    words: Tensor, inputs: dict[str, Tensor], parses: bool
) -> tuple[Tensor, Tensor, bool]:
    """The transitions (N,) and lengths (B,) among the inputs of an encoder of sentences, and
    whether trees are given.

    Raises ValueError for sentences without words, and for words or lengths that do not fit the
    trees; also if an encoder that does not parse is given no trees.
    """
    none = inputs["lengths"] if "lengths" in inputs else words.flatten()
    transitions = inputs["transitions"] if "transitions" in inputs else none[:0].long()
    given = transitions.shape[0] > 0 or words.shape[0] == 0
    if not given and not parses:
        raise ValueError("a model without a parser needs transitions")
    if not given and "lengths" not in inputs:
        raise ValueError("expected lengths, for the model to parse, or transitions; found neither")
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
    return transitions, lengths, given
