"""Topics of texts, as a thinstack task and a task head: a text has any number of them."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from thinstack.errors import DataError
from thinstack.plugins import Model, ModelConfig, Task, TaskHead


class TopicsHead(TaskHead):
    """At the root, p_c = sigmoid(w_c . h + b_c) for each class c independently."""

    name = "topics.v1"
    summary = "an independent probability for each class, at the root"

    def __init__(self, *, hidden_size: int, classes: int):
        super().__init__(hidden_size=hidden_size, classes=classes, reads="roots")
        self.linear = nn.Linear(hidden_size, classes)

    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(rows)

    def scores(self, rows: Tensor) -> Tensor:
        return torch.sigmoid(self.linear(rows))

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        return nn.functional.binary_cross_entropy_with_logits(logits, labels, reduction="sum")


class Topics(Task):
    """Topics of texts, from lines such as {"text": "Good songs", "topics": ["music"]}."""

    name = "topics.v1"
    summary = "any number of topics of each text, from JSON lines"
    heads = ("roots",)
    items = "texts"
    figures: ClassVar = {"micro_f1": "micro F1", "exact_accuracy": "all topics right"}
    watched = ("micro_f1",)
    uncalibrated = "its scores are not a distribution"

    field: str = Field(default="topics", description="The field of the topics.")

    def read(self, path: Path, model: ModelConfig, skipped: list[DataError]) -> list[Any]:
        with open(path, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        for number, row in enumerate(rows, start=1):
            if unknown := sorted(set(row[self.field]) - set(model.labels)):
                known = ", ".join(model.labels)
                raise DataError(f"{path}:{number}: expected topics of {known}, found {unknown}")
        return rows

    def sentences(self, item: Any) -> Iterable[Sequence[str]]:
        return [item["text"].split()]

    def examples(self, items, vocabulary, recipe, reads):
        labels = recipe.model.labels
        texts = [self.sentences(item) for item in items]
        targets = [
            np.array([label in item[self.field] for label in labels], np.float32) for item in items
        ]
        return self.made_examples(texts, targets, vocabulary, recipe.model)

    def measure(self, model: Model, examples, source, labels):
        predicted = np.concatenate(self.scores(model, examples, source)) > 0.5
        gold = np.concatenate([example.trees[source].targets for example in examples]) > 0.5
        both = 2 * (predicted & gold).sum()
        figures = {
            "micro_f1": 100 * float(both / max(1, predicted.sum() + gold.sum())),
            "exact_accuracy": 100 * float((predicted == gold).all(1).mean()),
        }
        return figures, None
