"""Runs a model in training on examples: its scores, its answers beside the right ones, and its own
trees, to learn from and to measure."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thinstack.core.forest import without_trees
from thinstack.core.model.model import Model
from thinstack.core.transitions import spans_of
from thinstack.evaluate.figures import percentage
from thinstack.evaluate.treebank_evaluation import bracketing
from thinstack.training.examples.example import Example, forests_of

SCORES = {"nodes": "node_scores", "roots": "root_scores", "pairs": "pair_scores"}
"""The name of the output with the scores of every target, by what the task head reads."""


class Answers(NamedTuple):
    """The answers of a model for K labelled nodes, texts or pairs. Every array is (K,).

    Attributes:
        gold, predicted: class (int64) or rating (float).
        scores: (K, C) of each case.
        example: the number of the example, from 0.
        whole: whether the case is a whole sentence, text or pair.
    """

    gold: NDArray[Any]
    predicted: NDArray[Any]
    scores: NDArray[np.floating]
    example: NDArray[np.int64]
    whole: NDArray[np.bool_]

    def at(self, cases: NDArray[np.bool_]) -> "Answers":
        """Some of the cases, (K,)."""
        return Answers._make(column[cases] for column in self)


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
        trees = [example.trees[source] for example in part]
        counts = [len(one.forest.sizes if sentences else one.targets) for one in trees]
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
    trees = [example.trees[source] for example in examples]
    rows: NDArray[Any] = np.concatenate(scores)
    predicted = rows @ np.arange(1, rows.shape[1] + 1) if ratings else rows.argmax(1)
    example = np.repeat(np.arange(len(trees)), [len(one.targets) for one in trees])
    whole = np.concatenate([np.arange(len(one.targets)) == one.whole for one in trees])
    gold = np.concatenate([one.targets for one in trees])
    return Answers(gold, predicted, rows, example, whole).at(gold >= 0)


@torch.inference_mode()
def own_trees(model: Model, examples: Sequence[Example]) -> list[NDArray[np.int64]]:
    """The transitions (N,) that the model chooses for each example, one sentence after the other.
    The model parses in evaluation mode, and its mode is restored."""
    training = model.training
    model.eval()
    # A parser may read sentences up to the longest one of a batch.
    longest = [example.gold.forest.lengths.max(initial=0) for example in examples]
    order = np.argsort(longest, kind="stable").tolist()
    parses: list[NDArray[np.int64]] = [np.empty(0, np.int64)] * len(examples)
    places = iter(order)
    for part, forest in forests_of([examples[place] for place in order], "gold"):
        steps = model.choose_trees(model.inputs(without_trees(forest))).cpu().numpy()
        ends = np.cumsum([example.gold.forest.sizes.sum() for example in part])
        for parse in np.split(steps, ends[:-1]):
            parses[next(places)] = parse
    model.train(training)
    return parses


def take_own_trees(model: Model, examples: Sequence[Example], epoch: int | None = None) -> None:
    """Set the trees of "self" of all examples to the model's parses. In the first `epoch` of
    training (1), they are the treebank's trees."""
    if epoch == 1:
        for example in examples:
            example.trees["self"] = example.gold
        return
    for example, steps in zip(examples, own_trees(model, examples), strict=True):
        example.trees["self"] = example.gold.over(steps)


@torch.inference_mode()
def agreement(model: Model, examples: Sequence[Example]) -> dict[str, float | None]:
    """How well the trees of "self" agree with the treebank's, as `bracketing` measures it. Call
    `take_own_trees` before.

    Two figures are added, in percent. `choices_right`: the right choices that the parser makes
    along the treebank's trees, or None without choices. `transitions_right`: the transitions of its
    own parses that are the treebank's of the same place, over all transitions of all sentences.
    Forced ones count too, as in Bowman et al. (2016, Table 3).
    """
    forests = (
        [example.trees[source].forest for example in examples] for source in ("self", "gold")
    )
    parsed, gold = (
        [steps for forest in part for steps in forest.by_tree(forest.transitions)]
        for part in forests
    )
    model.eval()
    right: Tensor | int = 0
    cases = 0
    for _, forest in forests_of(examples, "gold"):
        joint = model.joint(model.inputs(forest))
        wanted = torch.from_numpy(forest.sentence_transitions)
        judged = model.encoder.judge(joint.choices, joint.free, wanted)
        right, cases = right + judged.right, cases + judged.cases
    return {
        "choices_right": 100.0 * float(right) / cases if cases else None,
        "transitions_right": percentage(np.concatenate(parsed) == np.concatenate(gold)),
        **bracketing(*([spans_of(steps) for steps in part] for part in (parsed, gold))),
    }
