"""Prints the classes that a model learns, their numbers of examples, and whether they are taken for
a scale."""

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from thinstack.core.scale import FIVE, NUMBERS, Scale, are_numbers
from thinstack.errors import escaped
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.example import Example
from thinstack.training.recipe import Recipe

__all__ = ["say_classes"]

MOST: Final = 20
"""Classes that are listed."""


def say_classes(recipe: Recipe, datasets: Datasets, console: Console) -> None:
    """Print each class with its numbers of examples to train on and to report on, or the scale of
    ratings. Then whether texts' classes are taken for a scale, and how to say otherwise."""
    labels = recipe.model.labels
    if recipe.data.task == "relatedness":
        ends = f"{labels[0]} to {labels[-1]}" if recipe.data.from_table else f"1 to {len(labels)}"
        console.print(Text(escaped(f"ratings: from {ends}")))
        return
    train, dev = (_counts(part, len(labels)) for part in (datasets.train, datasets.dev))
    both = zip(labels, train.tolist(), dev.tolist(), strict=True)
    listed = [f"{label} {known:,} + {seen:,}" for label, known, seen in both]
    more = f" and {len(listed) - MOST:,} more" if len(listed) > MOST else ""
    lines = [f"classes (to train on + to report on): {', '.join(listed[:MOST])}{more}"]
    lines += _scale_of(recipe) if recipe.data.task == "texts" else ()
    for line in lines:
        console.print(Text(escaped(line)), soft_wrap=True)
    if without := [label for label, count in zip(labels, train.tolist(), strict=True) if not count]:
        problem = f"no example to train on: {', '.join(without[:MOST])}"
        console.print(Text(escaped(problem), style="yellow"))


def _scale_of(recipe: Recipe) -> Iterable[str]:
    labels, share = recipe.model.labels, recipe.training.neighbours
    ends = f"{labels[0]} to {labels[-1]}"
    if share:
        yield (
            f"they are taken for a scale from {ends}: {share:.0%} of each text's target goes to "
            "the classes next to its own; if they are no scale, train with --no-scale (in a "
            "recipe neighbours = 0)"
        )
    elif are_numbers(labels) and len(labels) > 2:
        yield (
            "they are numbers, and not taken for a scale; if they are one, such as stars, train "
            "with --scale (in a recipe neighbours = 0.2)"
        )
    if {*labels} == {*NUMBERS} and Scale.of(labels):
        yield f"0 to 4 are shown as the treebank's classes, {FIVE[0]} to {FIVE[-1]}"


def _counts(examples: Iterable[Example], classes: int) -> NDArray[np.int64]:
    """The number of examples of each class, by the target of the whole example."""
    known = [int(one.gold.targets[one.gold.whole]) for one in examples]
    return np.bincount([label for label in known if label >= 0], minlength=classes)
