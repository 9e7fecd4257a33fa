"""Plugins that keep their contracts, and faults of each kind by the check that refuses them."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn, tanh
from torch.compiler import is_compiling
from torch.nn import functional

from thinstack.core.cell import Cell, Links, sum_by_owner
from thinstack.core.head import TaskHead
from thinstack.core.parser import Parser


class Good(Cell):
    """h = tanh(x W + sum_k h_k U_k + b); a leaf has no children."""

    name = "good.v1"

    def __init__(self, *, input_size: int, hidden_size: int, inner_size: int = 0, arity: int = 2):
        sizes = {"input_size": input_size, "inner_size": inner_size, "hidden_size": hidden_size}
        super().__init__(**sizes, state_sizes=[hidden_size], arity=arity)
        self.w = nn.Parameter(torch.rand(input_size, hidden_size))
        self.u = nn.Parameter(torch.rand(max(arity, 1), hidden_size, hidden_size))
        self.b = nn.Parameter(torch.zeros(hidden_size))
        self.add()

    def add(self) -> None:
        """The end of the constructor."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [self.squash_leaf(inputs @ self.w + self.b)]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        return [self.squash(self.total(inputs, children, links))]

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        total = inputs @ self.w if self.inner_size > 0 else self.b
        if self.arity == 0:
            return total + sum_by_owner(children[0] @ self.u[0], links.owner, inputs.shape[0])
        return total + children[0].flatten(1) @ self.u.flatten(0, 1)

    def squash(self, total: Tensor) -> Tensor:
        return torch.tanh(total)

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total)


