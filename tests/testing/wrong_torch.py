"""Cells that make tensors of another device or type, or are wrong in training mode, as
`wrong_numbers`."""

import numpy as np
import torch
from torch import nn
from wrong_numbers import Wrong, at_leaves

from thinstack.core.cell import sum_by_owner

SCALE = torch.full([4], 0.9, dtype=torch.float64)


def holding(**attributes):
    """Has attributes, each made of the cell."""

    def add(self):
        for name, make in attributes.items():
            setattr(self, name, make(self))

    return add


def filled(total):
    result = torch.zeros(total.shape, dtype=total.dtype)
    result[:] = torch.tanh(total)
    return result


def masked(self, total):
    mask = torch.rand(total.shape, dtype=total.dtype) > 0.1 if self.training else 1
    return torch.tanh(total * mask)


def one_type(self, inputs, children, links):
    none = children[0].new_zeros([inputs.shape[0], self.hidden_size])
    return none.index_add(0, links.owner, children[0] @ self.u[0]) + self.b


def much_lost(self, total):
    large = total @ (1e4 * torch.eye(self.hidden_size, dtype=total.dtype, device=total.device))
    nothing = sum_by_owner(total[:0], total[:0, 0].long(), 1)
    return torch.tanh(large - 9999 * total) + 0 * nothing


def rough(where, digits):
    return at_leaves(
        lambda t: (t.tanh() * digits).round() / digits + 0 * t if where(t) else torch.tanh(t)
    )


DEVICE, CPU = "device_and_type", "lies on the CPU"
TORCH: dict[str, Wrong] = {
    "NoDevice": (
        DEVICE,
        ["torch.zeros made, (6, 4), lies on the CPU"],
        at_leaves(lambda t: torch.tanh(t + torch.zeros(t.shape, dtype=t.dtype))),
    ),
    "IndexWithoutDevice": (
        DEVICE,
        ["torch.arange", "device=inputs.device"],
        at_leaves(lambda t: torch.tanh(t.index_select(1, torch.arange(t.shape[1])))),
    ),
    "PlainAttribute": (
        DEVICE,
        ["'scale'", "register_buffer"],
        {
            "add": holding(scale=lambda s: torch.full([s.hidden_size], 0.5, dtype=torch.float64)),
            "squash_leaf": lambda self, t: torch.tanh(t * self.scale.to(t.dtype)),
        },
    ),
    "GlobalConstant": (
        DEVICE,
        ["shape (1,) lies on the CPU"],
        at_leaves(lambda t: torch.tanh(t * SCALE[: t.shape[1]].sum().to(t.dtype).expand(1))),
    ),
    "FromNumpy": (
        DEVICE,
        ["two devices", "register_buffer"],
        at_leaves(lambda t: torch.tanh(t * torch.from_numpy(np.ones(t.shape[1])).to(t.dtype))),
    ),
    "OnTheHost": (DEVICE, ["`cpu`"], at_leaves(lambda t: torch.tanh(t.cpu()))),
    "ResultOnTheHost": (DEVICE, ["torch.zeros", "inputs.new_zeros"], at_leaves(filled)),
    "MaskWithoutDevice": (DEVICE, ["two devices", CPU], {"squash_leaf": masked}),
    "HardType": (
        DEVICE,
        ["torch.zeros", "the type of the inputs"],
        at_leaves(lambda t: torch.tanh(t + torch.zeros(t.shape[1], device=t.device))),
    ),
    "ThereAndBack": (
        DEVICE,
        ["`float` turns float64 into torch.float32"],
        at_leaves(lambda t: torch.tanh(t.float()).to(t.dtype)),
    ),
    "ReadsNumber": (
        DEVICE,
        ["`item`"],
        {"squash_leaf": lambda self, t: torch.tanh(t * (1 + self.b.sum().item()))},
    ),
    "DetachedInTraining": (
        "training_mode",
        ["gradients of compose", "detach"],
        {"squash": lambda self, t: torch.tanh(t.detach() if self.training else t)},
    ),
    "NeedsTwoRows": (
        "training_mode",
        ["Expected more than 1 value per channel"],
        {
            "add": holding(norm=lambda self: nn.BatchNorm1d(self.hidden_size)),
            "squash": lambda self, t: torch.tanh(self.norm(t)),
        },
    ),
    "SpreadOfBatch": (
        "training_mode",
        ["compose of 1 rows"],
        {"squash": lambda self, t: torch.tanh(t / t.std(0) if self.training else t)},
    ),
    "OneType": ("other_types", ["autocast in bfloat16"], {"total": one_type}),
    "MuchLost": ("other_types", ["compose under autocast in bfloat16"], {"squash": much_lost}),
    "QuickWithoutGradients": (
        "many_rows",
        ["with a graph for gradients, and without"],
        rough(lambda t: t.shape[0] > 500 and not torch.is_grad_enabled(), 1e6),
    ),
    "RoughSingles": (
        "other_types",
        ["leaf of 6 rows in float32"],
        rough(lambda t: t.dtype == torch.float32, 100),
    ),
}
