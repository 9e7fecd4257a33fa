"""Runs a model in training on examples: its scores, and its answers beside the right ones."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from thinstack.core.model.model import Model
from thinstack.training.examples.example import Example, forests_of
from thinstack.training.loop.own_trees import take_own_trees

SCORES = {"nodes": "node_scores", "roots": "root_scores", "pairs": "pair_scores"}
"""The name of the output with the scores of every target, by what the task head reads."""


class Answers(NamedTuple):
    """The answers of a model for K labelled nodes, texts or pairs. Every array is (K,).

    Attributes:
        gold, predicted: class (int64) or rating (float).
        example: the number of the example, from 0.
        whole: whether the case is a whole sentence, text or pair.
        words: the number of words of the phrase; for a pair, the mean of both sentences.
        depth: the number of edges to the deepest leaf below, in the data's own tree; for a pair,
            the mean of both trees, for a text -1.
        likelihood: the probability of the gold class, and `confidence`, the greatest one. NaN for
            ratings.
    """

    gold: NDArray[Any]
    predicted: NDArray[Any]
    example: NDArray[np.int64]
    whole: NDArray[np.bool_]
    words: NDArray[np.floating]
    depth: NDArray[np.floating]
    likelihood: NDArray[np.floating]
    confidence: NDArray[np.floating]


@torch.inference_mode()
def scores_of(
    model: Model, examples: Sequence[Example], source: str, *, sentences: bool = False
) -> list[NDArray[np.floating]]:
    """The scores (t, C) of each example over the trees of `source`: one row for each target, or for
    each of its `sentences`. The source "self" is the model's own trees."""
    if source == "self":
        take_own_trees(model, examples)
    model.eval()
    output = "root_scores" if sentences else SCORES[model.head.reads]
    scores: list[NDArray[np.floating]] = []
    for part, forest in forests_of(examples, source):
        rows = model(model.inputs(forest))[output].cpu().numpy()
        given = [example.trees[source] for example in part]
        counts = [len(one.forest.lengths if sentences else one.targets) for one in given]
        scores.extend(np.split(rows, np.cumsum(counts)[:-1]))
    return scores


def answers_of(
    scores: Sequence[NDArray[np.floating]],
    examples: Sequence[Example],
    source: str,
    *,
    ratings: bool = False,
) -> Answers:
    """The answers for every labelled target, from its row of the `scores` (t, C) of each example.
    The answer is the most probable class, or with `ratings` the mean rating, from 1 to C."""
    given = [example.trees[source] for example in examples]
    rows: NDArray[Any] = np.concatenate(scores)
    predicted = rows @ np.arange(1, rows.shape[1] + 1) if ratings else rows.argmax(1)
    example = np.repeat(np.arange(len(given)), [len(one.targets) for one in given])
    whole = np.concatenate([np.arange(len(one.targets)) == one.whole for one in given])
    gold, words, depth = (
        np.concatenate(parts)
        for parts in zip(*((g.targets, g.words, g.depths) for g in given), strict=True)
    )
    likelihood, confidence = np.full((2, len(gold)), np.nan)
    if not ratings:
        likelihood, confidence = rows[np.arange(len(gold)), gold], rows.max(1)
    answers = Answers(gold, predicted, example, whole, words, depth, likelihood, confidence)
    return Answers._make(column[gold >= 0] for column in answers)
