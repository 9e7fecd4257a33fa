"""The thin stack (Bowman et al. 2016, Algorithm 1): a table with a row for every node, written once
and read by row numbers.

Plain autograd would copy the whole table at each step of the backward pass. Here the gradient of
the table travels back along a chain of *tokens*: every read and write takes the last token and
gives the next one. Reads add to that gradient in place, and writes take their rows from it. So a
step touches only the rows that it read or wrote. Each backward pass starts with its own gradient.
So a graph can be walked back twice, or only to some of its inputs.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def token_of(store: Tensor) -> Tensor:
    """The first token of a table. It has the table's shape, but not its memory."""
    return store.new_zeros([]).expand(store.shape)


def write(store: Tensor, token: Tensor, first: int, rows: Tensor) -> Tensor:
    """Write rows (n, W) into `store`, from row `first` on. Nothing may have been written there
    before. Returns the next token."""
    if not torch.jit.is_scripting() and torch.is_grad_enabled():  # type: ignore[attr-defined]
        written: Tensor = _Write.apply(token, rows, store, first)  # type: ignore[no-untyped-call]
        return written
    store[first : first + rows.shape[0]] = rows
    return token


def read(store: Tensor, token: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    """Rows (n, W) of `store`, which must have been written before, by their numbers (n,); and the
    next token."""
    if not torch.jit.is_scripting() and torch.is_grad_enabled():  # type: ignore[attr-defined]
        rows, following = _Read.apply(token, store, index)  # type: ignore[no-untyped-call]
        return rows, following
    return store.index_select(0, index), token


class _Write(torch.autograd.Function):
    """S' = S with rows R. Backward, with the gradient G of S': dR = those rows of G, and dS = G,
    since rows R are never read through S."""

    @staticmethod
    def forward(ctx: Any, token: Tensor, rows: Tensor, store: Tensor, first: int) -> Tensor:
        ctx.first, ctx.last = first, first + rows.shape[0]
        store[ctx.first : ctx.last] = rows
        return token_of(store)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, table: Tensor) -> tuple[Tensor, Tensor, None, None]:
        return table, table[ctx.first : ctx.last].clone(), None, None


class _Read(torch.autograd.Function):
    """R = S[index]. Backward, with the gradients G of R and T of the next token: dS = T, with G
    added to its rows `index`."""

    @staticmethod
    def forward(ctx: Any, token: Tensor, store: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        ctx.index = index
        return store.index_select(0, index), token_of(store)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, table: Tensor) -> tuple[Tensor, None, None]:
        # In place: the chain of tokens does not branch, so nobody else holds this gradient.
        return table.index_add_(0, ctx.index, grad), None, None
