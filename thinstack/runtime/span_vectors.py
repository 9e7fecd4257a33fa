"""Vectors of words that are no node of their tree: the nodes that cover them, joined by the
model."""

from collections.abc import Callable, Iterable, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import left, over
from thinstack.errors import InputError, shown
from thinstack.runtime.vectors import stored, unit

if TYPE_CHECKING:
    from thinstack.runtime.prediction import Prediction
    from thinstack.runtime.predictor import Predictor

LOST: Final = (
    "this prediction has no predictor, because it comes from a Doc, a pickle or a copy: call "
    "predictor."
)
"""What is wrong where a prediction has no predictor, before what to call."""

ALONE: Final = (
    "this model has vectors for whole sentences only, not for the phrases inside: use a model "
    "of trees, or Prediction.vector"
)
"""What is wrong where only sentences have vectors."""


def span_vectors(
    prediction: "Prediction", spans: Iterable[tuple[int, int]], predictor: "Predictor | None"
) -> NDArray[np.float32]:
    """`Predictor.span_vectors`. Without a predictor, raises InputError for a span that is no
    node."""
    vectors, nodes = stored(prediction.vectors), _Nodes(prediction)
    covers = [nodes.covering(*_checked(span, len(prediction.words))) for span in spans]
    rows = unit(vectors[[cover[-1] for cover in covers]])
    joined = [place for place, cover in enumerate(covers) if len(cover) > 1]
    if joined and predictor is None:
        raise InputError(f"{LOST}span_vectors(prediction, [(first word, last word + 1)])")
    if joined and predictor is not None:
        words = [nodes.words(covers[place]) for place in joined]
        below = [nodes.trees(covers[place]) for place in joined]
        trees = [over(left(len(inside)), inside) for inside in below]
        scored = predictor.trees_and_scores(words, trees)
        rows[joined] = unit(np.stack([stored(sentence.vectors)[-1] for sentence in scored]))
    return rows


def vector_across(
    spans: Sequence[tuple["Prediction", tuple[int, int]]], predictor: Callable[[], "Predictor"]
) -> NDArray[np.float32]:
    """The vector (D,) of words [start, end) of sentences that follow each other: the nodes that
    cover them, joined from left to right. `predictor` is called unless they are one node."""
    words, trees = list[str](), list[NDArray[np.int8]]()
    for prediction, span in spans:
        nodes = _Nodes(prediction)
        cover = nodes.covering(*span)
        if len(spans) == len(cover) == 1:
            return unit(stored(prediction.vectors)[cover[0]])
        words += nodes.words(cover)
        trees += nodes.trees(cover)
    (scored,) = predictor().trees_and_scores([words], [over(left(len(trees)), trees)])
    return unit(stored(scored.vectors)[-1])


class _Nodes:
    """The nodes of a prediction by their words."""

    def __init__(self, prediction: "Prediction"):
        self.prediction = prediction
        self.spans: list[list[int]] = prediction.spans.tolist()
        self._from: dict[int, list[int]] = {}
        for node, (start, _) in enumerate(self.spans):  # the smallest first
            self._from.setdefault(start, []).append(node)

    def covering(self, start: int, end: int) -> list[int]:
        """The largest nodes inside the words [start, end), from left to right."""
        nodes = list[int]()
        while start < end:
            inside = [node for node in self._from.get(start, ()) if self.spans[node][1] <= end]
            if not inside:
                raise InputError(ALONE)
            nodes.append(inside[-1])
            start = self.spans[inside[-1]][1]
        return nodes

    def words(self, nodes: Sequence[int]) -> list[str]:
        """The words of nodes that follow each other."""
        return list(self.prediction.words[self.spans[nodes[0]][0] : self.spans[nodes[-1]][1]])

    def trees(self, nodes: Sequence[int]) -> list[NDArray[np.int8]]:
        """The transitions of the tree below each of some nodes."""
        if len(self.spans) != len(self.prediction.transitions):
            raise InputError(ALONE)
        sizes = [2 * (end - start) - 1 for start, end in (self.spans[node] for node in nodes)]
        steps, pairs = self.prediction.transitions, zip(nodes, sizes, strict=True)
        return [steps[node + 1 - size : node + 1] for node, size in pairs]


def _checked(span: Any, words: int) -> tuple[int, int]:
    """The first word of a span and the one behind it."""
    start, end = _whole(span)
    if not 0 <= start < end <= words:
        raise InputError(
            f"span_vectors: expected a span of words (start, end), found {shown(span)}: pass 0 <= "
            f"start < end <= {words}, the words of the sentence"
        )
    return start, end


def _whole(span: Any) -> tuple[int, int]:
    """Both whole numbers of a span; (-1, -1), which is none, for anything else."""
    try:
        start, end = map(index, span)
    except (TypeError, ValueError):
        return -1, -1
    return start, end


def place_of(
    sentences: Sequence["Prediction"], text: str, start: int, end: int, shift: int = 0
) -> tuple["Prediction", tuple[int, int]]:
    """The sentence of the characters [start, end), and their words in it. `text` begins at the
    character `shift`. Raises InputError unless they are whole words of one sentence."""
    asked = shown((start, end))
    start, end = _whole((start, end))
    if not shift <= start < end <= shift + len(text):
        raise InputError(
            f"vector_of: expected characters (start, end) of the text, found {asked}: "
            f"pass {shift} <= start < end <= {shift + len(text)}"
        )
    quoted = shown(text[start - shift : end - shift], 60)
    asked = f"vector_of: the characters {start} to {end}, {quoted},"
    pairs = [(sentence, sentence.offsets + sentence.start) for sentence in sentences]
    touched = [
        (sentence, offsets, words)
        for sentence, offsets in pairs
        if (words := np.flatnonzero((offsets[:, 1] > start) & (offsets[:, 0] < end))).size
    ]
    if not touched:
        raise InputError(f"{asked} contain no word: choose whole words")
    if len(touched) > 1:
        raise InputError(f"{asked} span {len(touched)} sentences: stay within one")
    sentence, offsets, words = touched[0]
    first, behind = int(offsets[words[0], 0]), int(offsets[words[-1], 1])
    if first < start or behind > end:
        raise InputError(f"{asked} split a word: use {min(first, start)} to {max(behind, end)}")
    return sentence, (int(words[0]), int(words[-1]) + 1)
