"""What a model says of examples, and how right that is."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from thinstack.config import Task
from thinstack.measure.accuracy import accuracy
from thinstack.measure.figures import Figures, has_sides
from thinstack.measure.pair_figures import entailment, relatedness
from thinstack.measure.text_figures import text_figures
from thinstack.models.model import Model
from thinstack.runtime.documents import mean_scores
from thinstack.training.examples import Example, forests_of
from thinstack.training.own_trees import take_own_trees

__all__ = ["Answers", "evaluate_model", "scores_of"]

SCORES = {"nodes": "node_scores", "roots": "root_scores", "pairs": "pair_scores"}
"""The output that holds a score for every target, by what the task head reads."""


class Answers(NamedTuple):
    """What a model says of K labelled nodes, or of K pairs; every array is (K,).

    Attributes:
        gold, predicted: class (int64) or rating (float).
        example: the number of the example.
        whole: whether it is the whole sentence or pair.
        words: words of the phrase; of a pair the mean of both sentences.
        depth: edges to the deepest leaf below, in the data's own tree; of a pair the mean.
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
    """The figures of `task` over the trees of `source` (the model's own for "self"), and what the
    model says of each case.

    Of a model of whole sentences the figures of phrases are None, over no case, and of classes
    `labels` without sides the binary ones.
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
    return accuracy(rows, targets, binary=has_sides(labels), phrases=phrases), answers


@torch.inference_mode()
def scores_of(
    model: Model, examples: Sequence[Example], source: str, task: Task
) -> list[NDArray[np.floating]]:
    """The scores (t, C) of the targets of each example, or of the sentences of a text, over the
    trees of `source` (the model's own for "self")."""
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
    """The scores (1, C) of each text, of those of its sentences."""
    lengths = np.concatenate([example.trees[source].forest.lengths for example in examples])
    means = mean_scores(np.concatenate(scores), lengths, np.array(list(map(len, scores))))
    return np.split(means, len(means))


def _answers(
    scores: Sequence[NDArray[np.floating]], examples: Sequence[Example], source: str, task: Task
) -> Answers:
    """What the model says of every labelled node, sentence or pair."""
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
