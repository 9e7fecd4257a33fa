"""Three operations that an eager float32 model on a CPU does faster by a detour; everything else
takes torch's own.

`affine` goes through oneDNN, which on the AMD processor that it was measured on is twice as fast as
`torch.addmm`, that is MKL; torch has no public name for it on plain tensors. `tanh_` goes through
the sigmoid, which torch vectorises itself. `dropout` draws eight entries at once, a byte each,
where `Tensor.bernoulli_` draws a double for every entry. `torch.backends.mkldnn.enabled = False`
switches all off.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

__all__ = ["affine", "dropout", "tanh_"]

_LINEAR: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)  # not in every build of torch
_SMALL = 4096  # entries below which the extra calls of `tanh_` cost more than they save
# A product of fewer multiplications, by a smaller matrix, gains nothing from oneDNN and loses what
# that spends on a new shape.
_SMALL_PRODUCT, _SMALL_MATRIX = 1 << 22, 1 << 18


def affine(bias: Tensor, rows: Tensor, weight: Tensor) -> Tensor:
    """bias (W,) + rows (n, K) @ weight (K, W)."""
    if not torch.jit.is_scripting():  # type: ignore[attr-defined]
        return _affine(bias, rows, weight)
    return torch.addmm(bias, rows, weight)


def tanh_(values: Tensor) -> Tensor:
    """The hyperbolic tangent in place, as 2 sigmoid(2x) - 1 where that is faster: to the same
    absolute error."""
    if not torch.jit.is_scripting():  # type: ignore[attr-defined]
        return _tanh_(values)
    return values.tanh_()


def dropout(values: Tensor, p: float) -> Tensor:
    """Each entry 0 with probability p in [0, 1), and 1 / (1 - p) times itself else; p may be
    rounded to a multiple of 1/256."""
    if not torch.jit.is_scripting():  # type: ignore[attr-defined]
        return _dropout(values, p)
    return functional.dropout(values, p, True)


def _affine(bias: Tensor, rows: Tensor, weight: Tensor) -> Tensor:
    if not (_LINEAR and _eager_float32(rows)) or _is_small(rows, weight):
        return torch.addmm(bias, rows, weight)
    if not torch.is_grad_enabled():
        return _product(rows, weight, bias)
    result: Tensor = _Affine.apply(bias, rows, weight)  # type: ignore[no-untyped-call]
    return result


def _is_small(rows: Tensor, weight: Tensor) -> bool:
    if rows.shape[0] < 2:
        return True
    return weight.numel() < _SMALL_MATRIX and rows.shape[0] * weight.numel() < _SMALL_PRODUCT


def _tanh_(values: Tensor) -> Tensor:
    if not _eager_float32(values) or values.numel() < _SMALL:
        return values.tanh_()
    return values.mul_(2).sigmoid_().mul_(2).sub_(1)


def _dropout(values: Tensor, p: float) -> Tensor:
    level = round(256 * p)
    if not _eager_float32(values) or not 0 < level < 256:
        return functional.dropout(values, p, True)
    numbers = torch.randint(-(1 << 63), (1 << 63) - 1, [-(-values.numel() // 8)])
    kept = numbers.view(torch.uint8)[: values.numel()].view(values.shape) >= level
    return values * (kept.float() * (256 / (256 - level)))


def _eager_float32(values: Tensor) -> bool:
    """Whether `values` is computed on right now: what is traced or exported must hold the plain
    operations."""
    return (
        values.is_cpu
        and values.dtype == torch.float32
        and bool(torch.backends.mkldnn.enabled)
        and not torch.compiler.is_compiling()
        and torch._C._get_tracing_state() is None
        and not torch.is_autocast_enabled("cpu")
    )


def _product(rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    result: Tensor = _LINEAR(_dense(rows), _dense(weight).t(), bias, "none", [], "")
    return result


def _dense(matrix: Tensor) -> Tensor:
    """The same without gaps between rows or columns, for those oneDNN takes a path that is a
    thousand times slower."""
    return matrix if matrix.is_contiguous() or matrix.t().is_contiguous() else matrix.contiguous()


class _Affine(torch.autograd.Function):
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
