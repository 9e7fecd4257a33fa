"""Scores of a text with several sentences: the mean of their scores, weighted by words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinstack.runtime.prediction import Prediction


def document_scores(sentences: Sequence[Prediction]) -> NDArray[np.float64]:
    """The probabilities (C,) of the classes for a text with these sentences, at least one."""
    roots = np.stack([sentence.scores[-1] for sentence in sentences]).astype(np.float64)
    lengths = np.array([len(sentence.words) * sentence.weight for sentence in sentences])
    means: NDArray[np.float64] = mean_scores(roots, lengths, np.array([len(sentences)]))[0]
    return means


def document_data(sentences: Sequence[Prediction]) -> dict[str, Any]:
    """The `label` and `scores` of a text with these sentences, at least one, ready for JSON. The
    label is None if no class is as probable as `abstain`."""
    scores, labels = document_scores(sentences), sentences[0].labels
    best = int(scores.argmax())
    return {
        "label": None if scores[best] < sentences[0].abstain else labels[best],
        "scores": dict(zip(labels, scores.round(6).tolist(), strict=True)),
    }


def mean_scores(
    roots: NDArray[np.floating], lengths: NDArray[Any], counts: NDArray[np.integer]
) -> NDArray[np.floating]:
    """The scores (T, C) of texts, from the scores of their sentences, `roots` (B, C), in order.

    `lengths` (B,): the weight of each sentence, usually its number of words. `counts` (T,): how
    many sentences each text has, at least one.
    """
    _, shares = word_shares(lengths, counts)
    weighted = roots * shares.astype(roots.dtype)[:, None]
    means: NDArray[np.floating] = np.add.reduceat(weighted, np.cumsum(counts) - counts)
    return means


def word_shares(
    lengths: NDArray[Any], counts: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The text (B,) that each sentence belongs to, and its share (B,) of the words of that text.
    `lengths` and `counts` are as in `mean_scores`."""
    text = np.repeat(np.arange(len(counts)), counts)
    return text, lengths / np.bincount(text, lengths, len(counts))[text]
