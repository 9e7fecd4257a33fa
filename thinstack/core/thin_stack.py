"""The thin stack (Bowman et al. 2016, Algorithm 1): a table with a row for every node, written once
and read by row numbers.

Under autograd one table of gradients goes with it, so that a backward pass touches the rows that a
step read or wrote, and not all rows at each step. A *token* tells autograd their order: each write
gives a new one, which later reads and writes take.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

__all__ = ["gradients_of", "read", "write"]


def gradients_of(store: Tensor) -> Tensor:
    """The table of gradients that goes with `store`; without rows where none is needed."""
    return torch.empty_like(store) if torch.is_grad_enabled() else store[:0]


def write(store: Tensor, gradients: Tensor, token: Tensor, first: int, rows: Tensor) -> Tensor:
    """Write rows (n, W) into `store` from row `first` on, where nothing was written before. Returns
    the next token."""
    if torch.is_grad_enabled():
        places = torch.arange(first, first + rows.shape[0], device=rows.device)
        written: Tensor = _Write.apply(token, rows, store, gradients, places)  # type: ignore[no-untyped-call]
        return written
    store[first : first + rows.shape[0]] = rows
    return token


def read(store: Tensor, gradients: Tensor, token: Tensor, index: Tensor) -> Tensor:
    """Rows (n, W) of `store` that were written before, by their numbers (n,)."""
    if torch.is_grad_enabled():
        rows: Tensor = _Read.apply(token, store, gradients, index)  # type: ignore[no-untyped-call]
        return rows
    return store.index_select(0, index)


class _Write(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, token: Tensor, rows: Tensor, store: Tensor, gradients: Tensor, places: Tensor
    ) -> Tensor:
        store.index_copy_(0, places, rows)
        ctx.gradients, ctx.places = gradients, places
        return token.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        # All reads of these rows took this token or a later one, so their gradients are complete.
        return grad, _of_this_pass(ctx.gradients).index_select(0, ctx.places), None, None, None


class _Read(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, token: Tensor, store: Tensor, gradients: Tensor, index: Tensor) -> Tensor:
        ctx.gradients, ctx.index = gradients, index
        ctx.save_for_backward(token)
        return store.index_select(0, index)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        _of_this_pass(ctx.gradients).index_add_(0, ctx.index, grad)
        (token,) = ctx.saved_tensors
        return torch.zeros_like(token), None, None, None


def _of_this_pass(gradients: Tensor) -> Tensor:
    """The table, emptied if another backward pass has been here: one to some inputs only leaves
    rows that nobody took."""
    table: Any = gradients if gradients._base is None else gradients._base
    task = torch._C._current_graph_task_id()  # private: see docs/decisions.md
    if getattr(table, "backward_pass", None) != task:
        table.zero_()
        table.backward_pass = task
    return gradients
