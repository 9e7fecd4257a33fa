"""The scores and vectors of sentences and texts, as arrays."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import REDUCE, SHIFT, balanced, spans_of
from thinstack.errors import InputError

Spans = tuple[tuple[int, int], ...]
"""The words [start, end) of each part of a sentence, in order."""

LOAD: Final = 'thinstack.load("vectors") (pip install ./models/thinstack-vectors in a clone)'
"""How to get a model with vectors."""

_LEAST: Final = 1e-12


class Scored(NamedTuple):
    """The tree of a sentence and the scores of its nodes.

    The tree is transitions (2n-1,) int8, or empty if the model reads plain sentences. Scores are
    (2n-1, C), or (1, C) if the model scores only whole sentences. `weight` is described at
    `Prediction`. Only a split sentence has parts. `terms` and `vectors` are described at
    `Prediction`. Until sentences and texts are assembled, the vectors of nodes are the last columns
    of their scores.
    """

    transitions: NDArray[np.int8]
    scores: NDArray[np.float32]
    weight: float = 1.0
    parts: Spans = ()
    terms: NDArray[np.float32] | None = None
    vectors: NDArray[np.float16] | None = None

    def with_vectors(self, width: int) -> "Scored":
        """Move the last `width` columns of the scores to `vectors`, scaled to unit norm."""
        scores, columns = np.split(self.scores, [-width], axis=1)
        vectors = unit(columns).astype(np.float16)
        return self._replace(scores=np.ascontiguousarray(scores), vectors=vectors)

    def apart(self, sizes: Sequence[int], *, phrases: bool) -> "list[Scored]":
        """Split a batch into trees of these `sizes`. `phrases`: whether every node has scores."""
        if len(sizes) == 1:
            return [self]
        ends = list(accumulate(sizes))
        rows = ends if phrases else range(1, len(ends) + 1)
        cuts = zip([0, *ends], ends, [0, *rows], rows, strict=False)
        return [
            Scored(self.transitions[start:end], self.scores[first:last])
            for start, end, first, last in cuts
        ]

    def below_top(self, lengths: Sequence[int]) -> "tuple[list[Scored], Scored]":
        """Split a tree over several sentences with these word counts into the sentences and the
        balanced tree over them."""
        top, sizes = balanced(len(lengths)), [2 * length - 1 for length in lengths]
        left, kinds = iter(sizes), top.tolist()
        ends = [*accumulate(next(left) if kind == SHIFT else 1 for kind in kinds)]
        behind = (end for end, kind in zip(ends, kinds, strict=True) if kind == SHIFT)
        nodes = [slice(end - size, end) for end, size in zip(behind, sizes, strict=True)]
        sentences = [Scored(self.transitions[inside], self.scores[inside]) for inside in nodes]
        return sentences, Scored(top, self.scores.take([end - 1 for end in ends], 0))


class ScoredText(NamedTuple):
    """The scored sentences of a text.

    `joint` is the tree over the sentences, which are its leaves. It has one row of scores and no
    transitions if the text was read in several units. It is None if the text is the mean of its
    sentences, or has fewer than two.
    """

    sentences: list[Scored]
    joint: Scored | None = None

    def map(self, change: Callable[[Scored], Scored]) -> "ScoredText":
        """Apply a function to each sentence and to the tree over them."""
        return ScoredText([*map(change, self.sentences)], self.joint and change(self.joint))


def joined(parts: Sequence[Scored], spans: Spans, *, phrases: bool) -> Scored:
    """Join the scored parts of a sentence by a balanced tree. `spans`: the words of each part.

    The score of a node above the parts is the mean of the parts below it, weighted by words.
    `phrases`: whether every node has scores; otherwise only the sentence has.
    """
    top = balanced(len(parts))
    below = spans_of(top)[top == REDUCE]
    order = np.concatenate([np.arange(*span) for span in below])
    roots = np.stack([part.scores[-1] for part in parts]).astype(np.float64)
    lengths = np.array([end - start for start, end in spans])
    means = mean_scores(roots[order], lengths[order], below[:, 1] - below[:, 0])
    means = means.astype(np.float32)
    if not parts[0].transitions.size:  # plain sentences
        return Scored(parts[0].transitions, means[-1:], parts=spans)
    reduce = np.array([REDUCE], np.int8)
    inner = (Scored(reduce, row[None]) for row in means)
    following = iter(parts)
    nodes = [next(following if step == SHIFT else inner) for step in top.tolist()]
    transitions = np.concatenate([node.transitions for node in nodes])
    scores = np.concatenate([node.scores for node in nodes]) if phrases else means[-1:]
    return Scored(transitions, scores, parts=spans)


def text_scores(texts: Sequence[ScoredText], lengths: NDArray[Any]) -> NDArray[np.floating]:
    """Return the scores (T, C) of texts of at least one sentence. `lengths` (B,): the number of
    words of each sentence, text by text."""
    counts = np.array([len(text.sentences) for text in texts])
    flat = [sentence for text in texts for sentence in text.sentences]
    roots = np.stack([sentence.scores[-1] for sentence in flat]).astype(np.float64)
    weights = lengths * np.array([sentence.weight for sentence in flat])
    scores = mean_scores(roots, weights, counts)
    for place, text in enumerate(texts):
        if text.joint is not None:
            scores[place] = text.joint.scores[-1]
    return scores


def mean_scores(
    roots: NDArray[np.floating], lengths: NDArray[Any], counts: NDArray[np.integer]
) -> NDArray[np.floating]:
    """Return the scores (T, C) of texts from those of their sentences, `roots` (B, C), in order.

    `lengths` (B,): the weight of each sentence, usually its number of words. `counts` (T,): the
    number of sentences of each text, at least one.
    """
    _, shares = word_shares(lengths, counts)
    weighted = roots * shares.astype(roots.dtype)[:, None]
    means: NDArray[np.floating] = np.add.reduceat(weighted, np.cumsum(counts) - counts)
    return means


def word_shares(
    lengths: NDArray[Any], counts: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the text (B,) of each sentence, and its share (B,) of the words of that text.
    `lengths` and `counts` are as in `mean_scores`."""
    text = np.repeat(np.arange(len(counts)), counts)
    return text, lengths / np.bincount(text, lengths, len(counts))[text]


def unit(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Normalize rows (..., D) to unit norm, as float32."""
    exact: NDArray[np.float32] = rows.astype(np.float32)
    lengths = np.sqrt((exact * exact).sum(axis=-1, keepdims=True))
    exact /= np.maximum(lengths, _LEAST)
    return exact


def stored(vectors: NDArray[np.float16] | None) -> NDArray[np.float16]:
    """Return the vectors (N, D) of a prediction. Raises InputError for a model without vectors."""
    if vectors is None:
        raise InputError(f"this model gives no vectors: use {LOAD}")
    return vectors
