"""What a text of several sentences says: the root of the tree over them, or their mean."""

from collections.abc import Sequence
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from thinstack.core.config import Aggregation
from thinstack.errors import InputError, shown
from thinstack.runtime.scored import Scored


class ScoredText(NamedTuple):
    """The sentences of a text as a model scores them.

    `joint` is the tree over the sentences: its words are the sentences. It has one row of scores
    and no transitions, if the text was read in several stretches. It is None if the text is a mean
    of its sentences, and if it has fewer than two.
    """

    sentences: list[Scored]
    joint: Scored | None = None


def aggregation_of(asked: str | None, *, joins: bool) -> Aggregation:
    """How texts are read: as `asked`, else as a tree if the model composes sentences (`joins`).

    Raises InputError for a tree if it does not, and for what is no aggregation.
    """
    if asked not in (None, *get_args(Aggregation)):
        raise InputError(f"aggregation: expected tree or mean, found {shown(asked)}")
    if asked == "tree" and not joins:
        raise InputError(
            "aggregation: this model has not learnt to read a text as one tree (its configuration "
            "does not say aggregation = 'tree'), or it scores no phrases; choose mean, or leave it "
            "out"
        )
    return "tree" if joins and asked != "mean" else "mean"


def text_scores(texts: Sequence[ScoredText], lengths: NDArray[Any]) -> NDArray[np.floating]:
    """The scores (T, C) of texts of one sentence or more. `lengths` (B,): the words of each
    sentence, text by text."""
    counts = np.array([len(text.sentences) for text in texts])
    flat = [sentence for text in texts for sentence in text.sentences]
    roots = np.stack([each.scores[-1] for each in flat]).astype(np.float64)
    scores = mean_scores(roots, lengths * np.array([each.weight for each in flat]), counts)
    for place, text in enumerate(texts):
        if text.joint is not None:
            scores[place] = text.joint.scores[-1]
    return scores


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
