"""`TextLearner`, a text classifier with incremental training, for third-party training loops."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load, save

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.manifest import VOCABULARY_FILE, WEIGHTS_FILE
from thinstack.bundle.weights import load_model, weights_of
from thinstack.core.config import Device, ModelConfig, Strict
from thinstack.core.forest import without_trees
from thinstack.core.model.model import Model
from thinstack.core.scale import summed
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import BundleError, ConfigError, DeviceError
from thinstack.plugins.build import build_model
from thinstack.plugins.manager import manager
from thinstack.runtime.scored import mean_scores
from thinstack.training.examples.example import Example, forests_of, minibatch
from thinstack.training.loop.initial import first_leaves, initial_model
from thinstack.training.loop.learner import (
    Learner,
    load_optimizers,
    optimizer_tensors,
    process_settings,
)
from thinstack.training.loop.measuring import take_own_trees
from thinstack.training.recipe import DataConfig, TrainingConfig
from thinstack.training.task import AnyTask, Step, Task
from thinstack.training.tasks._table import TableTask
from thinstack.training.text_recipe import text_recipe

TRAINING_FILE = "training.json"
OPTIMIZER_FILE = "optimizer.safetensors"
RESUME_FILES = (TRAINING_FILE, OPTIMIZER_FILE)
"""Files in the bundle of a learner: a recipe's `[training]` and `[task]` as JSON, and the state of
its optimizers. Without that state, the first steps of AdaGrad would be as large as initially."""

Words = Sequence[Sequence[str]]
"""The words of each sentence of a text, with at least one sentence and at least one word per
sentence."""


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit torch to one thread, and restore its number of threads for other models.

    Batches are so small that threads wait for each other: on two busy cores, two threads took six
    times as long.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class TextLearner:
    """A trainable text classifier.

    It has the defaults of `thinstack train TABLE`, but no epochs: `learn` accumulates the gradients
    of a batch, `step` updates the weights.

    Scores and files use a running average of the weights over the share `average` of all steps so
    far: after step t, the weight of the new weights is 1 / (average * t), at most 1. Therefore the
    number of steps need not be known, and batches may have any size. An `average` of 0 gives the
    last weights, 1 the mean of all.

    Attributes:
        config: the model's configuration, with its classes.
        training, task: the settings of training.

    Raises ConfigError for an `average` outside 0 to 1, and DeviceError for "cuda" without a GPU.
    """

    def __init__(
        self,
        model: Model,
        vocabulary: Vocabulary,
        config: ModelConfig,
        training: TrainingConfig,
        task: Task,
        *,
        average: float,
        device: Device,
    ):
        if not 0 <= average <= 1:
            raise ConfigError(
                f"average: expected a share from 0 to 1, found {average}; omit it for 0.15"
            )
        self.config, self.training, self.task = config, training, task
        self._vocabulary = vocabulary
        self._share, self._steps = average, 0
        model = model.to(_device(device))
        self._learner = Learner(model, training, frozen=["parser"], keeps_start=task.keeps_start)

    @classmethod
    def start(
        cls,
        labels: Sequence[str],
        init: str,
        *,
        rates: Mapping[str, float],
        average: float,
        device: Device = "cpu",
    ) -> Self:
        """Create a learner of these classes, before its first step.

        `init`: the name or folder of the initial bundle, or "none". `rates`: values for fields of
        `TrainingConfig`. Raises ConfigError for invalid values.
        """
        files = DataConfig(train="texts", dev="texts")
        texts: TableTask = manager().find("task", "texts.v1").plugin()
        start = None if init == "none" else open_bundle(init)
        recipe = text_recipe("texts", files, texts, labels, texts=1, init=init, start=start)
        size = build_model(recipe.model, entries=1).embedding.table.shape[1]
        vocabulary, table, _ = first_leaves(recipe, Path(), (), size, start)
        return cls(
            initial_model(recipe, table, start=start),
            vocabulary,
            recipe.model,
            _with(_without_warm_up(recipe.training), rates),
            recipe.task,
            average=average,
            device=device,
        )

    @classmethod
    def resume(
        cls, bundle: Bundle, *, rates: Mapping[str, float], average: float, device: Device = "cpu"
    ) -> Self:
        """Restore the learner whose `files` are in a bundle, to continue training from step 0.

        If the settings have a `phrase_penalty`, phrases are now regularized toward the meaning that
        they have in this model. Raises BundleError for any other bundle.
        """
        source = str(bundle.path / TRAINING_FILE)
        try:
            sections = _Sections.parse(json.loads(bundle.read(TRAINING_FILE)), source=source)
        except ConfigError as error:
            raise BundleError(str(error)) from None
        except (ValueError, RecursionError) as error:
            raise BundleError(f"{source}: not readable as JSON: {error!s:.200}") from None
        learner = cls(
            load_model(bundle),
            bundle.vocabulary(),
            bundle.config,
            _with(sections.training, rates),
            sections.task,
            average=average,
            device=device,
        )
        content, source = bundle.read(OPTIMIZER_FILE), str(bundle.path / OPTIMIZER_FILE)
        try:
            load_optimizers(learner._learner.optimizers, load(content))
        except (SafetensorError, RuntimeError, LookupError, ValueError) as error:
            raise BundleError(
                f"{source}: not the state of this model's optimizers: {error}; train it again"
            ) from None
        return learner

    @_one_thread()
    @process_settings()
    def learn(self, texts: Sequence[Words], labels: Sequence[str]) -> float:
        """Accumulate the gradients of the mean loss of these texts, at least one, and return that
        loss. `labels`: the class of each text. Raises ConfigError for a loss that is not finite."""
        examples, model = self._examples(texts, labels), self._learner.model
        if model.parses:
            take_own_trees(model, examples)
        batch = minibatch(examples, ["self" if model.parses else "gold"] * len(examples))
        model.train()
        step = Step(model, batch, self.training, self._learner.initial)
        (total, _), _ = self.task.loss(step)
        loss: torch.Tensor = total / batch.size
        self._learner.learn(loss)
        if not math.isfinite(value := float(loss.detach())):
            raise ConfigError(
                f"the training diverged (loss {value}); lower learning_rate or vector_learning_rate"
            )
        return value

    @_one_thread()
    @process_settings()
    def step(self) -> None:
        """Update the weights with the gradients since the last step, and their running average."""
        self._learner.step()
        self._steps += 1
        self._learner.update_average(1 / max(1.0, self._share * self._steps))

    @_one_thread()
    @torch.inference_mode()
    def scores(self, texts: Sequence[Words]) -> NDArray[np.float32]:
        """Return the probabilities (T, C) of the C shown classes for T texts. A model that parses
        uses its own tree for each sentence."""
        model, labels = self._learner.average, self.config.shown_labels
        scores = [np.zeros((0, len(labels)), np.float32)]
        sets = None if model.class_sets is None else model.class_sets.numpy()
        examples = self._examples(texts, [labels[0]] * len(texts))
        for part, forest in forests_of(examples, "gold", 64):
            read = without_trees(forest) if model.parses else forest
            roots = model(model.inputs(read))["root_scores"].cpu().numpy()
            trees = np.array([len(example.gold.forest.lengths) for example in part])
            scores.append(summed(mean_scores(roots, forest.lengths, trees), sets))
        return np.concatenate(scores)

    def files(self) -> dict[str, bytes]:
        """Return the files that `resume` needs, by name. The bundle also needs `config`."""
        optimizers = optimizer_tensors(self._learner.optimizers).items()
        sections = _Sections(training=self.training, task=self.task)
        return {
            VOCABULARY_FILE: self._vocabulary.to_bytes(),
            WEIGHTS_FILE: weights_of(self._learner.average),
            TRAINING_FILE: f"{sections.model_dump_json(indent=2)}\n".encode(),
            OPTIMIZER_FILE: save({key: value.cpu().contiguous() for key, value in optimizers}),
        }

    def _examples(self, texts: Sequence[Words], labels: Sequence[str]) -> list[Example]:
        targets = [self.config.shown_labels.index(label) for label in labels]
        return self.task.made_examples(texts, targets, self._vocabulary, self.config)


class _Sections(Strict, extra="ignore"):
    training: TrainingConfig
    task: AnyTask


def _without_warm_up(training: TrainingConfig) -> TrainingConfig:
    """Return the settings for an unknown number of steps, where rates cannot warm up. The first
    steps of AdaGrad are as large as its rate, which is halved."""
    if training.rule != "adagrad" or training.warm_up == 0:
        return training
    return training.model_copy(update={"learning_rate": training.learning_rate / 2})


def _with(training: TrainingConfig, rates: Mapping[str, float]) -> TrainingConfig:
    return TrainingConfig.parse({**training.model_dump(), **rates}, source="the settings")


def _device(wanted: Device) -> str:
    if wanted == "cuda" and not torch.cuda.is_available():
        raise DeviceError("device 'cuda' does not work here: torch finds no GPU; use 'cpu' instead")
    return "cuda" if wanted != "cpu" and torch.cuda.is_available() else "cpu"
