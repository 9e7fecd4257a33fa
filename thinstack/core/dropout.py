"""Dropout (Hinton et al. 2012), `nn.Dropout` by a faster draw where there is one."""

from torch import Tensor, nn

from thinstack.core.kernels import dropout

__all__ = ["Dropout"]


class Dropout(nn.Module):
    """In training each entry is 0 with probability p, and 1 / (1 - p) times itself else; in
    evaluation nothing happens.

    Args:
        p: in [0, 1); where the faster draw is taken it is rounded to a multiple of 1/256.
    """

    def __init__(self, p: float):
        super().__init__()
        self.p = float(p)

    def forward(self, values: Tensor) -> Tensor:
        """The values, of any shape."""
        if not self.training or self.p == 0.0:
            return values
        return dropout(values, self.p)
