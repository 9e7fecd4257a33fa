"""Gates of an LSTM side by side, in the order of the papers: i, f, o, u."""

import torch
from torch import Tensor

__all__ = ["repeat_forget"]


def repeat_forget(gates: Tensor, width: int, times: int) -> Tensor:
    """The columns i, f, o, u, each `width` wide, with f so many `times`: i, f, .., f, o, u.

    Children share the W_f and the b_f of their node; a leaf has no f.
    """
    if times == 1:
        return gates
    i, f, others = gates[..., :width], gates[..., width : 2 * width], gates[..., 2 * width :]
    return torch.cat([i] + [f] * times + [others], -1)
