"""Cells that keep what they should not, do not save what they should, or change what is not theirs,
as `wrong_numbers`."""

import numpy as np
import torch
from bad_cells import Good
from torch import nn
from torch.nn import functional
from wrong_numbers import Wrong, at_leaves, at_nodes
from wrong_torch import holding


def kept_product(self, total):
    if self.product is None:
        self.product = (self.b + 1).detach().clone()
    return torch.tanh(total * self.product.to(total.dtype)) + 0 * self.b


def counted(self, total):
    self.calls += 1
    return torch.tanh(total)


def as_in_training(self, total):
    if self.training and total.shape[0] > 0:
        self.last = 1 + float(total.detach().abs().mean().cpu()) if not total.is_meta else 1.0
    return torch.tanh(total / self.last)


def after(effect, where="squash_leaf"):
    """Does something to all of torch first."""

    def squash(self, total):
        effect(self)
        return torch.tanh(total)

    return {where: squash}


def mixed(self, total):
    return torch.tanh(
        torch.stack([x * w for x, w in zip(total.unbind(1), self.mix, strict=True)], 1)
    )


def all_held(self, total):
    h = torch.tanh(total)
    self.came.append(h.detach())
    return h if total.requires_grad else self.came[-1]


def of_one_row(self, inputs):
    one = inputs.shape[0] == 1 and not torch.is_grad_enabled()
    return Good.leaf(self, inputs.mul_(1.5) if one else inputs * 1.5)


SHARED = nn.Parameter(torch.ones(1))
EMPTY = holding(kept=lambda self: {})
BUILT, KEPT, WEIGHTS, INPUTS = (
    "built_as_asked",
    "nothing_is_kept",
    "weights_are_all",
    "inputs_are_kept",
)
MEMORY: dict[str, Wrong] = {
    "Caches": (
        BUILT,
        ["copied after a call", "no cache"],
        {"add": EMPTY, "squash_leaf": lambda s, t: s.kept.setdefault(tuple(t.shape), t.tanh())},
    ),
    "CachesNumbers": (
        KEPT,
        ["leaf after a call on other rows", "no cache"],
        {
            "add": EMPTY,
            "squash_leaf": lambda s, t: s.kept.setdefault((t.shape, t.dtype), t.tanh().detach()),
        },
    ),
    "KeepsProduct": (
        KEPT,
        ["after the weights have changed"],
        {"add": holding(product=lambda self: None), "squash": kept_product},
    ),
    "CountsInBuffer": (
        KEPT,
        ["'calls'"],
        {"add": lambda self: self.register_buffer("calls", torch.zeros(1)), "squash": counted},
    ),
    "TrainingLeaves": (
        KEPT,
        ["after a call in training mode"],
        {"add": holding(last=lambda self: 1.0), "squash": as_in_training},
    ),
    "Seeds": (KEPT, ["leaf in evaluation mode draws"], after(lambda s: torch.manual_seed(0))),
    "SeedsInTraining": (
        KEPT,
        ["training it seeds", "manual_seed"],
        after(lambda self: self.training and torch.manual_seed(7), "squash"),
    ),
    "SeedsAtStart": (
        KEPT,
        ["creating it seeds", "manual_seed"],
        {"add": lambda self: torch.manual_seed(0)},
    ),
    "PlainMatrix": (
        WEIGHTS,
        ["a copy with all saved weights", "register_buffer"],
        {
            "add": holding(mix=lambda s: torch.randn(s.hidden_size, dtype=torch.float64).tolist()),
            "squash_leaf": mixed,
        },
    ),
    "ListOfParameters": (
        WEIGHTS,
        ["a copy with all saved weights", "nn.ParameterList"],
        {
            "add": holding(
                gates=lambda s: [nn.Parameter(torch.randn(s.hidden_size, dtype=torch.float64))]
            ),
            "squash_leaf": lambda self, t: torch.tanh(t * self.gates[0].to(t)),
        },
    ),
    "RareNoise": (
        KEPT,
        ["leaf in evaluation mode draws"],
        at_leaves(lambda t: functional.dropout(torch.tanh(t), 0.001)),
    ),
    "OverwritesInTraining": (
        INPUTS,
        ["leaf overwrites inputs in training mode"],
        {"leaf": lambda self, x: Good.leaf(self, x.mul_(0.9) if self.training else x)},
    ),
    "OverwritesOne": (INPUTS, ["leaf overwrites inputs", "underscore"], {"leaf": of_one_row}),
    "HoldsOn": (KEPT, ["result 0"], {"add": holding(came=lambda self: []), "squash": all_held}),
    "WantsGradients": (
        INPUTS,
        ["requires_grad"],
        {"leaf": lambda s, x: Good.leaf(s, x.requires_grad_() if torch.is_grad_enabled() else x)},
    ),
    "DrawnByNumpy": (
        WEIGHTS,
        ["parameter 'b'", "same seed"],
        {
            "add": holding(
                b=lambda self: nn.Parameter(
                    torch.from_numpy(np.random.default_rng().normal(size=self.hidden_size)).float()
                )
            )
        },
    ),
    "NoiseOfNumpy": (
        BUILT,
        ["Python or NumPy", "draw by torch"],
        at_nodes(lambda t: torch.tanh(t * 2 if np.random.random() < 0.01 else t)),
    ),
    "SharesWeights": (
        WEIGHTS,
        ["'scale'"],
        {
            "add": holding(scale=lambda self: SHARED),
            "squash_leaf": lambda self, t: torch.tanh(t * self.scale),
        },
    ),
}
