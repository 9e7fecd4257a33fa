"""Task heads and parsers that keep their contracts, and wrong ones, one for each kind of fault."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.head import TaskHead
from thinstack.core.parser import Parser


class GoodHead(TaskHead):
    """The softmax of an affine map of nodes, or of pairs."""

    name = "good_head.v1"
    reading: Any = "nodes"

    def __init__(self, *, hidden_size: int, classes: int):
        super().__init__(hidden_size=hidden_size, classes=classes, reads=self.reading)
        self.linear = nn.Linear(hidden_size * (2 if self.reading == "pairs" else 1), classes)
        self.add()

    def add(self) -> None:
        pass

    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(rows)

    def scores(self, rows: Tensor) -> Tensor:
        return torch.softmax(self.forward(rows), 1)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        return functional.cross_entropy(logits, labels, ignore_index=-1, reduction="sum")


class Ratings(GoodHead):
    """Reads pairs, and takes labels that are floats only."""

    reading = "pairs"

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        if not labels.is_floating_point():
            raise TypeError("ratings are floats")
        rated = labels >= 0
        return functional.mse_loss(logits[rated].mean(1), labels[rated], reduction="sum")


class ScriptedHead(GoodHead):
    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(rows).cumsum(1) if torch.jit.is_scripting() else self.linear(rows)


class GoodParser(Parser):
    """A gap's distance is linear in the word before it."""

    name = "good_parser.v1"

    def __init__(self, *, input_size: int):
        super().__init__(input_size=input_size)
        self.score = nn.Linear(input_size, 1)
        self.add()

    def add(self) -> None:
        pass

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return self.score(words).squeeze(1)


class ScriptedParser(GoodParser):
    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        distances = self.score(words).squeeze(1)
        return distances * 2 if torch.jit.is_scripting() else distances


def loss(of):
    """Another loss, given the head, scores and labels."""
    return {"loss": of}


def forward(of):
    return {"forward": lambda self, rows: of(self.linear(rows), self, rows)}


def shares(self, logits, labels):
    if labels.is_floating_point():
        labels = labels / labels.sum(1, keepdim=True).clamp(min=1e-9)
        return functional.cross_entropy(logits, labels, reduction="sum")
    return GoodHead.loss(self, logits, labels)


def targets(self, logits, labels):
    eye = torch.cat([torch.eye(self.classes), torch.zeros(1, self.classes)]).to(logits.dtype)
    return -(functional.log_softmax(logits, 1) * eye[labels]).sum()


def normed(self):
    self.linear = nn.Sequential(nn.BatchNorm1d(self.hidden_size), self.linear)


HEADS: dict[str, dict[str, Any]] = {
    "built_as_asked": {
        "reads what no model gives": {"reading": "words"},
        "another size": {"add": lambda self: setattr(self, "classes", 9)},
    },
    "device_and_type": {"targets on the CPU": loss(targets)},
    "inputs_are_kept": {
        "overwrites labels": loss(lambda self, t, y: GoodHead.loss(self, t, y.clamp_(max=1)))
    },
    "no_rows": {"statistics of one row": {"add": normed}},
    "finite": {"exp": {"scores": lambda self, x: self(x).exp() / self(x).exp().sum(1, True)}},
    "gradients": {"detached": forward(lambda t, self, x: t + self.linear(x.detach()))},
    "rows_are_independent": {
        "counts rows": forward(lambda t, self, x: t.cumsum(1) if len(x) > 4 else t)
    },
    "loss_is_a_sum": {"mean": loss(lambda self, t, y: GoodHead.loss(self, t, y) / len(y))},
    "unlabelled_rows": {
        "takes -1 for 0": loss(lambda self, t, y: GoodHead.loss(self, t, y.clamp(min=0))),
        "teaches nothing": loss(lambda self, t, y: GoodHead.loss(self, t.detach(), y)),
        "mean of no labels": loss(lambda self, t, y: functional.cross_entropy(t, y)),
    },
    "soft_labels": {"shares of one label": {"loss": shares, "soft_labels": True}},
    "scaled_logits": {"says that it scales": {"scale_logits": lambda self, factor: True}},
    "torchscript": {"another way in TorchScript": ScriptedHead},
    "onnx": {
        "another way in the export": forward(
            lambda t, self, x: t.cumsum(1) if torch.compiler.is_compiling() else t
        ),
        "branches on values": forward(lambda t, self, x: t if bool((x > 0).any()) else t + 0),
    },
}


def distances(change):
    """Changes the distances (L,), given the parser, words and lengths."""

    def forward(self, words, lengths):
        return change(GoodParser.forward(self, words, lengths), self, words, lengths)

    return {"forward": forward}


PARSERS: dict[str, dict[str, Any]] = {
    "built_as_asked": {"gaps only": distances(lambda d, *_: d[:-1])},
    "device_and_type": {
        "numbers words on the CPU": distances(
            lambda d, self, words, lengths: d + torch.zeros(len(words), dtype=d.dtype)
        )
    },
    "inputs_are_kept": {"overwrites": distances(lambda d, s, words, n: d + words.mul_(2)[:, 0])},
    "no_rows": {"needs words": distances(lambda d, s, words, n: d * n.max() / n.max())},
    "finite": {"root": distances(lambda d, s, words, n: d + words.abs().sqrt().sum(1))},
    "sentences_are_apart": {
        "reads the word before": distances(lambda d, *_: d + torch.cat([d[:1] * 0, d[:-1]])),
        "forgets far words": distances(lambda d, *_: torch.cat([d[:512], d[512:] * 0])),
    },
    "parameters_are_used": {
        "unused": {"add": lambda self: setattr(self, "rest", nn.Parameter(torch.ones(2)))}
    },
    "torchscript": {"another way in TorchScript": ScriptedParser},
    "onnx": {
        "another way in the export": distances(
            lambda d, *_: d * 2 if torch.compiler.is_compiling() else d
        )
    },
}
