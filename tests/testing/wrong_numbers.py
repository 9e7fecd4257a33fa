"""Cells that give NaN for rows that occur: the check that finds each, parts of what it says, and
the methods that make it wrong."""

from collections.abc import Callable
from typing import Any

import torch
from bad_cells import Good
from torch import nn

from thinstack.core.cell import sum_by_owner

Wrong = tuple[str, list[str], dict[str, Callable[..., Any]]]


def of_inputs(change):
    """Wrong by what leaves read."""
    return {"leaf": lambda self, inputs: Good.leaf(self, change(inputs))}


def at_leaves(squash):
    """Wrong by how the sums of leaves are squashed."""
    return {"squash_leaf": lambda self, total: squash(total)}


def at_nodes(squash):
    """Wrong by how the sums of nodes are squashed."""
    return {"squash": lambda self, total: squash(total)}


def by_children(add_up, **more):
    """Wrong by how `children` (…, H) are added up, given `links` and the number of nodes."""
    return {
        "total": lambda self, x, children, links: add_up(self, children[0], links, len(x)),
        **more,
    }


def unit(rows):
    return rows / rows.norm(dim=1, keepdim=True)


def only_known(self, inputs):
    """Leaves the rows of unknown words as the memory was."""
    state = inputs.new_empty([inputs.shape[0], self.hidden_size])
    known = (inputs != 0).any(1)
    state[known] = torch.tanh(inputs[known] @ self.w + self.b)
    return [state]


def hidden_by_where(rows):
    norm = rows.pow(2).sum(1, keepdim=True).sqrt()
    return torch.where(norm > 0, rows / norm, 0.0)


def times_length(self, inputs):
    length = (inputs * inputs).sum(1, keepdim=True).sqrt()
    return [torch.tanh((inputs @ self.w + self.b) * length)]


def by_cosine(self, inputs, children, links):
    a, b = children[0].unbind(1)
    cosine = (a * b).sum(1) / (a.norm(dim=1) * b.norm(dim=1))
    return [torch.tanh(self.total(inputs, children, links) * cosine.unsqueeze(1))]


def by_spread(self, children, links, n):
    below = children @ self.u[0]
    count = sum_by_owner(torch.ones_like(below), links.owner, n).clamp(min=1)
    middle, squares = (sum_by_owner(x, links.owner, n) / count for x in (below, below**2))
    return self.b + middle / (squares - middle**2).clamp(min=0).sqrt()


def by_attention(self, children, links, n):
    score = (children @ self.score).masked_fill(links.kind == 0, -torch.inf)
    share = torch.softmax(score, 1).unsqueeze(2)
    return self.b + (share * children).flatten(1) @ self.u.flatten(0, 1)


def own_tanh(total):
    up, down = total.exp(), (-total).exp()
    return (up - down) / (up + down)


def by_inputs(self, inputs, children, links):
    (h,) = Good.compose(self, inputs, children, links)
    return [h * (inputs @ self.w).exp() if self.inner_size > 0 else h]


def by_entropy(total):
    share = torch.softmax(total, 1)
    return torch.tanh(total * -(share * share.log()).sum(1, keepdim=True))


def logit(total):
    share = torch.sigmoid(total)
    return torch.tanh(torch.log(share / (1 - share)))


ZEROS, NOBODY, INFINITE = "rows of zeros", "nodes without children is not finite", "holds NaN"
NUMBERS: dict[str, Wrong] = {
    "NormAtZero": ("finite", ["leaf of rows of zeros", "gives NaN"], of_inputs(unit)),
    "NormOfState": ("finite", ["compose of rows", "norm"], at_nodes(lambda t: unit(t.tanh()))),
    "EmptyRows": ("finite", ["leaf of rows of zeros", "new_zeros"], {"leaf": only_known}),
    "WhereTrap": ("finite", [ZEROS, INFINITE, "torch.where"], of_inputs(hidden_by_where)),
    "Logarithm": ("finite", [ZEROS, INFINITE, "log"], of_inputs(lambda x: x.abs().log().tanh())),
    "RootOfSum": ("finite", [ZEROS, INFINITE, "sqrt"], {"leaf": times_length}),
    "HalfPower": ("finite", [ZEROS, "sqrt"], of_inputs(lambda x: x.sign() * x.abs() ** 0.5)),
    "SpreadOfRow": (
        "finite",
        ["leaf of rows of zeros", "spread"],
        of_inputs(lambda x: (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)),
    ),
    "CosineOfChildren": ("no_rows", [NOBODY, "norm"], {"compose": by_cosine}),
    "SpreadOfChildren": ("no_rows", [NOBODY, "spread"], by_children(by_spread)),
    "MaskedAttention": (
        "no_rows",
        [NOBODY, "softmax over no child"],
        by_children(
            by_attention,
            add=lambda self: setattr(self, "score", nn.Parameter(torch.ones(self.hidden_size))),
        ),
    ),
    "TinyEps": (
        "finite",
        ["leaf of rows of zeros", "clamp(min=1e-6)"],
        of_inputs(lambda x: x / (x.abs().sum(1, keepdim=True) + 1e-60)),
    ),
    "ByParameter": (
        "finite",
        ["with the weights that it starts with"],
        {"squash_leaf": lambda self, total: torch.tanh(total / self.b)},
    ),
    "AcosOfEntries": (
        "finite",
        ["leaf of rows of ones", "infinite"],
        of_inputs(lambda x: torch.acos(x.clamp(-1, 1))),
    ),
    "OwnSigmoid": (
        "finite",
        ["times 100", "torch.sigmoid"],
        at_leaves(lambda total: 1 / (1 + torch.exp(-total))),
    ),
    "OwnTanh": ("finite", ["times 100", "exp overflows above 88"], at_leaves(own_tanh)),
    "OwnSoftplus": (
        "finite",
        ["times 100", "softplus"],
        at_leaves(lambda total: torch.tanh(torch.log(1 + torch.exp(total)))),
    ),
    "OwnSoftmax": (
        "finite",
        ["times 100", "torch.softmax"],
        at_leaves(lambda total: total.exp() / total.exp().sum(1, keepdim=True)),
    ),
    "GateOfNodes": (
        "finite",
        ["compose of", "matrices 300 times as large", "exp overflows"],
        at_nodes(lambda total: torch.tanh(total) / (1 + torch.exp(-total))),
    ),
    "GateOfInputs": ("finite", ["inner_size = 5", "exp overflows"], {"compose": by_inputs}),
    "Entropy": ("finite", ["times 100", "gives NaN"], at_leaves(by_entropy)),
    "Logit": ("finite", ["times 100", "logsigmoid"], at_leaves(logit)),
    "FifthPower": (
        "finite",
        ["times 1,000", "powers"],
        at_leaves(lambda total: total.abs() ** 15 / (1 + total.abs() ** 15)),
    ),
}
