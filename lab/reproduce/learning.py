"""Settings of the papers' own trainings, which no recipe has: how weights start and decay, and
whose labels count."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, Literal, Self

import numpy as np
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_pre_hook

from reproduce.glorot import draw_by_glorot
from thinstack.core.config.base import Strict
from thinstack.core.model.model import Model
from thinstack.core.transitions import SHIFT
from thinstack.errors import ConfigError
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.example import Example
from thinstack.training.examples.labelled import LabelledForest
from thinstack.training.recipe import Recipe, TrainingConfig

Labels = Literal["all", "roots", "roots+words"]
"""Whose labels of a treebank the loss reads: those of all nodes, of whole sentences, or of whole
sentences and single words (Zhu et al. 2015, Table 2)."""

DECAY: float = TrainingConfig.model_fields["weight_decay"].default


class Learning(Strict):
    """What a table says in `recipe.training` beside the settings of a recipe.

    Attributes:
        init: "glorot" draws fresh weights as Glorot & Bengio 2010, (16).
        decoupled_decay: whether each step takes `weight_decay` times the learning rate from each
            weight itself (Loshchilov & Hutter 2019), from biases too; gradients have none then.
        labels: whose labels the loss reads. Figures are of all labels.
        weight_decay: the one that is decoupled.
    """

    init: Literal["own", "glorot"] = "own"
    decoupled_decay: bool = False
    labels: Labels = "all"
    weight_decay: float = DECAY

    @classmethod
    def split(cls, data: dict[str, Any], *, source: str) -> tuple[Self, dict[str, Any]]:
        """The settings in the data of a recipe, and the data without them. Raises ConfigError."""
        training = data.get("training")
        if not isinstance(training, dict):
            return cls(), data
        names = ["init", "decoupled_decay", "labels"]
        own = {name: training[name] for name in names if name in training}
        rest = {name: value for name, value in training.items() if name not in own}
        if own.get("decoupled_decay"):
            own["weight_decay"] = rest.get("weight_decay", DECAY)
            rest["weight_decay"] = 0.0
        return cls.parse(own, source=f"{source}: training"), {**data, "training": rest}

    def check(self, recipe: Recipe, *, source: str) -> None:
        """Raise ConfigError where a recipe cannot be trained so."""
        training = recipe.training
        if self.decoupled_decay and training.rule == "adamw":
            raise ConfigError(f"{source}: training: adamw decouples by itself; leave it out")
        taught = recipe.teacher is not None or bool(recipe.lessons)
        binary = recipe.task.items == "trees" and recipe.model.trees == "binary"
        if self.labels != "all" and (taught or not binary):
            raise ConfigError(
                f"{source}: training.labels: expected a task of binary trees, and no teacher or "
                "lessons; leave these or labels out"
            )

    def said(self) -> dict[str, Any]:
        """The settings that are no defaults, as a table has them."""
        return self.model_dump(exclude_defaults=True)

    def datasets(self, datasets: Datasets) -> Datasets:
        """The data sets with the labels that the loss reads."""
        if self.labels == "all":
            return datasets
        train = [with_labels(example, self.labels) for example in datasets.train]
        return replace(datasets, train=train)

    @contextmanager
    def prepared(self) -> Iterator[Callable[[Model], None]]:
        """A function that prepares a fresh model, which is trained within the block."""
        decaying: set[int] = set()

        def prepare(model: Model) -> None:
            if self.init == "glorot":
                draw_by_glorot(model)
            decaying.update(
                id(weight)
                for name, weight in model.named_parameters()
                if weight is not model.embedding.table and not name.startswith("encoder.parser.")
            )

        def shrink(optimizer: Optimizer, *_: Any) -> None:
            for group in optimizer.param_groups:
                for weight in group["params"]:
                    if id(weight) in decaying and weight.grad is not None:
                        weight.data.mul_(1 - group["lr"] * self.weight_decay)

        if not self.decoupled_decay:
            yield prepare
            return
        hook = register_optimizer_step_pre_hook(shrink)
        try:
            yield prepare
        finally:
            hook.remove()


AS_RECIPES: Final = Learning()
"""The settings of a training that has what recipes have."""


def with_labels(example: Example, which: Labels) -> Example:
    """An example with some of its labels only; others become unknown."""

    def kept(one: LabelledForest) -> LabelledForest:
        known = np.zeros(len(one.targets), bool)
        if which == "roots+words":
            known |= one.forest.transitions == SHIFT
        known[one.whole] = True
        return one._replace(targets=np.where(known, one.targets, -1))

    return Example({source: kept(one) for source, one in example.trees.items()}, example.parsed)
