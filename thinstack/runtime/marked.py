"""Which phrases of a sentence are worth showing where there is no room for its tree."""

from typing import Final

import numpy as np

from thinstack.core.transitions import parents_of
from thinstack.runtime.prediction import Prediction

MAX_DEPTH: Final = 100
"""Phrases inside each other at most; browsers give up on deep nesting."""

_UNCERTAIN, _NONE = -1, -2


def marked_phrases(prediction: Prediction) -> list[int]:
    """The nodes whose label is neither neutral nor that of the marked phrase around them, in
    reading order, each before those inside it: most words are neutral by themselves.

    To have no label, where the prediction abstains, counts as one. Where only the sentence has
    scores it is the one that is marked.
    """
    if not prediction.phrases:
        return [0]
    parents = parents_of(prediction.transitions)[0].tolist()
    neutral = neutral_of(prediction)
    names = np.where(prediction.certain, prediction.label_ids, _UNCERTAIN).tolist()
    around: dict[int, tuple[int, int]] = {-1: (neutral, 0)}
    marked = []
    for node in reversed(range(len(parents))):  # a phrase comes after its parts
        outer, depth = around[parents[node]]
        if names[node] not in (outer, neutral) and depth < MAX_DEPTH:
            marked.append(node)
            outer, depth = names[node], depth + 1
        around[node] = outer, depth
    spans = prediction.spans
    return sorted(marked, key=lambda node: (spans[node, 0], -spans[node, 1], -node))


def neutral_of(prediction: Prediction) -> int:
    """The class in the middle of a scale from negative to positive; -2 where there is none."""
    scale = prediction.view.scale
    return _NONE if scale is None or scale.neutral is None else scale.neutral
