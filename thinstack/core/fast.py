"""The affine map and the activation that cells and encoders share. See
`thinstack.core.products` for what computes them."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from thinstack.core.products import computed_dtype, is_eager, product, suits_onednn
from thinstack.core.shared_weights import Factors, keep_factors, shared


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


def _affine(bias: Tensor, rows: Tensor, weight: Tensor) -> Tensor:
    if torch.is_grad_enabled() and is_eager():
        dtype = computed_dtype(rows)
        if (use := shared(weight, dtype)) is not None:
            inputs = bias.to(dtype), rows.to(dtype), use.weight
            summed: Tensor = _Affine.apply(*inputs, use.factors)  # type: ignore[no-untyped-call]
            return summed
    if not suits_onednn(rows, weight):
        return torch.addmm(bias, rows, weight)
    if not torch.is_grad_enabled():
        return product(rows, weight, bias)
    result: Tensor = _Affine.apply(bias, rows, weight, None)  # type: ignore[no-untyped-call]
    return result


class _Affine(torch.autograd.Function):
    """y = b + x W. With the gradient G of y (n, W):
    db = sum over the rows of G, dx = G W', dW = x' G, or x and G are kept."""

    @staticmethod
    def forward(
        ctx: Any, bias: Tensor, rows: Tensor, weight: Tensor, factors: Factors | None
    ) -> Tensor:
        ctx.save_for_backward(rows, weight)
        ctx.factors = factors
        return product(rows, weight, bias)

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
            product(grad, weight.t()) if for_rows else None,
            product(rows.t(), grad) if for_weight else None,
            None,
        )
