"""Evaluates a model on examples: its answers, and how right they are."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from thinstack.core.config import Task
from thinstack.core.model.model import Model
from thinstack.core.scale import Scale
from thinstack.evaluate.accuracy import accuracy
from thinstack.evaluate.figures import Figures
from thinstack.evaluate.pair_figures import entailment, relatedness
from thinstack.evaluate.text_figures import text_figures
from thinstack.runtime.documents import mean_scores
from thinstack.training.examples.example import Example, forests_of
from thinstack.training.loop.own_trees import take_own_trees

__all__ = ["Answers", "evaluate_model", "scores_of"]

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


def evaluate_model(
    model: Model, examples: Sequence[Example], source: str, task: Task, labels: Sequence[str]
) -> tuple[Figures, Answers]:
    """The figures of `task` over the trees of `source`, and the model's answers. The source "self"
    is the model's own trees.

    The figures of phrases are None for a model that scores only whole sentences. The binary figures
    are None if the classes `labels` have no negative and positive side.
    """
    scores = scores_of(model, examples, source, task)
    if task == "texts":
        scores = _of_texts(scores, examples, source)
    answers = _answers(scores, examples, source, task)
    if task == "relatedness":
        return relatedness(answers.predicted, answers.gold), answers
    if task == "entailment":
        return entailment(answers.predicted, answers.gold), answers
    if task == "texts":
        return text_figures(np.concatenate(scores), answers.gold, labels), answers
    given = [example.trees[source] for example in examples]
    order = [np.argsort(np.arange(len(one.targets)) == one.whole, kind="stable") for one in given]
    targets = [one.targets[places] for one, places in zip(given, order, strict=True)]
    rows = [found[places] for found, places in zip(scores, order, strict=True)]
    phrases = model.head.reads != "roots" or any(len(one.targets) != 1 for one in given)
    return accuracy(rows, targets, scale=Scale.of(labels), phrases=phrases), answers


@torch.inference_mode()
def scores_of(
    model: Model, examples: Sequence[Example], source: str, task: Task
) -> list[NDArray[np.floating]]:
    """The scores (t, C) of each example over the trees of `source`: one row for each target, or for
    each sentence of a text. The source "self" is the model's own trees."""
    if source == "self":
        take_own_trees(model, examples)
    model.eval()
    texts = task == "texts"
    output = "root_scores" if texts else SCORES[model.head.reads]
    scores: list[NDArray[np.floating]] = []
    for part, forest in forests_of(examples, source):
        rows = model(model.inputs(forest))[output].cpu().numpy()
        given = [example.trees[source] for example in part]
        counts = [len(one.forest.lengths if texts else one.targets) for one in given]
        scores.extend(np.split(rows, np.cumsum(counts)[:-1]))
    return scores


def _of_texts(
    scores: Sequence[NDArray[np.floating]], examples: Sequence[Example], source: str
) -> list[NDArray[np.floating]]:
    """The scores (1, C) of each text: the mean of its sentences' scores, weighted by words."""
    lengths = np.concatenate([example.trees[source].forest.lengths for example in examples])
    means = mean_scores(np.concatenate(scores), lengths, np.array(list(map(len, scores))))
    return np.split(means, len(means))


def _answers(
    scores: Sequence[NDArray[np.floating]], examples: Sequence[Example], source: str, task: Task
) -> Answers:
    """The answers for every labelled node, sentence, text or pair."""
    given = [example.trees[source] for example in examples]
    rows: NDArray[Any] = np.concatenate(scores)
    predicted = rows @ np.arange(1, rows.shape[1] + 1) if task == "relatedness" else rows.argmax(1)
    example = np.repeat(np.arange(len(given)), [len(one.targets) for one in given])
    whole = np.concatenate([np.arange(len(one.targets)) == one.whole for one in given])
    gold, words, depth = (
        np.concatenate(parts)
        for parts in zip(*((g.targets, g.words, g.depths) for g in given), strict=True)
    )
    likelihood, confidence = np.full((2, len(gold)), np.nan)
    if task != "relatedness":
        likelihood, confidence = rows[np.arange(len(gold)), gold], rows.max(1)
    answers = Answers(gold, predicted, example, whole, words, depth, likelihood, confidence)
    return Answers._make(column[gold >= 0] for column in answers)
