"""The pointwise part that LSTM cells over trees share: squash the gates, mix the children's cells,
open the output.

While training it is one `autograd.Function`, which runs in place and saves each gate once; autograd
over the separate operations would keep a copy of every intermediate.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from thinstack.core.kernels import tanh_

__all__ = ["lstm_gates"]


def lstm_gates(gates: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
    """Hidden state and memory cell, each (n, H), of an LSTM over N children.

    Args:
        gates: (n, (3 + N) H) before squashing, in the order input, output, N forget gates, update.
            It is overwritten.
        cells: (n, N, H) memory cells of the children.
    """
    if torch.is_grad_enabled():
        hidden, cell = _LstmGates.apply(gates, cells).unbind(1)  # type: ignore[no-untyped-call]
        return hidden, cell
    children, width = cells.shape[1], cells.shape[2]
    split = (2 + children) * width
    squashed = gates[:, :split].sigmoid_()
    update = tanh_(gates[:, split:])
    cell = squashed[:, :width] * update
    for k in range(children):
        cell.addcmul_(squashed[:, (2 + k) * width : (3 + k) * width], cells[:, k])
    return tanh_(cell.clone()).mul_(squashed[:, width : 2 * width]), cell


class _LstmGates(torch.autograd.Function):
    """`lstm_gates` as one node of the graph; the result is (n, 2, H) since TorchScript takes one
    tensor from a Function."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, cells: Tensor) -> Tensor:
        n, children, width = cells.shape
        split = (2 + children) * width
        squashed = gates[:, :split].sigmoid_()
        update = tanh_(gates[:, split:])
        state = gates.new_empty([n, 2, width])
        cell = state[:, 1].copy_(squashed[:, :width]).mul_(update)
        for k in range(children):
            cell.addcmul_(squashed[:, (2 + k) * width : (3 + k) * width], cells[:, k])
        tanh = tanh_(cell.clone())
        state[:, 0].copy_(squashed[:, width : 2 * width]).mul_(tanh)
        ctx.save_for_backward(gates, cells, tanh)
        return state

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_state: Tensor) -> tuple[Tensor, Tensor]:
        gates, cells, tanh = ctx.saved_tensors
        _, children, width = cells.shape
        split = (2 + children) * width
        squashed, update = gates[:, :split], gates[:, split:]
        grad_hidden = grad_state[:, 0]
        grad_cell = torch.ops.aten.tanh_backward(
            grad_hidden * squashed[:, width : 2 * width], tanh
        ).add_(grad_state[:, 1])
        grad_gates, grad_cells = torch.empty_like(gates), torch.empty_like(cells)
        torch.mul(grad_cell, update, out=grad_gates[:, :width])
        torch.mul(grad_hidden, tanh, out=grad_gates[:, width : 2 * width])
        for k in range(children):
            forget = slice((2 + k) * width, (3 + k) * width)
            torch.mul(grad_cell, cells[:, k], out=grad_gates[:, forget])
            torch.mul(grad_cell, squashed[:, forget], out=grad_cells[:, k])
        torch.ops.aten.sigmoid_backward.grad_input(
            grad_gates[:, :split], squashed, grad_input=grad_gates[:, :split]
        )
        torch.mul(grad_cell, squashed[:, :width], out=grad_gates[:, split:])
        torch.ops.aten.tanh_backward.grad_input(
            grad_gates[:, split:], update, grad_input=grad_gates[:, split:]
        )
        return grad_gates, grad_cells
