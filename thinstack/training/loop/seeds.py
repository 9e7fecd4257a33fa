"""Trains and measures the seeds of a recipe, and takes means over them."""

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
        seed: the number of the seed.
        model: the trained model, on the CPU.
        history: a record for each epoch.
        dev: the figures on the development data, by tree source.
        answers: the model's answers on the development data, by tree source. None for a task
            that has no one answer a case.
        test: the figures on `data.test`, by tree source, if there is such a file.
    """

    seed: int
    model: Model
    history: list[dict[str, Any]]
    dev: dict[str, Figures]
    answers: dict[str, Answers | None]
    test: dict[str, Figures] = field(default_factory=dict)

    @property
    def epoch(self) -> int:
        """The epoch whose weights were kept."""
        return best_epoch(self.history)

    @property
    def selection(self) -> float:
        """The watched figure that the epoch was chosen by, or -inf if nothing was watched."""
        watched = [one for one in self.history if one["epoch"] == self.epoch and one["watched"]]
        return watched[0]["selection"] if watched else float("-inf")


def run_seed(
    recipe: Recipe, datasets: Datasets, seed: int, folder: Path, **calls: Callable[..., None]
) -> SeedResult:
    """Train one seed as `train_seed` does, and measure it on the development data. `calls`: as
    `train_seed` takes them."""
    model, history = train_seed(recipe, datasets, seed, folder, **calls)
    model = model.cpu()
    dev, labels, sources = datasets.dev, recipe.model.shown_labels, recipe.measured_trees
    measured, answers = dict[str, Figures](), dict[str, Answers | None]()
    for source in sources:
        measured[source], answers[source] = recipe.task.measure(model, dev, source, labels)
    if model.parses and "gold" in sources:
        measured["self"] |= agreement(model, dev)
    test = {
        source: recipe.task.measure(model, datasets.test, source, labels)[0]
        for source in (sources if datasets.test else ())
    }
    return SeedResult(seed, model, history, measured, answers, test)


def summary(results: Sequence[SeedResult], part: Literal["dev", "test"] = "dev") -> Spreads:
    """The mean and the standard deviation over seeds, by tree source and figure, on a part of the
    data. Both are None for a figure without cases, and the deviation is None for one seed."""
    figures: list[dict[str, Figures]] = [getattr(one, part) for one in results]
    by_source = {source: [one[source] for one in figures] for source in figures[0]}
    return {
        source: {name: _spread([one[name] for one in figures]) for name in figures[0]}
        for source, figures in by_source.items()
    }


def _spread(values: Sequence[float | None]) -> dict[str, float | None]:
    defined = [value for value in values if value is not None]
    if not defined:
        return {"mean": None, "std": None}
    std = statistics.stdev(defined) if len(defined) > 1 else None
    return {"mean": statistics.fmean(defined), "std": std}
