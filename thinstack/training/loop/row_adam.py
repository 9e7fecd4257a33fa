"""Adam for a table where each minibatch reads few rows."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

__all__ = ["RowAdam"]


class RowAdam(Optimizer):
    """Adam (Kingma & Ba 2015, Algorithm 1) that moves only the rows that have a gradient.

    The moments of all other rows stay as they are too. The count of steps is the table's, not the
    row's, as in DyNet (Teng & Zhang 2017, 6) and in `torch.optim.SparseAdam`. A row that is first
    read after many steps therefore moves by more than the learning rate at first, up to 3.2 times.
    The state is tensors from the start, so that checkpoints hold all of it. Dense gradients are
    taken too; a row has one if it is not 0.

    Args:
        weights: tables (V, W).
        lr: the learning rate.
        betas: how much the two moments keep at each step.
        eps: what is added to the root of the second moment.
    """

    def __init__(
        self,
        weights: Iterable[Tensor],
        lr: float,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ):
        super().__init__(weights, {"lr": lr, "betas": betas, "eps": eps})
        for group in self.param_groups:
            for weight in group["params"]:
                self.state[weight] = {
                    "step": torch.zeros([]),
                    "exp_avg": torch.zeros_like(weight),
                    "exp_avg_sq": torch.zeros_like(weight),
                }

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take a step. The value is that of `closure`, if there is one."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    _move(weight, weight.grad, self.state[weight], group)
        return loss


def _move(weight: Tensor, whole: Tensor, state: dict[str, Tensor], group: dict[str, Any]) -> None:
    """Step by the gradient `whole` (V, W)."""
    rows, gradient = _rows_of(whole)
    state["step"] += 1
    steps, (kept, kept_square) = state["step"].item(), group["betas"]
    mean = state["exp_avg"].index_select(0, rows).lerp_(gradient, 1 - kept)
    square = state["exp_avg_sq"].index_select(0, rows)
    square.mul_(kept_square).addcmul_(gradient, gradient, value=1 - kept_square)
    state["exp_avg"].index_copy_(0, rows, mean)
    state["exp_avg_sq"].index_copy_(0, rows, square)
    divisor = (square / (1 - kept_square**steps)).sqrt_().add_(group["eps"])
    weight.index_add_(0, rows, mean / divisor, alpha=-group["lr"] / (1 - kept**steps))


def _rows_of(gradient: Tensor) -> tuple[Tensor, Tensor]:
    """The rows (r,) that have a gradient, each once, and their gradients (r, W)."""
    if gradient.is_sparse:
        whole = gradient.coalesce()
        return whole.indices()[0], whole.values()
    rows = gradient.flatten(1).any(1).nonzero().squeeze(1)
    return rows, gradient.index_select(0, rows)
