"""Index tensors from the host to the device that composes."""

from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

__all__ = ["moved"]

Plan = TypeVar("Plan", bound=NamedTuple)


def moved(plan: Plan, like: Tensor) -> Plan:
    """The int64 tensors of a plan on the device of `like`, by one transfer that the host does not
    wait for. Fields whose names end in "counts" stay: the host reads them.

    An executor that got its plan from the host launches all its steps without a look at the device.
    For eager models: TorchScript knows no fields by name, so its inputs lie where the model does.
    """
    if plan[0].device == like.device:
        return plan
    there = [name for name in plan._fields if not name.endswith("counts")]
    tensors = [getattr(plan, name) for name in there]
    flat = torch.cat([each.flatten() for each in tensors]).to(like.device, non_blocking=True)
    parts = torch.split(flat, [each.numel() for each in tensors])
    shaped = (part.view(each.shape) for part, each in zip(parts, tensors, strict=True))
    return plan._replace(**dict(zip(there, shaped, strict=True)))
