"""What a model of the learning benchmark is trained and tested on: items of a task, batches, and
the leaf table."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from learning_tasks import Item, Task, sick
from numpy.typing import NDArray
from torch import Tensor

from thinstack.core.config import ModelConfig
from thinstack.core.forest import join
from thinstack.data.words.vectors import read_vectors
from thinstack.data.words.vocabulary import WordVocabulary, mean_unknown
from thinstack.errors import DataError

DEV = 500
"""Trees or pairs of a development file, at most."""
HELD_PART = 10
"""One in so many training trees or pairs is held out for early stopping."""


@dataclass(frozen=True)
class Datasets:
    """Items to train on, to stop early by, and to report on, the baseline over the last, and the
    leaf table (V, X)."""

    train: list[Item]
    held: list[Item]
    dev: list[Item]
    baseline: float
    table: NDArray[np.float32]


def material_of(task: Task, config: ModelConfig, data: Path, trees: int) -> Datasets:
    """The material for a model of this configuration. Raises DataError, also for an infinite
    baseline, or TreeError."""
    vocabulary, table = leaf_table(data / task.vectors)
    train, dev = (
        [
            task.item(example, config, vocabulary)
            for example in spread(task.read(data, split), count)
        ]
        for split, count in (("train", trees), ("dev", DEV))
    )
    kept = [item for number, item in enumerate(train) if number % HELD_PART]
    baseline = task.baseline([item.targets for item in kept], [item.targets for item in dev])
    if not np.isfinite(baseline):
        raise DataError(
            f"{task.name}: a target of the development data does not occur in the training data; "
            "take more trees"
        )
    return Datasets(kept, train[::HELD_PART], dev, baseline, table)


def with_relations(config: ModelConfig, count: int, data: Path) -> ModelConfig:
    """The same model, with a kind of its own for each of SICK's `count` most frequent relations."""
    pairs = sick(data, "train") if count else []
    found = Counter(
        label
        for pair in pairs
        for tree in pair.dependency
        for label in tree.labels
        if label is not None
    )
    return config.model_copy(
        update={"relations": tuple(name for name, _ in found.most_common(count))}
    )


def joined(items: Sequence[Item], names: Iterable[str]) -> tuple[dict[str, Tensor], Tensor]:
    """A batch: the inputs of these names, and targets, in which the sentences of candidates are
    counted on."""
    forest = join(item.forest for item in items)
    inputs = {name: torch.from_numpy(values) for name, values in forest.inputs(names).items()}
    targets = np.concatenate([item.targets for item in items])
    if targets.ndim == 2:
        targets[:, 0] = np.repeat(np.arange(len(items)), [len(item.targets) for item in items])
    return inputs, torch.from_numpy(targets)


def spread(examples: Sequence[Any], count: int) -> Sequence[Any]:
    """At most `count` examples from all over a file, whose neighbours may be alike."""
    return examples[:: max(1, len(examples) // count)][:count]


@cache
def leaf_table(path: Path) -> tuple[WordVocabulary, NDArray[np.float32]]:
    found = read_vectors(path)
    return WordVocabulary(found.words), mean_unknown(found.vectors)
