"""Trains and evaluates the seeds of a recipe, and summarizes their figures."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from thinstack.core.model.model import Model
from thinstack.evaluate.figures import Figures
from thinstack.training.examples.datasets import Datasets
from thinstack.training.loop.epochs import best_epoch
from thinstack.training.loop.epochs import train_seed as train_seed
from thinstack.training.loop.measuring import Answers, agreement
from thinstack.training.recipe import Recipe

Spreads = dict[str, dict[str, dict[str, float | None]]]
"""The "mean" and the "std" over seeds, by tree source and figure."""


@dataclass(frozen=True, slots=True, eq=False)
class SeedResult:
    """A trained seed.

    Attributes:
        seed: the seed.
        model: the trained model, on the CPU.
        history: a record for each epoch.
        dev, test: the figures on the development data and on `data.test`, by tree source.
        answers: the answers on the development data, by tree source, or None for a task without one
            answer per case.
    """

    seed: int
    model: Model
    history: list[dict[str, Any]]
    dev: dict[str, Figures]
    answers: dict[str, Answers | None]
    test: dict[str, Figures] = field(default_factory=dict)

    @property
    def epoch(self) -> int:
        """The epoch whose weights were selected."""
        return best_epoch(self.history)

    @property
    def selection(self) -> float:
        """The watched figure that selected the epoch, or -inf if nothing was watched."""
        watched = [one for one in self.history if one["epoch"] == self.epoch and one["watched"]]
        return watched[0]["selection"] if watched else float("-inf")


def run_seed(
    recipe: Recipe, datasets: Datasets, seed: int, folder: Path, **calls: Callable[..., object]
) -> SeedResult:
    """Train one seed with `train_seed`, whose callbacks are `calls`, and evaluate it."""
    model, history = train_seed(recipe, datasets, seed, folder, **calls)
    model = model.cpu()
    task, labels, sources = recipe.task, recipe.model.shown_labels, recipe.measured_trees
    measured = {source: task.measure(model, datasets.dev, source, labels) for source in sources}
    dev = {source: figures for source, (figures, _) in measured.items()}
    if model.parses and "gold" in sources:
        dev["self"] |= agreement(model, datasets.dev)
    test = {
        source: task.measure(model, datasets.test, source, labels)[0]
        for source in (sources if datasets.test else ())
    }
    answers = {source: one for source, (_, one) in measured.items()}
    return SeedResult(seed, model, history, dev, answers, test)


def summary(results: Sequence[SeedResult], part: Literal["dev", "test"] = "dev") -> Spreads:
    """Return the mean and the standard deviation over seeds on a part of the data, by tree source
    and figure. Both are None for a figure without cases, and the deviation is None for one seed."""
    by_seed: list[dict[str, Figures]] = [getattr(one, part) for one in results]

    def spread(source: str, name: str) -> dict[str, float | None]:
        values = [value for one in by_seed if (value := one[source][name]) is not None]
        std = statistics.stdev(values) if len(values) > 1 else None
        return {"mean": statistics.fmean(values) if values else None, "std": std}

    return {
        source: {name: spread(source, name) for name in figures}
        for source, figures in by_seed[0].items()
    }
