"""Cells whose results for a row depend on others, as `wrong_numbers`."""

from typing import Any

import torch
from torch import Tensor, nn
from wrong_numbers import Wrong, at_leaves, at_nodes, by_children, of_inputs

from thinstack.core.cell import sum_by_owner


def inner_statistics(self, inputs, children, links):
    inputs = inputs - inputs.mean(0, keepdim=True) if self.inner_size > 0 else inputs
    return [self.squash(self.total(inputs, children, links))]


def batch_norm(self):
    """That never learns a mean, and takes that of the batch in evaluation."""
    self.norm = nn.BatchNorm1d(self.hidden_size, track_running_stats=False)


def first_hundred(self, children, links, n):
    owner, order = links.owner.sort(stable=True)
    place = torch.arange(owner.shape[0], device=owner.device)
    kept = (place - torch.searchsorted(owner, owner) < 100).to(children.dtype).unsqueeze(1)
    return sum_by_owner(children[order] @ self.u[0] * kept, owner, n) + self.b


def places(total):
    place = torch.arange(total.shape[0], device=total.device).to(total.dtype)
    return torch.tanh(total + 1e-4 * place.sin().unsqueeze(1))


def global_maximum(self, children, links, n):
    score = children.sum(1, keepdim=True)
    share = (score - score.max() if score.shape[0] > 0 else score).exp()
    norm = sum_by_owner(share, links.owner, n).clamp(min=1e-300)
    return self.b + sum_by_owner(share * (children @ self.u[0]), links.owner, n) / norm


def byte_index(self, children, links, n):
    return sum_by_owner(children @ self.u[0], links.owner.to(torch.int8).long(), n) + self.b


def last_child(self, children, links, n):
    below = children.new_zeros([n, self.hidden_size])
    return below.index_copy(0, links.owner, children @ self.u[0]) + self.b


def one_each(self, children, links, n):
    if links.owner.shape[0] == n:
        return children @ self.u[0] * 2 + self.b
    return sum_by_owner(children @ self.u[0], links.owner, n) + self.b


def next_nodes(self, children, links, n):
    return children.roll(1, 0).flatten(1) @ self.u.flatten(0, 1) + self.b


def first_child(self, children, links, n):
    return children[:, 0] @ self.u[0] + 0 * self.u[1].sum() + self.b


def quantised(total):
    """To 8 bits of the greatest number of the batch."""
    scale = (total.abs().amax() / 127).clamp(min=1e-6) if len(total) else total.new_ones([])
    return torch.tanh((total / scale).round() * scale)


class _Clipped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        return values.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad / (grad.norm() / 10).clamp(min=1)


def three_kinds(self, inputs, children, links):
    return [torch.tanh(self.total(inputs, children, links) + self.types[links.kind].sum(1))]


def from_rows(rows, otherwise):
    """Another way from so many rows on."""
    return lambda t: torch.tanh(otherwise(t) if t.shape[0] >= rows else t)


ALONE, ROWS, ORDER = "rows_are_independent", "depends on the number of rows", "order of the child"
BATCHES: dict[str, Wrong] = {
    "InnerStatistics": (ALONE, ["inner_size = 5", "`inputs`"], {"compose": inner_statistics}),
    "BatchStatistics": (
        ALONE,
        ["compose reads other rows", "LayerNorm"],
        {
            "add": batch_norm,
            "squash": lambda self, t: torch.tanh(self.norm(t) if len(t) > 1 else t),
        },
    ),
    "LargeBatches": ("many_rows", [ROWS], at_nodes(from_rows(1000, lambda t: t - t.mean(0)))),
    "HugeBatches": ("many_rows", ["100 of 40000"], at_leaves(from_rows(30_000, lambda t: 2 * t))),
    "Chunks": (
        "many_rows",
        [ROWS, "groups"],
        {"squash_leaf": lambda self, t: torch.tanh(torch.cat([t[:512], t[512:] - self.b]))},
    ),
    "Aligned": (
        "many_rows",
        ["8 of 2500"],
        at_leaves(lambda t: torch.tanh(t * 2 if len(t) > 0 and len(t) % 8 == 0 else t)),
    ),
    "FirstHundred": ("many_rows", [ORDER, "take all of them"], by_children(first_hundred)),
    "Positions": (ALONE, ["row 1 of 6", "where a row stands"], at_leaves(places)),
    "GlobalMaximum": (ALONE, ["row 1 is large", "before exp"], by_children(global_maximum)),
    "ByteIndex": ("many_rows", ["out of bounds", "int64"], by_children(byte_index)),
    "LastChild": (ALONE, [ORDER, "sum_by_owner"], by_children(last_child)),
    "OneEach": (ALONE, [ROWS], by_children(one_each)),
    "NextNodes": (ALONE, ["other rows of `children`"], by_children(next_nodes)),
    "FirstChildOnly": ("inputs_are_read", ["place 1"], by_children(first_child)),
    "MostColumns": (
        "inputs_are_read",
        ["column 4"],
        {"leaf": lambda self, x: [torch.tanh(x[:, :-1] @ self.w[:-1] + self.b)]},
    ),
    "Quantised": (ALONE, ["leaf reads other rows", "maximum"], at_leaves(quantised)),
    "ClipsGradients": (
        "many_rows",
        ["the gradient of leaf for `inputs`"],
        at_leaves(lambda t: torch.tanh(_Clipped.apply(t))),
    ),
    "Squeezes": (
        "other_sizes",
        ["hidden_size = 1", "squeeze"],
        at_leaves(lambda t: torch.tanh(t.unsqueeze(1)).squeeze()),
    ),
    "Views": (
        "layouts",
        ["transposed", "reshape or flatten"],
        of_inputs(lambda x: x.view(x.shape[0] * x.shape[1]).view_as(x)),
    ),
    "Strides": (
        "layouts",
        ["transposed", "strides"],
        of_inputs(lambda x: x.as_strided(x.shape, (x.shape[1], 1))),
    ),
    "FourWide": (
        "other_sizes",
        ["hidden_size = 1"],
        at_leaves(lambda t: torch.tanh(t.reshape(t.shape[0], 4))),
    ),
    "ThreeKinds": (
        "other_sizes",
        ["kinds = 5", "index 5"],
        {
            "add": lambda self: setattr(
                self, "types", nn.Parameter(torch.zeros(3, self.hidden_size))
            ),
            "compose": three_kinds,
        },
    ),
}
