"""Speed detours of an eager model: the same results as plain torch, sooner.

`lstm_gates` is one node of the graph while training and runs in place without gradients. `affine`
and `tanh_` are for float32 on a CPU: oneDNN was twice as fast as `torch.addmm` (MKL) on the AMD
processor of the measurements, and `tanh` took 7 to 10 times as long as `sigmoid`. What is traced,
exported or scripted holds plain operations. `torch.backends.mkldnn.enabled = False` turns all
detours off.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

__all__ = ["affine", "lstm_gates"]

# A private name, since torch offers oneDNN to plain tensors by no public one; None: `torch.addmm`.
_LINEAR: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
_SMALL = 4096  # entries below which the extra calls of `_tanh_` cost more than they save
# A product of fewer multiplications, by a smaller matrix, gains nothing from oneDNN and loses what
# that spends on a new shape.
_SMALL_PRODUCT, _SMALL_MATRIX = 1 << 22, 1 << 18


def affine(bias: Tensor, rows: Tensor, weight: Tensor) -> Tensor:
    """bias (W,) + rows (n, K) @ weight (K, W)."""
    if not torch.jit.is_scripting():  # type: ignore[attr-defined]
        return _affine(bias, rows, weight)
    return torch.addmm(bias, rows, weight)


def lstm_gates(gates: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
    """Hidden state and memory cell, each (n, H), of an LSTM over N children:
    c = i * g + sum_k f_k * c_k and h = o * tanh(c).

    Args:
        gates: (n, (3 + N) H) before squashing, in the order i, o, f_1 .. f_N, g. It may be
            overwritten.
        cells: (n, N, H) memory cells c_k of the children.
    """
    if not torch.jit.is_scripting():  # type: ignore[attr-defined]
        return _lstm_gates(gates, cells)
    return _plain_gates(gates, cells)


def _plain_gates(gates: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
    # Few calls, for their number is what a small batch waits for.
    children, width = cells.shape[1], cells.shape[2]
    squashed, update = torch.split(gates, [gates.shape[1] - width, width], 1)
    sizes = [width, width]
    sizes += [children * width for _ in range(children)][:1]  # none at a leaf
    parts = torch.split(squashed.sigmoid(), sizes, 1)
    cell = parts[0] * update.tanh()
    for f in parts[2:]:
        cell = cell + (f.view(-1, children, width) * cells).sum(1)
    return parts[1] * cell.tanh(), cell


def _is_eager() -> bool:
    """Whether values are computed right now, not recorded, and the detours are on."""
    return (
        bool(torch.backends.mkldnn.enabled)
        and not torch.compiler.is_compiling()
        and not torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
    )


def _is_eager_float32(values: Tensor) -> bool:
    return (
        values.is_cpu
        and values.dtype == torch.float32
        and _is_eager()
        and not torch.is_autocast_enabled("cpu")
    )


def _affine(bias: Tensor, rows: Tensor, weight: Tensor) -> Tensor:
    if _LINEAR is None or not _is_eager_float32(rows) or _is_small(rows, weight):
        return torch.addmm(bias, rows, weight)
    if not torch.is_grad_enabled():
        return _product(rows, weight, bias)
    result: Tensor = _Affine.apply(bias, rows, weight)  # type: ignore[no-untyped-call]
    return result


def _is_small(rows: Tensor, weight: Tensor) -> bool:
    if rows.shape[0] < 2:
        return True
    return weight.numel() < _SMALL_MATRIX and rows.shape[0] * weight.numel() < _SMALL_PRODUCT


def _product(rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    result: Tensor = _LINEAR(_dense(rows), _dense(weight).t(), bias, "none", [], "")
    return result


def _dense(matrix: Tensor) -> Tensor:
    """The same without gaps, with which oneDNN is a thousand times slower."""
    return matrix if matrix.is_contiguous() or matrix.t().is_contiguous() else matrix.contiguous()


class _Affine(torch.autograd.Function):
    """y = b + x W. With the gradient G of y (n, W):
    db = sum over the rows of G, dx = G W', dW = x' G."""

    @staticmethod
    def forward(ctx: Any, bias: Tensor, rows: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(rows, weight)
        return _product(rows, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        rows, weight = ctx.saved_tensors
        for_bias, for_rows, for_weight = ctx.needs_input_grad
        return (
            grad.sum(0) if for_bias else None,
            _product(grad, weight.t(), None) if for_rows else None,
            _product(rows.t(), grad, None) if for_weight else None,
        )


def _tanh_(values: Tensor) -> Tensor:
    """tanh(x) = 2 sigmoid(2x) - 1 in place, to the same absolute error."""
    if not _is_eager_float32(values) or values.numel() < _SMALL:
        return values.tanh_()
    return values.mul_(2).sigmoid_().mul_(2).sub_(1)


def _lstm_gates(gates: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
    if not _is_eager():
        return _plain_gates(gates, cells)
    if torch.is_grad_enabled():
        hidden, cell = _LstmGates.apply(gates, cells)  # type: ignore[no-untyped-call]
        return hidden, cell
    hidden, cell, _ = _squash(gates, cells)
    return hidden, cell


def _squash(gates: Tensor, cells: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """h, c and tanh(c) of `lstm_gates`; `gates` holds the squashed gates afterwards."""
    width, split = cells.shape[2], gates.shape[1] - cells.shape[2]
    squashed, update = gates[:, :split].sigmoid_(), _tanh_(gates[:, split:])
    cell = squashed[:, :width] * update
    for k in range(cells.shape[1]):
        cell.addcmul_(squashed[:, (2 + k) * width : (3 + k) * width], cells[:, k])
    tanh = _tanh_(cell.clone())
    return squashed[:, width : 2 * width] * tanh, cell, tanh


class _LstmGates(torch.autograd.Function):
    """`lstm_gates`, which saves each gate once where autograd would keep every intermediate. With
    the gradients dh and dc':
    dc = dc' + dh o (1 - tanh(c)^2), do = dh tanh(c), di = dc g, dg = dc i, df_k = dc c_k and
    dc_k = dc f_k; before squashing, times s (1 - s) for a sigmoid s and 1 - g^2 for g."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
        hidden, cell, tanh = _squash(gates, cells)
        ctx.save_for_backward(gates, cells, tanh)
        return hidden, cell

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_hidden: Tensor, grad_last: Tensor) -> tuple[Tensor, Tensor]:
        gates, cells, tanh = ctx.saved_tensors
        aten, width, split = torch.ops.aten, cells.shape[2], gates.shape[1] - cells.shape[2]
        squashed, update = gates[:, :split], gates[:, split:]
        opened = grad_hidden * squashed[:, width : 2 * width]
        grad_cell = aten.tanh_backward(opened, tanh).add_(grad_last)
        grad_gates, grad_cells = torch.empty_like(gates), torch.empty_like(cells)
        torch.mul(grad_cell, update, out=grad_gates[:, :width])
        torch.mul(grad_hidden, tanh, out=grad_gates[:, width : 2 * width])
        for k in range(cells.shape[1]):
            forget = slice((2 + k) * width, (3 + k) * width)
            torch.mul(grad_cell, cells[:, k], out=grad_gates[:, forget])
            torch.mul(grad_cell, squashed[:, forget], out=grad_cells[:, k])
        grads = grad_gates[:, :split], grad_gates[:, split:]
        aten.sigmoid_backward.grad_input(grads[0], squashed, grad_input=grads[0])
        torch.mul(grad_cell, squashed[:, :width], out=grads[1])
        aten.tanh_backward.grad_input(grads[1], update, grad_input=grads[1])
        return grad_gates, grad_cells
