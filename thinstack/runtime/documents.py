"""Scores of a text with several sentences: the mean of their scores, weighted by words."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


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
