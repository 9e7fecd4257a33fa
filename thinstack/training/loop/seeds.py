"""Trains the seeds of a recipe, with early stopping and checkpoints, evaluates them, and summarizes
their figures."""

import copy
import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from thinstack.core.model.model import Model
from thinstack.data.files.writing import write_atomically
from thinstack.errors import StoppedError
from thinstack.evaluate.figures import Figures
from thinstack.training.examples.datasets import Datasets
from thinstack.training.loop.epochs import Progress, drawn_examples, fit_parser, train_epoch
from thinstack.training.loop.initial import initial_model
from thinstack.training.loop.learner import (
    Learner,
    load_checkpoint,
    process_settings,
    save_checkpoint,
)
from thinstack.training.loop.losses import check_precision
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


@process_settings()
def train_seed(
    recipe: Recipe,
    datasets: Datasets,
    seed: int,
    folder: Path,
    *,
    on_batch: Progress = lambda *_: None,
    on_epoch: Callable[[dict[str, Any]], object] = lambda _: None,
    prepare: Callable[[Model], object] = lambda _: None,
) -> tuple[Model, list[dict[str, Any]]]:
    """Train one seed of a recipe. Returns the model with the selected weights, and the record of
    every epoch, which `on_epoch` also receives. `prepare` may change the initial weights.

    Each epoch writes a checkpoint to `folder`, from which a later call with the same arguments
    resumes. As every epoch has its own random generator, a resumed run has the same minibatches and
    dropout masks. During training the process flushes denormals; afterwards it does not, whatever
    the previous setting, which torch does not expose.

    Raises ConfigError if training diverges, or if the model or its device does not support the
    precision, and DataError for an unusable checkpoint.
    """
    config = recipe.training
    torch.manual_seed(seed)
    model = initial_model(recipe, datasets.table, datasets.weights, datasets.start)
    prepare(model)
    model = model.to("cuda" if torch.cuda.is_available() else "cpu")
    check_precision(model, config)
    frozen = recipe.init.frozen if recipe.init else ()
    learner = Learner(model, config, frozen=frozen, keeps_start=recipe.task.keeps_start)
    best = copy.deepcopy(model)
    modules = {"model": model, "average": learner.average, "best": best}
    checkpoint = folder / "checkpoint.safetensors"
    history = load_checkpoint(checkpoint, modules, learner.optimizers, seed)
    try:
        while len(history) < config.epochs and (
            not history or len(history) - best_epoch(history) < config.patience
        ):
            epoch = len(history) + 1
            record = train_epoch(learner, datasets, recipe, seed, epoch, on_batch)
            records = [*history, record]
            if best_epoch(records) == epoch:
                best.load_state_dict(learner.average.state_dict())
            lines = "".join(json.dumps(past) + "\n" for past in records)
            write_atomically(folder / "metrics.jsonl", lines)
            save_checkpoint(checkpoint, modules, learner.optimizers, records)
            on_epoch(record)
            history.append(record)  # only now, after it was written
        if config.parser_epochs > 0:
            draw = np.random.default_rng([seed, config.epochs + 1])
            examples = [*datasets.train, *drawn_examples(best, datasets, recipe, draw)]
            fit_parser(best, examples, config, seed, on_batch)
    except (StoppedError, OSError, KeyboardInterrupt) as error:
        epochs = f" after epoch {len(history)} of seed {seed}" if history else ""
        if isinstance(error, StoppedError):
            raise StoppedError(f"{error}{epochs}") from None
        error.add_note(epochs)
        raise
    return best, history


def best_epoch(history: Sequence[dict[str, Any]]) -> int:
    """Return the epoch (from 1) whose weights are selected: the first best of those watched, or the
    last if none were. 0 without any epoch."""
    if not history or not history[-1]["watched"]:
        return len(history)
    return 1 + max(range(len(history)), key=lambda epoch: history[epoch]["selection"])


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
    tested = sources if datasets.test else ()
    test = {source: task.measure(model, datasets.test, source, labels)[0] for source in tested}
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
