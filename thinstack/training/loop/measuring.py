"""Runs a model in training on examples: its scores, its answers with the right ones, and its own
trees for training and evaluation."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax

from thinstack.core.forest import without_trees
from thinstack.core.model.model import Model
from thinstack.core.scale import summed
from thinstack.core.transitions import spans_of
from thinstack.evaluate.figures import percentage
from thinstack.evaluate.treebank_evaluation import bracketing
from thinstack.runtime.scored import mean_scores
from thinstack.training.examples.example import Example, forests_of

SCORES = {"nodes": "node_scores", "roots": "root_scores", "pairs": "pair_scores"}
"""The name of the output with the scores of every target, by what the task head reads."""


class Answers(NamedTuple):
    """The answers of a model for K labeled nodes, texts or pairs. Every array is (K,).

    Attributes:
        gold, predicted: class (int64) or rating (float).
        scores: (K, C) of each case.
        example: the index of the example, from 0.
        whole: whether the case is a whole sentence, text or pair.
    """

    gold: NDArray[Any]
    predicted: NDArray[Any]
    scores: NDArray[np.floating]
    example: NDArray[np.int64]
    whole: NDArray[np.bool_]

    def at(self, cases: NDArray[np.bool_]) -> "Answers":
        """Return the cases of a mask (K,)."""
        return Answers._make(column[cases] for column in self)


@torch.inference_mode()
def scores_of(
    model: Model, examples: Sequence[Example], source: str, *, sentences: bool = False
) -> list[NDArray[np.floating]]:
    """Return the scores (t, C) of each example over the trees of `source`, one row for each target
    or each of its `sentences`. The source "self" is the model's own trees."""
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


def text_scores_of(
    model: Model, examples: Sequence[Example], source: str, sets: NDArray[np.float32] | None = None
) -> Callable[[float | None], NDArray[np.floating]]:
    """Score texts, as the means of their sentences, over the trees of `source`.

    Returns a function from a temperature, or None, to the scores (T, C) of the classes, or (T, S)
    of `sets` of classes (S, C), by default the model's.
    """
    sentences = scores_of(model, examples, source, sentences=True)
    rows, counts = np.concatenate(sentences), np.array(list(map(len, sentences)))
    lengths = np.concatenate([example.trees[source].forest.lengths for example in examples])
    if sets is None and model.class_sets is not None:
        sets = model.class_sets.numpy()

    def at(temperature: float | None) -> NDArray[np.floating]:
        scores = rows if temperature is None else tempered(rows, temperature)
        return summed(mean_scores(scores, lengths, counts), sets)

    return at


def tempered(scores: NDArray[np.floating], temperature: float) -> NDArray[np.float64]:
    """Return softmax(z / T) for rows (K, C) that are softmax(z), T > 0 (Guo et al. 2017, equation
    9). A temperature above 1 makes scores less certain, and keeps their order."""
    logs = np.log(np.maximum(scores, np.finfo(np.float32).tiny).astype(np.float64))
    softer: NDArray[np.float64] = softmax(logs / temperature, axis=1)
    return softer


def answers_of(
    scores: Sequence[NDArray[np.floating]],
    examples: Sequence[Example],
    source: str,
    *,
    ratings: bool = False,
) -> Answers:
    """Return the answers for all labeled targets, from the `scores` (t, C) of each example: the
    most probable classes, or with `ratings` the mean ratings, from 1 to C."""
    trees = [example.trees[source] for example in examples]
    rows: NDArray[Any] = np.concatenate(scores)
    predicted = rows @ np.arange(1, rows.shape[1] + 1) if ratings else rows.argmax(1)
    example = np.repeat(np.arange(len(trees)), [len(one.targets) for one in trees])
    whole = np.concatenate([np.arange(len(one.targets)) == one.whole for one in trees])
    gold = np.concatenate([one.targets for one in trees])
    return Answers(gold, predicted, rows, example, whole).at(gold >= 0)


@torch.inference_mode()
def own_trees(model: Model, examples: Sequence[Example]) -> list[NDArray[np.int64]]:
    """Return the transitions (N,) that the model predicts in evaluation mode for each example, one
    sentence after the other."""
    training = model.training
    model.eval()
    # A parser may pad sentences to the longest one of a batch.
    longest = [example.gold.forest.lengths.max(initial=0) for example in examples]
    order = np.argsort(longest, kind="stable").tolist()
    parses: list[NDArray[np.int64]] = []
    for part, forest in forests_of([examples[place] for place in order], "gold"):
        steps = model.choose_trees(model.inputs(without_trees(forest))).cpu().numpy()
        ends = np.cumsum([example.gold.forest.sizes.sum() for example in part])
        parses += np.split(steps, ends[:-1])
    model.train(training)
    return [parses[rank] for rank in np.argsort(order)]


def take_own_trees(model: Model, examples: Sequence[Example]) -> None:
    """Set the trees of "self" of all examples to the model's parses."""
    for example, steps in zip(examples, own_trees(model, examples), strict=True):
        example.trees["self"] = example.gold.over(steps)


@torch.inference_mode()
def agreement(model: Model, examples: Sequence[Example]) -> dict[str, float | None]:
    """Return how well the trees of "self", from `take_own_trees`, agree with the treebank: the
    figures of `bracketing`, and two others in percent.

    `choices_right`: the right choices of the parser along the treebank's trees, or None without
    choices. `transitions_right`: the transitions of its parses that equal those of the treebank in
    the same place, including forced ones, as in Bowman et al. (2016, Table 3).
    """
    kinds = [[example.trees[source].forest for example in examples] for source in ("self", "gold")]
    parsed, gold = (
        [steps for one in forests for steps in one.by_tree(one.transitions)] for forests in kinds
    )
    model.eval()
    right, cases = 0.0, 0
    for _, forest in forests_of(examples, "gold"):
        joint = model.joint(model.inputs(forest))
        wanted = torch.from_numpy(forest.sentence_transitions)
        judged = model.encoder.judge(joint.choices, joint.free, wanted)
        right, cases = right + float(judged.right), cases + judged.cases
    return {
        "choices_right": 100.0 * right / cases if cases else None,
        "transitions_right": percentage(np.concatenate(parsed) == np.concatenate(gold)),
        **bracketing(*([spans_of(steps) for steps in part] for part in (parsed, gold))),
    }
