"""Lets a model in training parse: for trees to learn from and to evaluate on, and to measure how
right its parses are."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from thinstack.core.forest import without_trees
from thinstack.core.model.model import Model
from thinstack.core.transitions import spans_of
from thinstack.evaluate.bracketing import bracketing
from thinstack.evaluate.figures import percentage
from thinstack.training.examples.example import Example, forests_of


@torch.inference_mode()
def own_trees(model: Model, examples: Sequence[Example]) -> list[NDArray[np.int64]]:
    """The transitions (N,) that the model chooses for each example, one sentence after the other.
    The model parses in evaluation mode, and its mode is restored."""
    training = model.training
    model.eval()
    order = np.argsort([example.words for example in examples], kind="stable").tolist()
    found: list[NDArray[np.int64]] = [np.empty(0, np.int64)] * len(examples)
    places = iter(order)
    for part, forest in forests_of([examples[place] for place in order], "gold"):
        steps = model(model.inputs(without_trees(forest)))["parse"].cpu().numpy()
        ends = np.cumsum([example.gold.forest.sizes.sum() for example in part])
        for own in np.split(steps, ends[:-1]):
            found[next(places)] = own
    model.train(training)
    return found


def take_own_trees(model: Model, examples: Sequence[Example], epoch: int | None = None) -> None:
    """Set the trees of "self" of all examples to the model's parses. In the first `epoch` of
    training (1), they are the treebank's trees."""
    if epoch == 1:
        for example in examples:
            example.trees["self"] = example.gold
        return
    for example, steps in zip(examples, own_trees(model, examples), strict=True):
        example.trees["self"] = example.gold.over(steps)


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
    own, gold = (
        [steps for forest in part for steps in forest.by_tree(forest.transitions)]
        for part in forests
    )
    return {
        "choices_right": _choices_right(model, examples),
        "transitions_right": percentage(np.concatenate(own) == np.concatenate(gold)),
        **bracketing(*([spans_of(steps) for steps in part] for part in (own, gold))),
    }


@torch.inference_mode()
def _choices_right(model: Model, examples: Sequence[Example]) -> float | None:
    model.eval()
    right = cases = 0
    for _, forest in forests_of(examples, "gold"):
        inputs = model.inputs(forest)
        joint = model.joint(inputs)
        wanted = torch.from_numpy(forest.transitions)
        found = model.encoder.judge(joint.choices, joint.free, wanted)
        right, cases = right + found.right, cases + found.cases
    return 100.0 * right / cases if cases else None
