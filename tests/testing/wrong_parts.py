"""Task heads and parsers that keep their contracts, and wrong ones, one for each kind of fault."""

import torch
from torch import Tensor, nn
from torch.compiler import is_compiling
from torch.nn import functional
from wrong_cells import wrong

from thinstack.core.head import TaskHead
from thinstack.core.parser import Parser


class GoodHead(TaskHead):
    """The softmax of an affine map of nodes."""

    name = "good_head.v1"

    def __init__(self, *, hidden_size: int, classes: int):
        super().__init__(hidden_size=hidden_size, classes=classes)
        self.linear = nn.Linear(hidden_size, classes)

    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(rows)

    def scores(self, rows: Tensor) -> Tensor:
        return torch.softmax(self.forward(rows), 1)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        return functional.cross_entropy(logits, labels, ignore_index=-1, reduction="sum")


class ScriptedHead(GoodHead):
    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(rows) * (2 if torch.jit.is_scripting() else 1)


class GoodParser(Parser):
    """A gap's distance is linear in the word before it."""

    name = "good_parser.v1"

    def __init__(self, *, input_size: int):
        super().__init__(input_size=input_size)
        self.score = nn.Linear(input_size, 1)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return self.score(words).squeeze(1)


def shares(s, logits, labels):
    if labels.is_floating_point():
        labels = labels / labels.sum(1, keepdim=True).clamp(min=1e-9)
        return functional.cross_entropy(logits, labels, reduction="sum")
    return GoodHead.loss(s, logits, labels)


def loss(change=lambda t: t, labels=lambda y: y):
    """The loss of changed scores and labels."""
    return lambda s, t, y: GoodHead.loss(s, change(t), labels(y))


HEADS = {
    "inputs_are_kept": [wrong("labels", loss=loss(labels=lambda y: y.clamp_(max=1)))],
    "loss_is_a_sum": [wrong("mean", loss=lambda s, t, y: GoodHead.loss(s, t, y) / len(y))],
    "unlabelled_rows": [
        wrong("-1 is class 0", loss=loss(labels=lambda y: y.clamp(min=0))),
        wrong("mean of no labels", loss=lambda s, t, y: functional.cross_entropy(t, y)),
        wrong("no gradient", loss=loss(lambda t: t.detach())),
        wrong("all have one", loss=lambda s, t, y: GoodHead.loss(s, t, y) + (t - t.detach()).sum()),
    ],
    "soft_labels": [wrong("shares", loss=shares, soft_labels=True)],
    "scaled_logits": [wrong("says that it scales", scale_logits=lambda s, factor: True)],
    "torchscript": [("another way", {}, ScriptedHead)],
    "onnx": [
        wrong("another way", scores=lambda s, x: s.linear(x) + int(is_compiling())),
        wrong("branch", scores=lambda s, x: s.linear(x) + int((x > 9).any())),
    ],
}


def distances(change):
    return lambda s, words, lengths: change(GoodParser.forward(s, words, lengths), lengths)


PARSERS = {
    "built_as_asked": [wrong("gaps only", forward=distances(lambda d, n: d[:-1]))],
    "no_rows": [wrong("needs words", forward=distances(lambda d, n: d * n.max()))],
    "sentences_are_apart": [
        wrong("the word before", forward=distances(lambda d, n: d + d.roll(1))),
        wrong("far words", forward=distances(lambda d, n: torch.cat([d[:512], d[512:] * 0]))),
    ],
    "onnx": [wrong("another way", forward=distances(lambda d, n: d * (1 + int(is_compiling()))))],
}
