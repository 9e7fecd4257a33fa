"""Explain the label of a sentence: how much each phrase contributes, measured by leaving it out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.scale import NEUTRAL_TONE
from thinstack.core.transitions import parents_of, spans_of
from thinstack.core.tree import depths
from thinstack.data.words.ptb import plain
from thinstack.errors import InputError, shown
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.views import View

if TYPE_CHECKING:
    from thinstack.runtime.predictor import Predictor


MOST_PHRASES: Final = 126
"""Maximum number of phrases left out in turn: all of a sentence of 64 words."""

# Contributions within 2% of the largest are ties.
_TIE = 0.98


class Contribution(NamedTuple):
    """How much a phrase contributes to the label of its sentence."""

    node: int
    """The node of the tree, in transition order."""
    span: tuple[int, int]
    """The words [start, end)."""
    text: str
    contribution: float
    """How much the phrase moves the sentence to its label, compared with leaving it out: on a
    scale, in classes, up to 4; else in probability. Below 0, it counts against the label."""
    turning: bool
    """Whether it decides the label: of the phrases within 2% of the largest contribution, it has
    the fewest words."""
    start: int
    """The start character in the whole text."""
    end: int
    """The end character in the whole text, exclusive."""


def contributions(predictor: "Predictor", prediction: Prediction) -> list[Contribution]:
    """Return the contribution of each phrase of the tree to the label, in node order.

    Each phrase is left out in turn, and its sibling replaces their parent. The remaining trees are
    scored in one call. The sentence itself has no contribution, nor has a phrase without which no
    letter or digit remains. In a sentence of more than 64 words, only the 126 phrases nearest the
    root have one.

    Raises InputError for a prediction without a tree or without labels. Also for a sentence that
    was read in parts or is longer than `predictor.max_words`.
    """
    if not isinstance(prediction, Prediction):
        raise InputError(f"expected a prediction, found {shown(prediction)}")
    prediction.view.need_labels("why")
    steps, words = prediction.transitions, prediction.words
    if not steps.size:
        raise InputError(
            "why needs the phrases of a tree, but this model reads plain sentences: use a model "
            "with a parser, such as sentiment"
        )
    if len(prediction.parts) > 1 or len(words) > predictor.max_words:
        most = f"{predictor.max_words:,} words, read as a whole"
        raise InputError(f"why needs a sentence of at most {most}; found {len(words):,}: split it")
    parents, _ = parents_of(steps)
    spans = spans_of(steps)
    nodes, sentences, trees = list[int](), [words], [steps]
    for node in _highest(parents):
        start, end = spans[node]
        rest = words[:start] + words[end:]
        if any(map(str.isalnum, "".join(map(plain, rest)))):  # more than punctuation remains
            inside = range(node + 2 - 2 * (end - start), node + 1)
            nodes.append(node)
            sentences.append(rest)
            trees.append(np.delete(steps, [*inside, parents[node]]))
    scored = predictor.trees_and_scores(sentences, trees)
    support = _support(np.stack([sentence.scores[-1] for sentence in scored]), predictor.view)
    changes = support[0] - support[1:]
    turns = _turning(changes, spans[nodes])
    contributions = []
    for number, (node, value) in enumerate(zip(nodes, changes.tolist(), strict=True)):
        first, behind = spans[node].tolist()
        text = prediction.text_of(first, behind)
        start = prediction.start + int(prediction.offsets[first, 0])
        values = text, value, number == turns, start, start + len(text)
        contributions.append(Contribution(node, (first, behind), *values))
    return contributions


def turning(parts: Sequence[Contribution]) -> Contribution | None:
    """Return the phrase that turns the sentence, or None if no phrase supports the label."""
    return next((part for part in parts if part.turning), None)


def reason(prediction: Prediction, part: Contribution) -> str:
    """Return "turned by" if the label of the phrase that turns a sentence has the opposite sign
    ("not" of "not bad"), else "because of"."""
    scale, labels = prediction.view.scale, prediction.label_ids
    if scale is None:
        return "because of"
    against = scale.sides[labels[part.node]] * scale.sides[labels[-1]] < 0
    return "turned by" if against else "because of"


def why_data(prediction: Prediction, parts: Sequence[Contribution]) -> list[dict[str, Any]]:
    """Return contributions as data for JSON: `start` and `end` (characters of the sentence),
    `text`, `contribution`, `turning`."""
    return [
        {
            "start": part.start - prediction.start,
            "end": part.end - prediction.start,
            "text": part.text,
            "contribution": round(part.contribution, 6),
            "turning": part.turning,
        }
        for part in parts
    ]


def _highest(parents: NDArray[np.int64]) -> list[int]:
    """Return the nodes except the root in order, at most those highest in the tree, left first."""
    nodes = np.flatnonzero(parents >= 0)
    highest = nodes[np.argsort(depths(parents)[nodes], kind="stable")][:MOST_PHRASES]
    chosen: list[int] = np.sort(highest).tolist()
    return chosen


def _support(scores: NDArray[np.floating], view: View) -> NDArray[np.float64]:
    """Return how much each row of scores (R, C) supports the label of the first row, (R,).

    On a scale, this is the mean class in the direction of the label; for a neutral label, the
    closeness to neutral. Otherwise it is the probability of the label.
    """
    label, rows, scale = int(view.best(scores[:1])[0]), scores.astype(np.float64), view.scale
    if scale is None:
        return rows[:, label]
    mean: NDArray[np.float64] = rows @ np.array(scale.tones) - NEUTRAL_TONE
    side = scale.sides[label]
    return mean * side if side else -np.abs(mean)


def _turning(changes: NDArray[np.float64], spans: NDArray[np.int64]) -> int | None:
    """Return the index of the phrase that turns the sentence; None if none supports its label."""
    if not changes.size or changes.max() <= 0:
        return None
    level = np.flatnonzero(changes >= _TIE * changes.max())
    sizes = spans[level, 1] - spans[level, 0]
    return int(level[np.lexsort((-changes[level], sizes))[0]])
