"""What a model says of examples, and how right that is."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from thinstack.config import Task
from thinstack.measure.metrics import measure
from thinstack.measure.pairs import entailment, relatedness
from thinstack.models.model import Model
from thinstack.training.cases import Cases
from thinstack.training.examples import Example, minibatch
from thinstack.training.own_trees import take_own_trees

__all__ = ["evaluate_model"]

EVALUATION_BATCH = 256

SCORES = {"nodes": "node_scores", "roots": "root_scores", "pairs": "pair_scores"}
"""The output that holds a score for every target, by what the task head reads."""

Figures = dict[str, float | None]


def evaluate_model(
    model: Model, examples: Sequence[Example], source: str, task: Task
) -> tuple[Figures, Cases]:
    """The figures of `task` over the trees of `source` (the model's own for "self"), and what the
    model says of each case.

    A model that is asked for sentences alone has no figures of phrases: those are None, over no
    case.
    """
    if source == "self":
        take_own_trees(model, examples)
    scores = _scores(model, examples, source)
    cases = _cases(scores, examples, source, task)
    if task == "relatedness":
        return relatedness(cases.predicted, cases.gold), cases
    if task == "entailment":
        return entailment(cases.predicted, cases.gold, cases.negated), cases
    given = [example.trees[source] for example in examples]
    order = [np.argsort(np.arange(len(one.targets)) == one.whole, kind="stable") for one in given]
    targets = [one.targets[places] for one, places in zip(given, order, strict=True)]
    figures = measure(
        [rows[places] for rows, places in zip(scores, order, strict=True)], targets
    ).to_dict()
    if model.head.reads == "roots" and all(len(one.targets) == 1 for one in given):
        figures |= dict.fromkeys(("phrase_accuracy", "phrase_binary_accuracy"), None) | {
            "phrases": 0,
            "binary_phrases": 0,
        }
    return figures, cases


@torch.inference_mode()
def _scores(model: Model, examples: Sequence[Example], source: str) -> list[NDArray[np.float32]]:
    """Scores (t, C) of the targets of each example."""
    model.eval()
    scores: list[NDArray[np.float32]] = []
    for start in range(0, len(examples), EVALUATION_BATCH):
        part = examples[start : start + EVALUATION_BATCH]
        forest = minibatch(part, [source] * len(part)).forest
        rows = model(model.inputs(forest))[SCORES[model.head.reads]].cpu().numpy()
        ends = np.cumsum([len(example.trees[source].targets) for example in part])
        scores.extend(np.split(rows, ends[:-1]))
    return scores


def _cases(
    scores: Sequence[NDArray[np.float32]], examples: Sequence[Example], source: str, task: Task
) -> Cases:
    """What the model says of every labelled node, sentence or pair."""
    given = [example.trees[source] for example in examples]
    rows: NDArray[Any] = np.concatenate(scores)
    predicted = rows @ np.arange(1, rows.shape[1] + 1) if task == "relatedness" else rows.argmax(1)
    whole = np.concatenate([np.arange(len(one.targets)) == one.whole for one in given])
    negated = np.repeat(
        [example.negated for example in examples], [len(one.targets) for one in given]
    )
    gold, words, depths = (
        np.concatenate(parts)
        for parts in zip(*((g.targets, g.words, g.depths) for g in given), strict=True)
    )
    known = gold >= 0
    return Cases(
        gold=gold[known],
        predicted=predicted[known],
        words=words[known],
        depth=depths[known],
        whole=whole[known],
        negated=negated[known],
    )
