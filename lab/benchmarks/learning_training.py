"""Training one subject of the learning benchmark against the clock."""

import copy
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from learning_data import Datasets, Item, joined, material_of, with_relations
from learning_subjects import Subject
from torch import Tensor

from thinstack.core.model.model import Model
from thinstack.plugins.build import build_model
from thinstack.training.loop.learner import build_optimizers
from thinstack.training.recipe import TrainingConfig

BATCH = 25
EVALUATION_BATCH = 100


@dataclass(frozen=True)
class Result:
    """Mean development losses of predicting the frequencies alone, and of a trained subject."""

    baseline: float
    trained: float

    @property
    def passed(self) -> bool:
        return self.trained < self.baseline


def prepare_process(threads: int) -> None:
    """Settings of a process that trains: denormals flushed, for they slow long chains, and sparse
    gradients not checked."""
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    torch.sparse.check_sparse_tensor_invariants.disable()


def learn(subject: Subject, data: Path, trees: int, seconds: float, seed: int) -> Result:
    """Train a subject for so many seconds of the processor on so many trees or pairs. Raises what
    reading the data or building it does."""
    config = with_relations(subject.config, subject.relations, data)
    material = material_of(subject.task, config, data, trees)
    torch.manual_seed(seed)
    model = build_model(config, entries=len(material.table))
    with torch.no_grad():
        columns = min(
            material.table.shape[1], config.embedding.size
        )  # any further ones stay as they were drawn
        model.embedding.table[:, :columns] = torch.from_numpy(material.table[:, :columns])
    training = TrainingConfig(
        learning_rate=subject.learning_rate,
        vector_learning_rate=subject.task.vector_learning_rate,
        batch_size=BATCH,
    )
    model.load_state_dict(train(model, material, training, seconds, seed))
    return Result(baseline=material.baseline, trained=mean_loss(model, material.dev))


def train(
    model: Model, material: Datasets, config: TrainingConfig, seconds: float, seed: int
) -> dict[str, Any]:
    """Train until the time is over; the weights that did best on the held-out part."""
    optimizers = build_optimizers(model, config).values()
    draw = np.random.default_rng(seed)
    best, kept = math.inf, copy.deepcopy(model.state_dict())
    end = time.process_time() + seconds
    while time.process_time() < end:
        model.train()
        order = draw.permutation(len(material.train)).tolist()
        for batch in batches([material.train[number] for number in order], config.batch_size):
            inputs, targets = joined(batch, model.input_names)
            for optimizer in optimizers:
                optimizer.zero_grad(set_to_none=True)
            (objective(model, inputs, targets) / len(batch)).backward()
            for optimizer in optimizers:
                optimizer.step()
            if time.process_time() > end:
                break
        if (held := mean_loss(model, material.held)) < best:
            best, kept = held, copy.deepcopy(model.state_dict())
    return kept


def objective(model: Model, inputs: dict[str, Tensor], targets: Tensor) -> Tensor:
    """The loss of the task and, with one weight, that of the transitions of a model that parses."""
    if not model.parses:
        return model.head.loss(model.joint(inputs).logits, targets)
    joint = model.joint(inputs)
    found = model.encoder.judge(joint.choices, joint.free, inputs["transitions"])
    return model.head.loss(joint.logits, targets) + found.loss


@torch.inference_mode()
def mean_loss(model: Model, items: Sequence[Item]) -> float:
    """Loss a case, in evaluation mode."""
    model.eval()
    total = 0.0
    for batch in batches(items, EVALUATION_BATCH):
        inputs, targets = joined(batch, model.input_names)
        total += float(model.head.loss(model.joint(inputs).logits, targets))
    return total / sum(item.cases for item in items)


def batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
