"""Moves index tensors from the host to the device that composes."""

from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

Plan = TypeVar("Plan", bound=NamedTuple)


def moved(plan: Plan, like: Tensor) -> Plan:
    """The int64 tensors of a plan on the device of `like`, by one transfer that the host does not
    wait for. Fields with names that end in "counts" stay, because the host reads them.

    An executor with a plan from the host starts all its steps without waiting for the device. This
    is for eager models. TorchScript has no fields by name, so its inputs must be on the model's
    device.
    """
    if plan[0].device == like.device:
        return plan
    there = [name for name in plan._fields if not name.endswith("counts")]
    tensors = [getattr(plan, name) for name in there]
    flat = torch.cat([each.flatten() for each in tensors]).to(like.device, non_blocking=True)
    parts = torch.split(flat, [each.numel() for each in tensors])
    shaped = (part.view(each.shape) for part, each in zip(parts, tensors, strict=True))
    return plan._replace(**dict(zip(there, shaped, strict=True)))
