"""`torch.arange` for sizes that a function of torch may stand for."""

import torch
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function

__all__ = ["arange"]


def arange(end: int, device: torch.device) -> Tensor:
    """The numbers (`end`,) from 0 to `end` - 1.

    The exporter calls functions of this room with values of a graph in place of tensors, whose
    sizes are values too. `torch.arange` itself refuses these before torch 2.8.
    """
    if not torch.jit.is_scripting() and has_torch_function((end,)):
        found: Tensor = handle_torch_function(arange, (end,), end, device=device)
        return found
    return torch.arange(end, device=device)
