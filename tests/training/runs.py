"""Runs of one seed, stopped and gone on with, and what to compare them by."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from thinstack.core.encoder import Judgement
from thinstack.core.model.model import Model
from thinstack.plugins.build import build_model
from thinstack.training.examples.datasets import Datasets, load_datasets
from thinstack.training.examples.example import Example, minibatch
from thinstack.training.loop.seeds import run_seed
from thinstack.training.recipe import Recipe

Weights = dict[str, np.ndarray[Any, np.dtype[np.float32]]]
History = list[dict[str, Any]]


class KilledError(Exception):
    """Stands for the end of the process."""


def weights(model: Model) -> Weights:
    return {name: value.detach().numpy().copy() for name, value in model.state_dict().items()}


def run(
    recipe: Recipe, data: Path, folder: Path, *, seed: int = 1, **calls: Callable[..., None]
) -> tuple[Weights, History]:
    result = run_seed(recipe, load_datasets(recipe, data), seed, folder, **calls)
    return weights(result.model), [{**record, "seconds": 0} for record in result.history]


def stopped(recipe: Recipe, data: Path, folder: Path, epoch: int = 1) -> None:
    """Run as far as the end of an epoch."""

    def stop(record: dict[str, Any]) -> None:
        if record["epoch"] == epoch:
            raise KilledError

    with pytest.raises(KilledError):
        run(recipe, data, folder, on_epoch=stop)


def gone_on(recipe: Recipe, data: Path, folder: Path, epoch: int = 1) -> tuple[Weights, History]:
    """What a run stopped after an epoch comes to; the epochs before are not done again."""
    stopped(recipe, data, folder, epoch)
    torch.manual_seed(123)  # nothing of the first process is left
    done: list[int] = []
    found = run(recipe, data, folder, on_epoch=lambda record: done.append(record["epoch"]))
    assert done == list(range(epoch + 1, len(found[1]) + 1))
    return found


def same(first: tuple[Weights, History], second: tuple[Weights, History]) -> bool:
    return same_weights(first[0], second[0]) and first[1] == second[1]


def same_weights(first: Weights, second: Weights) -> bool:
    equal = all(np.array_equal(value, second[key]) for key, value in first.items())
    return first.keys() == second.keys() and equal


def fresh(recipe: Recipe, datasets: Datasets) -> Model:
    """The model as training starts with it, with seed 1."""
    torch.manual_seed(1)
    model = build_model(recipe.model, entries=len(datasets.table))
    with torch.no_grad():
        model.embedding.table.copy_(torch.from_numpy(datasets.table))
    return model


def drawn(recipe: Recipe, datasets: Datasets) -> Model:
    """A model of random weights, whose answers differ widely."""
    torch.manual_seed(5)
    model = build_model(recipe.model, entries=len(datasets.table)).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.normal_()
    return model


def parser_loss(model: Model, examples: list[Example], oracle: str | None = None) -> Judgement:
    """What a parser is judged by over the gold trees of examples."""
    batch = minibatch(examples, ["gold"] * len(examples), oracle or model.oracle)
    joint = model.joint(model.inputs(batch.forest))
    return model.encoder.judge(joint.choices, joint.free, torch.from_numpy(batch.right))


def of_one(example: Example) -> dict[str, torch.Tensor]:
    """The inputs of a model for one example over its gold trees."""
    fields = example.gold.forest._asdict().items()
    return {name: torch.from_numpy(part) for name, part in fields if len(part)}
