"""Trains and evaluates the seeds of a recipe, and summarizes their figures.

Training has epochs of minibatches with early stopping, a running average of the weights and
checkpoints; then additional epochs for a parser alone.
"""

import copy
import json
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import torch

from thinstack.core.model.model import Model
from thinstack.core.model.parsing_encoder import ParsingEncoder
from thinstack.data.files.writing import write_atomically
from thinstack.errors import ConfigError, StoppedError
from thinstack.evaluate.figures import Figures
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.example import Example, minibatch, minibatch_places, together
from thinstack.training.loop.initial import initial_model
from thinstack.training.loop.learner import (
    Learner,
    load_checkpoint,
    process_settings,
    save_checkpoint,
    set_rates,
)
from thinstack.training.loop.losses import check_precision, lower_precision
from thinstack.training.loop.measuring import Answers, agreement, take_own_trees
from thinstack.training.loop.teaching import drawn_trees, taught_examples
from thinstack.training.recipe import Recipe, TrainingConfig
from thinstack.training.task import Step

Spreads = dict[str, dict[str, dict[str, float | None]]]
"""The "mean" and the "std" over seeds, by tree source and figure."""

Progress = Callable[[int, int, int], object]
"""Called with an epoch, how many of its examples are done, and how many there are."""


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
    average, best = learner.average, copy.deepcopy(model)
    modules = {"model": model, "average": average, "best": best}
    checkpoint = folder / "checkpoint.safetensors"
    history = load_checkpoint(checkpoint, modules, learner.optimizers, seed)

    try:
        while len(history) < config.epochs and (
            not history or len(history) - best_epoch(history) < config.patience
        ):
            epoch = len(history) + 1
            batches = _draw_epoch(model, datasets, recipe, seed, epoch)
            record = _one_epoch(learner, batches, recipe, epoch, on_batch)
            record = {"seed": seed, "epoch": epoch} | record
            learner.update_average(max(1.0 - config.average, 1.0 / epoch))
            record |= _watch(average, datasets, recipe)
            records = [*history, record]
            if best_epoch(records) == epoch:
                best.load_state_dict(average.state_dict())
            lines = "".join(json.dumps(past) + "\n" for past in records)
            write_atomically(folder / "metrics.jsonl", lines)
            save_checkpoint(checkpoint, modules, learner.optimizers, records)
            on_epoch(record)
            history.append(record)  # only now, after it was written
        if config.parser_epochs > 0:
            draw = np.random.default_rng([seed, config.epochs + 1])
            examples = [*datasets.train, *_drawn_examples(best, datasets, recipe, draw)]
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


def _watch(model: Model, datasets: Datasets, recipe: Recipe) -> dict[str, Any]:
    """Return the figures that early stopping watches, their sum, and the traced figures."""
    task, parsed = recipe.task, ["self"] if model.parses else []
    sources = (*recipe.training.trees, *parsed) if datasets.watched else ()
    figures, traced = (
        {s: task.measure(model, examples, s, recipe.model.shown_labels)[0] for s, examples in parts}
        for parts in (dict.fromkeys(sources, datasets.watched).items(), datasets.traced.items())
    )
    total = sum(map(task.selection, figures.values()))
    return {"watched": figures, "selection": total} | ({"traced": traced} if traced else {})


def _draw_epoch(
    model: Model, datasets: Datasets, recipe: Recipe, seed: int, epoch: int
) -> list[tuple[list[Example], list[str]]]:
    """Draw the examples of each minibatch and the tree source of each example, and seed dropout. If
    the model's own trees are among the sources, parse the examples again."""
    config, draw = recipe.training, np.random.default_rng([seed, epoch])
    examples = [one for one in datasets.train if epoch % one.every == one.turn]
    kinds, dropout = config.trees, int(draw.integers(2**31))
    sources = [kinds[number] for number in draw.integers(len(kinds), size=len(examples))]
    drawn = [*examples, *_drawn_examples(model, datasets, recipe, draw)]
    sources += ["gold"] * (len(drawn) - len(examples))
    order, lengths = together(draw.permutation(len(drawn)), drawn)
    batches = list(minibatch_places(order, lengths, config, draw))
    if "self" in config.sources:
        if epoch == 1 and recipe.task.brings_trees:  # scheduled sampling starts from these
            for example in examples:
                example.trees["self"] = example.gold
        else:
            take_own_trees(model, examples)
    torch.manual_seed(dropout)
    return [
        ([drawn[place] for place in batch], [sources[place] for place in batch])
        for batch in batches
    ]


