"""A cell that keeps its contract, and wrong cells, one for each kind of fault."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.cell import Cell, Links, sum_by_owner


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
        pass

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


class OtherwiseScripted(Good):
    def squash(self, total: Tensor) -> Tensor:
        return total.sigmoid() if torch.jit.is_scripting() else total.tanh()


class Mixing(torch.autograd.Function):
    """Its gradient of a row depends on other rows, once gradients are large."""

    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        return values.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad / grad.norm().clamp(min=2)


def leaf_of(change):
    return {"leaf": lambda self, inputs: Good.leaf(self, change(inputs))}


def leaves(squash):
    return {"squash_leaf": lambda self, total: squash(total)}


def nodes(squash):
    return {"squash": lambda self, total: squash(total)}


def total(add_up):
    """Adds up the children (.., H) in another way, given their links and the number of nodes."""
    return {"total": lambda self, x, below, links: add_up(self, below[0], links, len(x)) + self.b}


def holds(squash=None, **attributes):
    """Has attributes, each made from the cell, and squashes leaves with them."""

    def add(self):
        for name, make in attributes.items():
            setattr(self, name, make(self))

    return {"add": add} | ({"squash_leaf": squash} if squash else {})


def last_child(self, below, links, n):
    return below.new_zeros(n, self.hidden_size).index_copy(0, links.owner, below @ self.u[0])


def half_index(self, below, links, n):
    owner = links.owner.half().long().clamp(max=max(n - 1, 0))
    return sum_by_owner(below @ self.u[0], owner, n)


def two_types(self, below, links, n):
    return below.new_zeros(n, self.hidden_size).index_add(0, links.owner, below @ self.u[0])


def by_count(self, below, links, n):
    count = sum_by_owner(torch.ones_like(below[:, :1]), links.owner, n)
    return sum_by_owner(below @ self.u[0], links.owner, n) / count


def counted(self, values):
    self.calls += 1
    return torch.tanh(values)


def numpy_bias(self):
    values = np.random.default_rng().normal(size=self.hidden_size)
    return nn.Parameter(torch.from_numpy(values).float())


tanh, SHARED = torch.tanh, nn.Parameter(torch.ones(1))
INNER, ANY, ONE = {"inner_size": 5}, {"options": {"arity": 0}}, {"options": {"arity": 1}}

CELLS: dict[str, dict[str, dict[str, Any]]] = {
    "built_as_asked": {
        "output too wide": {"output": lambda self, state: torch.cat([state[0]] * 2, 1)},
        "another size": holds(hidden_size=lambda self: self.hidden_size + 1),
        "no first values": holds(b=lambda self: nn.Parameter(self.b / 0)),
        "always float32": leaves(lambda t: tanh(t).float()),
        "squeezes a width of 1": leaves(lambda t: tanh(t).squeeze(1)),
    },
    "device_and_type": {
        "a tensor without device": leaves(lambda t: t + torch.zeros(t.shape, dtype=t.dtype)),
        "reads a number": leaves(lambda t: t * (1 + t.sum().item())),
        "result on the CPU": leaves(lambda t: torch.zeros(t.shape, dtype=t.dtype)),
        "no device in training": {
            "squash": lambda self, t: t * torch.rand(t.shape).to(t.dtype) if self.training else t
        },
    },
    "inputs_are_kept": {
        "overwrites inputs": leaf_of(lambda x: x.mul_(2)),
        "overwrites the state": {"output": lambda self, state: state[0].mul_(2)},
        "turns gradients on": leaf_of(lambda x: x.requires_grad_()),
    },
    "no_rows": {
        "view of -1": leaves(lambda t: tanh(t).view(len(t), -1)),
        "no children": total(by_count) | ANY,
        "spread of one row in training": {
            "squash": lambda self, t: t / t.std(0) if self.training and len(t) else tanh(t)
        },
    },
    "finite": {
        "norm of zeros": leaf_of(lambda x: x / x.norm(dim=1, keepdim=True)),
        "gradient of a root": leaf_of(lambda x: x.abs().sqrt()),
        "exp": leaves(lambda t: 1 / (1 + torch.exp(-t))),
        "exp with large weights": nodes(lambda t: tanh(t) / (1 + torch.exp(-t))),
        "tiny numbers": leaf_of(lambda x: x / (x.abs().sum(1, keepdim=True) + 1e-60)),
    },
    "nothing_is_kept": {
        "a cache": holds(
            lambda self, t: self.kept.setdefault(tuple(t.shape), tanh(t).detach()),
            kept=lambda self: {},
        ),
        "dropout in evaluation": leaves(lambda t: functional.dropout(tanh(t), 0.01)),
        "a buffer that counts": {
            "add": lambda self: self.register_buffer("calls", torch.zeros(1)),
            "squash": counted,
        },
    },
    "weights_are_all": {
        "a number": holds(lambda self, t: t * self.mix, mix=lambda self: torch.rand(1).item()),
        "a shared weight": holds(lambda self, t: t * self.scale, scale=lambda self: SHARED),
        "numpy's random numbers": holds(b=numpy_bias),
    },
    "gradients": {"detached": {"squash": lambda self, t: tanh(t + (2 * self.b).detach())}},
    "parameters_are_used": {
        "unused": holds(gate=lambda self: nn.Parameter(torch.zeros(2))),
        "detached in training": {"squash": lambda s, t: tanh(t.detach() if s.training else t)},
    },
    "rows_are_independent": {
        "mean of rows": nodes(lambda t: tanh(t - t.mean(0))),
        "another way for many rows": nodes(lambda t: tanh(2 * t if len(t) > 2000 else t)),
        "where a row stands": leaves(lambda t: tanh(torch.cat([t[:1] * 2, t[1:]]))),
        "the last child": total(last_child) | ANY,
        "indices in float16": total(half_index) | ANY,
    },
    "inputs_are_read": {
        "inner inputs": total(lambda s, h, links, n: h.flatten(1) @ s.u.flatten(0, 1)) | INNER,
        "one column": leaf_of(lambda x: torch.cat([x[:, :-1], 0 * x[:, -1:]], 1)),
        "the second child": total(lambda s, h, links, n: h[:, 0] @ s.u[0] + 0 * s.u[1].sum()),
    },
    "bfloat16": {"adds up two types": total(two_types) | ANY},
    "mixed_forests": {
        "mean of nodes": nodes(lambda t: tanh(t - t.mean(0))),
        "gradients of other rows": leaves(lambda t: tanh(Mixing.apply(t))),
        "rough without gradients": leaves(
            lambda t: tanh(t if torch.is_grad_enabled() else t.float().to(t.dtype))
        ),
    },
    "neighbours": {"mean of leaves": leaves(lambda t: tanh(t - t.mean(0)))},
    "top_down": {"mean of nodes": nodes(lambda t: tanh(t - t.mean(0))) | ONE | INNER},
    "torchscript": {
        "a lambda": holds(lambda self, t: self.curve(t), curve=lambda self: lambda t: tanh(t)),
        "rows of an affine map": CountsResults,
        "another way in TorchScript": OtherwiseScripted,
    },
    "onnx": {
        "an operator that files may not have": nodes(lambda t: tanh(functional.softplus(t))),
        "branches on values": nodes(lambda t: tanh(t.clamp(max=9) if bool((t > 9).any()) else t)),
        "another way in the export": nodes(
            lambda t: t.sigmoid() if torch.compiler.is_compiling() else tanh(t)
        ),
    },
}
"""By the check that refuses them: what is wrong, with methods and what the cell is asked for."""
