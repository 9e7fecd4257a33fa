"""`torch.arange`, also for sizes that are values of an exported graph."""

import torch
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function


def arange(end: int, device: torch.device) -> Tensor:
    """The numbers (`end`,) from 0 to `end` - 1.

    The exporter calls the functions of this room with values of a graph in place of tensors, whose
    sizes are values too. `torch.arange` of torch 2.6 and 2.7 refuses such a size.
    """
    if not torch.jit.is_scripting() and has_torch_function((end,)):  # type: ignore[attr-defined]
        numbers: Tensor = handle_torch_function(arange, (end,), end, device=device)
        return numbers
    return torch.arange(end, device=device)
