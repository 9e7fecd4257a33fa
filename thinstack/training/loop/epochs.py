"""An epoch: draws the minibatches, trains a model on them, and measures it; and the additional
epochs for a parser alone."""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import torch

from thinstack.core.model.model import Model
from thinstack.core.model.parsing_encoder import ParsingEncoder
from thinstack.errors import ConfigError
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.example import Example, minibatch, minibatch_places, together
from thinstack.training.loop.learner import Learner, set_rates
from thinstack.training.loop.losses import lower_precision
from thinstack.training.loop.measuring import take_own_trees
from thinstack.training.loop.teaching import drawn_trees, taught_examples
from thinstack.training.recipe import Recipe, TrainingConfig
from thinstack.training.task import Step

Progress = Callable[[int, int, int], object]
"""Called with an epoch, how many of its examples are done, and how many there are."""


def train_epoch(
    learner: Learner, datasets: Datasets, recipe: Recipe, seed: int, epoch: int, on_batch: Progress
) -> dict[str, Any]:
    """Train on the minibatches once, update the running average of the weights, and measure it.

    Returns the record of the epoch. Its losses are means per case: a labeled node, sentence or
    pair, and, for a model that parses, a choice of transitions. Its seconds are those of training.
    """
    model, task, config = learner.model, recipe.task, recipe.training
    batches = _draw_epoch(model, datasets, recipe, seed, epoch)
    started, total, done = time.perf_counter(), sum(len(examples) for examples, _ in batches), 0
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
    means = {"loss": loss, **parsing, "seconds": time.perf_counter() - started}
    learner.update_average(max(1.0 - config.average, 1.0 / epoch))
    return {"seed": seed, "epoch": epoch, **means} | _watch(learner.average, datasets, recipe)


def _draw_epoch(
    model: Model, datasets: Datasets, recipe: Recipe, seed: int, epoch: int
) -> list[tuple[list[Example], list[str]]]:
    """Draw the examples of each minibatch and the tree source of each example, and seed dropout. If
    the model's own trees are among the sources, parse the examples again."""
    config, draw = recipe.training, np.random.default_rng([seed, epoch])
    examples = [one for one in datasets.train if epoch % one.every == one.turn]
    kinds, dropout = config.trees, int(draw.integers(2**31))
    sources = [kinds[number] for number in draw.integers(len(kinds), size=len(examples))]
    drawn = [*examples, *drawn_examples(model, datasets, recipe, draw)]
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


def drawn_examples(
    model: Model, datasets: Datasets, recipe: Recipe, draw: np.random.Generator
) -> list[Example]:
    """Draw the examples of the lessons that are drawn again for each epoch."""
    if datasets.treebank is None:
        return []
    trees = drawn_trees(recipe, datasets.treebank, draw)
    return taught_examples(trees, datasets.vocabulary, recipe.model, model.head.reads)


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
        draw = np.random.default_rng([seed, config.epochs, epoch])
        torch.manual_seed(int(draw.integers(2**31)))
        order, done = draw.permutation(len(chosen)), 0
        for places in minibatch_places(order, [one.words for one in chosen], config, draw):
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
