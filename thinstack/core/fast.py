"""Faster ways to the results of plain torch, for eager models.

In training, `lstm_gates` is one node of autograd's graph. Without gradients it works in place. For
float32 on a CPU, `affine` uses oneDNN, and tanh is computed by the sigmoid. On our AMD processor
oneDNN was twice as fast as `torch.addmm` (MKL), and `tanh` took 7 to 10 times as long as `sigmoid`.

A model that is traced, exported or scripted has plain operations.
`torch.backends.mkldnn.enabled = False` turns all of this off.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from thinstack.core.shared_weights import Factors, keep_factors, shared

# A private name, since torch offers oneDNN to plain tensors by no public one; None: `torch.addmm`.
_LINEAR: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
# Rows from which oneDNN pays; without AVX-512 MKL is as fast up to there.
_LEAST_ROWS = 2 if torch.backends.cpu.get_cpu_capability() == "AVX512" else 2048
_SMALL = 4096  # entries below which the extra calls of `_tanh_` cost more than they save
# A product of fewer multiplications, by a smaller matrix, gains nothing from oneDNN and loses what
# that spends on a new shape.
_SMALL_PRODUCT, _SMALL_MATRIX = 1 << 22, 1 << 18


def affine(bias: Tensor, rows: Tensor, weight: Tensor) -> Tensor:
    """The sums (n, W) of `bias` (W,) and the product of `rows` (n, K) and `weight` (K, W)."""
    if not torch.jit.is_scripting():  # type: ignore[attr-defined]
        return _affine(bias, rows, weight)
    return torch.addmm(bias, rows, weight)


def gelu(values: Tensor) -> Tensor:
    """Each value x times the probability that a standard normal variable is below x (Hendrycks &
    Gimpel 2016)."""
    if not torch.jit.is_scripting() and not torch.compiler.is_compiling():  # type: ignore[attr-defined]
        return functional.gelu(values)
    # In this order onnxruntime knows it, and makes one operator of five.
    root_of_two = 1.4142135381698608
    return values * 0.5 * (1.0 + torch.erf(values / root_of_two))


def lstm_gates(gates: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
    """The hidden state and memory cell, each (n, H), of an LSTM over N children.

        c = i * g + sum_k f_k * c_k
        h = o * tanh(c)

    Args:
        gates: (n, (3 + N) H) before squashing, in the order i, f_1 .. f_N, o, g. It may be
            overwritten.
        cells: (n, N, H) memory cells c_k of the children.
    """
    if not torch.jit.is_scripting():  # type: ignore[attr-defined]
        return _lstm_gates(gates, cells)
    return _plain_gates(gates, cells)


def lstm_of_product(
    bias: Tensor, rows: Tensor, weight: Tensor, cells: Tensor
) -> tuple[Tensor, Tensor]:
    """`lstm_gates` of `affine(bias, rows, weight)`.

    A graph has one product for the gates that a sigmoid squashes and one for the other, for
    onnxruntime squashes what a product gives in the same step.
    """
    if torch.jit.is_scripting() or not torch.compiler.is_compiling():  # type: ignore[attr-defined]
        return lstm_gates(affine(bias, rows, weight), cells)
    split = weight.shape[1] - cells.shape[2]
    squashed = torch.addmm(bias[:split], rows, weight[:, :split]).sigmoid()
    return _next_state(squashed, torch.addmm(bias[split:], rows, weight[:, split:]).tanh(), cells)


def _plain_gates(gates: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
    # Few calls, for their number is what a small batch waits for.
    width = cells.shape[2]
    squashed, update = torch.split(gates, [gates.shape[1] - width, width], 1)
    return _next_state(squashed.sigmoid(), update.tanh(), cells)


def _next_state(squashed: Tensor, update: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
    """`lstm_gates` of squashed gates i, f_1 .. f_N, o (n, (2 + N) H) and g (n, H)."""
    children, width = cells.shape[1], cells.shape[2]
    taken, output = torch.split(squashed, [(1 + children) * width, width], 1)
    # None at a leaf. A list, for an `if` on a size would be traced as it was.
    inner = [children for _ in range(children)][:1]
    cell = update
    for _ in inner:
        cell = torch.cat([cell, cells.flatten(1)], 1)
    cell = taken * cell
    for count in inner:
        cell = cell.view(-1, 1 + count, width).sum(1)
    return output * cell.tanh(), cell


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
    if torch.is_grad_enabled() and _is_eager():
        dtype = _dtype_of(rows)
        if (use := shared(weight, dtype)) is not None:
            inputs = bias.to(dtype), rows.to(dtype), use.weight
            summed: Tensor = _Affine.apply(*inputs, use.factors)  # type: ignore[no-untyped-call]
            return summed
    if not _suits_onednn(rows, weight):
        return torch.addmm(bias, rows, weight)
    if not torch.is_grad_enabled():
        return _product(rows, weight, bias)
    result: Tensor = _Affine.apply(bias, rows, weight, None)  # type: ignore[no-untyped-call]
    return result


def _dtype_of(rows: Tensor) -> torch.dtype:
    """The type in which a product is computed."""
    kind = rows.device.type
    lower = torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
    return torch.get_autocast_dtype(kind) if lower else rows.dtype


def _suits_onednn(rows: Tensor, weight: Tensor) -> bool:
    if _LINEAR is None or not _is_eager_float32(rows) or rows.shape[0] < _LEAST_ROWS:
        return False
    size = weight.numel()
    return size >= _SMALL_MATRIX or rows.shape[0] * size >= _SMALL_PRODUCT


def _product(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    if _suits_onednn(rows, weight):
        result: Tensor = _LINEAR(_dense(rows), _dense(weight).t(), bias, "none", [], "")
        return result
    return rows @ weight if bias is None else torch.addmm(bias, rows, weight)


def _dense(matrix: Tensor) -> Tensor:
    """The same without gaps, with which oneDNN is a thousand times slower."""
    return matrix if matrix.is_contiguous() or matrix.t().is_contiguous() else matrix.contiguous()


class _Affine(torch.autograd.Function):
    """y = b + x W. With the gradient G of y (n, W):
    db = sum over the rows of G, dx = G W', dW = x' G, or x and G are kept."""

    @staticmethod
    def forward(
        ctx: Any, bias: Tensor, rows: Tensor, weight: Tensor, factors: Factors | None
    ) -> Tensor:
        ctx.save_for_backward(rows, weight)
        ctx.factors = factors
        return _product(rows, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        rows, weight = ctx.saved_tensors
        for_bias, for_rows, for_weight, _ = ctx.needs_input_grad
        if ctx.factors is not None:
            keep_factors(ctx.factors, rows, grad)
            for_weight = False
        return (
            grad.sum(0) if for_bias else None,
            _product(grad, weight.t()) if for_rows else None,
            _product(rows.t(), grad) if for_weight else None,
            None,
        )


def _tanh_(values: Tensor) -> Tensor:
    """tanh(x) = 2 sigmoid(2x) - 1 in place, to the same absolute error."""
    if values.numel() < _SMALL or not _is_eager_float32(values):
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
    width = cells.shape[2]
    split = gates.shape[1] - width
    squashed, update = gates.split_with_sizes([split, width], 1)
    enter, *keep, leave = squashed.sigmoid_().chunk(split // width, 1)  # i, f_1 .. f_N, o
    cell = enter * _tanh_(update)
    for k, child in enumerate(cells.unbind(1)):
        cell.addcmul_(keep[k], child)
    tanh = _tanh_(cell.clone())
    return leave * tanh, cell, tanh


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
        grad_gates, grad_cells = torch.empty_like(gates), torch.empty_like(cells)
        squashed, update = gates.split_with_sizes([split, width], 1)
        grads = grad_gates.split_with_sizes([split, width], 1)
        enter, *keep, leave = squashed.chunk(split // width, 1)
        grad_enter, *grad_keep, grad_leave = grads[0].chunk(split // width, 1)
        grad_cell = aten.tanh_backward(grad_hidden * leave, tanh).add_(grad_last)
        torch.mul(grad_cell, update, out=grad_enter)
        torch.mul(grad_hidden, tanh, out=grad_leave)
        for k, child in enumerate(cells.unbind(1)):
            torch.mul(grad_cell, child, out=grad_keep[k])
            torch.mul(grad_cell, keep[k], out=grad_cells[:, k])
        aten.sigmoid_backward.grad_input(grads[0], squashed, grad_input=grads[0])
        torch.mul(grad_cell, enter, out=grads[1])
        aten.tanh_backward.grad_input(grads[1], update, grad_input=grads[1])
        return grad_gates, grad_cells
