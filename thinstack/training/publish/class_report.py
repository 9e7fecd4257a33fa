"""Prints the classes that a model learns, and their numbers of examples, or its ratings."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from thinstack.errors import escaped
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.example import Example

MOST: Final = 20
"""Classes that are listed."""


def say_ratings(least: str, greatest: str, console: Console) -> None:
    """Print the ends of a scale of ratings."""
    console.print(Text(escaped(f"ratings: from {least} to {greatest}")))


def say_classes(
    labels: Sequence[str], datasets: Datasets, console: Console, more: Iterable[str] = ()
) -> None:
    """Print each class with its numbers of examples to train on and to report on, and `more`
    lines."""
    train, dev = (_counts(part, len(labels)) for part in (datasets.train, datasets.dev))
    both = zip(labels, train.tolist(), dev.tolist(), strict=True)
    listed = [f"{label} {known:,} + {seen:,}" for label, known, seen in both]
    rest = f" and {len(listed) - MOST:,} more" if len(listed) > MOST else ""
    line = f"classes (to train on + to report on): {', '.join(listed[:MOST])}{rest}"
    for each in (line, *more):
        console.print(Text(escaped(each)), soft_wrap=True)
    if without := [label for label, count in zip(labels, train.tolist(), strict=True) if not count]:
        problem = f"no example to train on: {', '.join(without[:MOST])}"
        console.print(Text(escaped(problem), style="yellow"))


def _counts(examples: Iterable[Example], classes: int) -> NDArray[np.int64]:
    """The number of examples of each class, by the target of the whole example."""
    known = [int(one.gold.targets[one.gold.whole]) for one in examples]
    return np.bincount([label for label in known if label >= 0], minlength=classes)