class CountsResults(Good):
    """Takes the number of rows from an affine map, which frozen TorchScript gets wrong."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        total = torch.addmm(self.b, inputs, self.w)
        return [torch.tanh(total) * total.new_ones([total.shape[0], 1])]


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


def wrong(what: str, asked: Any = (), **methods: Any) -> tuple[str, dict[str, Any], Any]:
    """A fault, what the plugin is asked for, and the methods that make a good plugin wrong."""
    return what, dict(asked), methods


def summed(s, below, owner, n):
    return below.new_zeros(n, s.hidden_size).index_add(0, owner, below @ s.u[0]) + s.b


def by_owner(add_up):
    """Adds up the children (E, H) of n nodes in another way."""
    return lambda s, x, below, links: add_up(s, below[0], links.owner, len(x))


def mean(s, below, owner, n):
    return (summed(s, below, owner, n) - s.b) / summed(s, 1 + 0 * below, owner, n).sub(s.b)


def last(s, below, owner, n):
    return below.new_zeros(n, s.hidden_size).index_copy(0, owner, below @ s.u[0])


def half(s, below, owner, n):
    return summed(s, below, owner.half().long().clamp(max=max(n - 1, 0)), n)


def larger(sizes):
    return {"input_size": sizes["input_size"], "hidden_size": sizes["hidden_size"] + 1}


def clipped(s, t):
    if t.requires_grad:
        t.register_hook(lambda grad: grad / grad.norm().clamp(min=2))
    return tanh(t)


def counted(s, t):
    s.calls += 1
    return tanh(t)


def cached(s, t):
    return vars(s).setdefault("cache", {}).setdefault(tuple(t.shape), tanh(t).detach())


def numpy_bias(s):
    s.b = nn.Parameter(torch.from_numpy(np.random.default_rng().normal(size=s.hidden_size)).float())


def has(**attributes):
    """The end of a constructor that sets attributes, each made from the cell."""
    return lambda s: [setattr(s, name, make(s)) for name, make in attributes.items()]


SHARED = nn.Parameter(torch.ones(1))
INNER, ANY = {"inner_size": 5}, {"options": {"arity": 0}}
DOWN = {"options": {"arity": 1}, "inner_size": 5}

CELLS = {
    "built_as_asked": [
        wrong("too wide", output=lambda s, state: torch.cat(state * 2, 1)),
        wrong("another size", __init__=lambda s, **sizes: Good.__init__(s, **larger(sizes))),
        wrong("no values", add=has(b=lambda s: nn.Parameter(s.b / 0))),
        wrong("float32", output=lambda s, state: state[0].float()),
        wrong("squeezes a width of 1", squash_leaf=lambda s, t: tanh(t).squeeze(1)),
    ],
    "device_and_type": [
        wrong("no device", squash=lambda s, t: t + torch.zeros(t.shape).to(t.dtype)),
        wrong("reads a number", squash=lambda s, t: t * (1 + t.sum().item())),
        wrong("result on the CPU", squash=lambda s, t: torch.zeros(t.shape).double()),
    ],
    "inputs_are_kept": [
        wrong("inputs", leaf=lambda s, x: Good.leaf(s, x.mul_(2))),
        wrong("requires_grad", leaf=lambda s, x: Good.leaf(s, x.requires_grad_())),
    ],
    "no_rows": [
        wrong("view of -1", squash_leaf=lambda s, t: tanh(t).view(len(t), -1)),
        wrong("mean of no children", ANY, total=by_owner(mean)),
        wrong("spread of one row", squash=lambda s, t: t / t.std(0) if s.training else t),
    ],
    "finite": [
        wrong("norm of 0", leaf=lambda s, x: Good.leaf(s, x / x.norm(dim=1, keepdim=True))),
        wrong("gradient of a root", leaf=lambda s, x: Good.leaf(s, x.abs().sqrt())),
        wrong("exp", squash_leaf=lambda s, t: 1 / (1 + torch.exp(-t))),
        wrong("large weights", squash=lambda s, t: tanh(t) / (1 + torch.exp(-t))),
    ],
    "nothing_is_kept": [
        wrong("a cache", squash_leaf=cached),
        wrong("dropout in evaluation", squash=lambda s, t: functional.dropout(tanh(t), 1e-9)),
        wrong("buffer", add=lambda s: s.register_buffer("calls", SHARED.data), squash=counted),
    ],
    "weights_are_all": [
        wrong("number", add=has(mix=lambda s: torch.rand(1).item()), squash=lambda s, t: t * s.mix),
        wrong("shared", add=has(scale=lambda s: SHARED), squash_leaf=lambda s, t: t * s.scale),
        wrong("random numbers of NumPy", add=numpy_bias),
    ],
    "gradients": [wrong("detached", squash=lambda s, t: tanh(t + (2 * s.b).detach()))],
    "parameters_are_used": [
        wrong("unused", add=has(gate=lambda s: nn.Parameter(torch.zeros(2)))),
        wrong("detached in training", squash=lambda s, t: t.detach() if s.training else t),
    ],
    "rows_are_independent": [
        wrong("mean", squash=lambda s, t: tanh(t - t.mean(0))),
        wrong("many rows", squash=lambda s, t: 2 * t if len(t) > 2000 else t),
        wrong("first row", squash=lambda s, t: torch.cat([t[:1] * 2, t[1:]])),
        wrong("the last child", ANY, total=by_owner(last)),
        wrong("indices in float16", ANY, total=by_owner(half)),
    ],
    "inputs_are_read": [
        wrong("inner inputs", INNER, total=lambda s, x, h, links: h[0].sum(1) @ s.u[0]),
        wrong("a column", leaf=lambda s, x: Good.leaf(s, x[:, [0, 1, 2, 3, 0]])),
        wrong("a slot", total=lambda s, x, h, links: h[0][:, 0] @ s.u[0]),
    ],
    "bfloat16": [
        wrong("two types", ANY, total=by_owner(summed)),
        wrong("digits", squash=lambda s, t: tanh(t @ (1e4 * torch.eye(4)) - 1e4 * t)),
    ],
    "mixed_forests": [
        wrong("outputs", squash=lambda s, t: tanh(t - t.mean(0))),
        wrong("gradients", squash_leaf=clipped),
        wrong("no graph", squash=lambda s, t: t if torch.is_grad_enabled() else 2 * t),
    ],
    "neighbours": [wrong("mean of leaves", squash_leaf=lambda s, t: tanh(t - t.mean(0)))],
    "top_down": [wrong("mean", DOWN, squash=lambda s, t: tanh(t - t.mean(0)))],
    "torchscript": [
        wrong("a lambda", squash=lambda s, t: tanh(t)),
        ("rows of an affine map", {}, CountsResults),
    ],
    "onnx": [
        wrong("operator", INNER, squash=lambda s, t: tanh(functional.softplus(t))),
        wrong("branch", INNER, squash=lambda s, t: t + 1 if bool((t > 9).any()) else t),
        wrong("another way", INNER, squash=lambda s, t: t + int(is_compiling())),
    ],
}


def shares(s, logits, labels):
    if labels.is_floating_point():
        labels = labels / labels.sum(1, keepdim=True).clamp(min=1e-9)
        return functional.cross_entropy(logits, labels, reduction="sum")
    return GoodHead.loss(s, logits, labels)


HEADS = {
    "inputs_are_kept": [wrong("labels", loss=lambda s, t, y: GoodHead.loss(s, t, y.clamp_(max=1)))],
    "loss_is_a_sum": [wrong("mean", loss=lambda s, t, y: GoodHead.loss(s, t, y) / len(y))],
    "unlabelled_rows": [
        wrong("counts them", loss=lambda s, t, y: GoodHead.loss(s, t, y) * len(y)),
        wrong("of no labels", loss=lambda s, t, y: GoodHead.loss(s, t, y) + (y < 0).all()),
        wrong("no gradient", loss=lambda s, t, y: GoodHead.loss(s, t.detach(), y)),
        wrong("all have one", loss=lambda s, t, y: GoodHead.loss(s, t, y) + (t - t.detach()).sum()),
    ],
    "finite": [wrong("exp", scores=lambda s, x: s(x).exp() / s(x).exp().sum(1, True))],
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