def _drawn_examples(
    model: Model, datasets: Datasets, recipe: Recipe, draw: np.random.Generator
) -> list[Example]:
    if datasets.treebank is None:
        return []
    trees = drawn_trees(recipe, datasets.treebank, draw)
    return taught_examples(trees, datasets.vocabulary, recipe.model, model.head.reads)


def _one_epoch(
    learner: Learner,
    batches: Sequence[tuple[Sequence[Example], Sequence[str]]],
    recipe: Recipe,
    epoch: int,
    on_batch: Progress,
) -> dict[str, Any]:
    """Train on the minibatches once. Returns the seconds and the mean loss per case: a labeled
    node, sentence or pair, and, for a model that parses, a choice of transitions."""
    started, task, config = time.perf_counter(), recipe.task, recipe.training
    model, total, done = learner.model, sum(len(examples) for examples, _ in batches), 0
    model.train()
    # The losses of the task and of a parser stay on the device, because reading one waits for it.
    device = model.embedding.table.device
    losses_so_far, cases = torch.zeros(2, dtype=torch.float64, device=device), np.zeros(2)
    for examples, sources in batches:
        size = len(examples)
        set_rates(learner.optimizers, config, epoch - 1 + (done + size / 2) / total)
        batch = minibatch(examples, sources, model.oracle if task.teaches_parser else None)
        losses, counts = task.loss(Step(model, batch, config, learner.initial, epoch))
        learner.learn((losses[0] + config.alpha * losses[1]) / size)
        losses_so_far += torch.stack(losses).detach()
        cases += counts
        learner.step()
        done += size
        on_batch(epoch, done, total)
    loss, parsing_loss = (losses_so_far.cpu().numpy() / np.maximum(cases, 1)).tolist()
    _check_finite(loss, model, epoch)
    parsing = {"parsing_loss": parsing_loss} if model.parses and task.teaches_parser else {}
    return {"loss": loss, **parsing, "seconds": time.perf_counter() - started}


def _check_finite(loss: float, model: Model, epoch: int) -> None:
    names, weights = zip(*model.named_parameters(), strict=True)
    # One copy from the device, instead of a wait for each weight.
    finite = torch.stack([torch.isfinite(value).all() for value in weights]).cpu().tolist()
    if all(finite) and math.isfinite(loss):
        return
    what = f"the loss is {loss}" if all(finite) else f"{names[finite.index(False)]} is not finite"
    raise ConfigError(
        f"the training diverged in epoch {epoch}: {what}; lower training.learning_rate or "
        "training.vector_learning_rate"
    )


def fit_parser(
    model: Model, examples: Sequence[Example], config: TrainingConfig, seed: int, on_batch: Progress
) -> None:
    """Train only the parser of a model, for `parser_epochs` epochs, on the gold trees of the
    `parsed` examples. The epochs that `on_batch` receives continue those of the model.

    A parser lags behind word vectors that still change. On SST, these epochs add a point of F1.
    """
    encoder = cast(ParsingEncoder, model.encoder)
    learner = Learner(model, config)
    rates = config.model_copy(update={"epochs": config.parser_epochs})
    model.eval()
    encoder.parser.train()
    for epoch in range(config.parser_epochs):
        chosen = [one for one in examples if one.parsed and epoch % one.every == one.turn]
        lengths = [example.words for example in chosen]
        draw = np.random.default_rng([seed, config.epochs, epoch])
        torch.manual_seed(int(draw.integers(2**31)))
        done = 0
        order = draw.permutation(len(chosen))
        for places in minibatch_places(order, lengths, config, draw):
            set_rates(learner.optimizers, rates, epoch + done / len(chosen))
            size = len(places)
            batch = minibatch([chosen[place] for place in places], ["gold"] * size, "static")
            inputs = model.inputs(batch.forest)
            with torch.no_grad(), lower_precision(model, config):
                words = model.embed(inputs).float()
            choices = encoder.parser(words, inputs["lengths"].long()).unsqueeze(1)
            right = torch.from_numpy(batch.right)
            learner.learn(encoder.judge(choices, right[:0], right).loss / size)
            learner.step()
            done += size
            on_batch(config.epochs + epoch + 1, done, len(chosen))
    model.eval()


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
