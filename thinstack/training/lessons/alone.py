"""Makes training examples of phrases that are read by themselves, without their sentence."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from thinstack.core.forest import Forest
from thinstack.core.transitions import spans_of
from thinstack.training.examples.example import Example
from thinstack.training.examples.labelled import LabelledForest

__all__ = ["phrase_of", "phrases_alone"]

SHORTEST, LONGEST = 3, 20
MIDDLE_KEPT: Final = 0.4
"""The share of phrases of the middle class that may be drawn: most phrases are neutral."""


def phrases_alone(
    examples: Sequence[Example], share: float, classes: int, draw: np.random.Generator
) -> list[Example]:
    """Phrases of 3 to 20 words as examples of their own, with the labels of their nodes.

    `share`: how many phrases are drawn for each example, on average. A sentence may give several
    phrases, or no phrase. `classes`: the number of classes, which go from negative to positive. If
    it is odd, phrases of the middle class are drawn less often. The examples have binary trees.
    """
    found = []
    for place in draw.integers(len(examples), size=round(share * len(examples))).tolist():
        gold = examples[place].gold
        spans = spans_of(gold.forest.transitions)[:-1]
        words = spans[:, 1] - spans[:, 0]
        fits = (words >= SHORTEST) & (words <= LONGEST) & (gold.targets[:-1] >= 0)
        if classes % 2:
            middle = gold.targets[:-1] == classes // 2
            fits &= ~middle | (draw.random(len(middle)) < MIDDLE_KEPT)
        if fits.any():
            found.append(Example({"gold": phrase_of(gold, int(draw.choice(np.flatnonzero(fits))))}))
    return found


def phrase_of(sentence: LabelledForest, node: int) -> LabelledForest:
    """The phrase at a node of a binary tree, as a sentence of its own with its labels."""
    forest = sentence.forest
    start, end = spans_of(forest.transitions)[node].tolist()
    nodes = slice(node + 2 - 2 * (end - start), node + 1)
    fields: dict[str, NDArray[np.int64]] = {}
    if forest.pieces_per_word.size:
        ends = np.cumsum(forest.pieces_per_word)
        first = int(ends[start] - forest.pieces_per_word[start])
        fields["piece_ids"] = forest.piece_ids[first : ends[end - 1]]
        fields["pieces_per_word"] = forest.pieces_per_word[start:end]
    else:
        fields["token_ids"] = forest.token_ids[start:end]
    part = Forest(
        sizes=np.array([nodes.stop - nodes.start]),
        lengths=np.array([end - start]),
        transitions=forest.transitions[nodes],
        **fields,
    )
    return LabelledForest(
        part,
        sentence.targets[nodes],
        nodes.stop - nodes.start - 1,
        sentence.words[nodes],
        sentence.depths[nodes],
        None if sentence.soft is None else sentence.soft[nodes],
    )
