"""The affine map and the activation of cells and encoders, with two fast paths for eager models.

On AMD processors, oneDNN computes float32 products twice as fast as `torch.addmm` (MKL); on
Intel's, it takes a fifth longer. A model that is traced, exported or scripted uses plain
operations, and `torch.backends.mkldnn.enabled = False` disables the fast paths.

A cell multiplies by the same matrices at every depth, for each of which autograd would compute and
add a gradient of the size of the matrix. Within `one_weight_gradient`, the factors of these
gradients are collected and multiplied once.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import local
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional


def _is_amd() -> bool:
    with suppress(OSError):
        return b"AuthenticAMD" in Path("/proc/cpuinfo").read_bytes()
    return False


# A private name, because torch has no public one for oneDNN on plain tensors. None: `torch.addmm`.
_LINEAR: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if _is_amd() else None
# Minimum rows for oneDNN; without AVX-512, MKL is as fast below.
_LEAST_ROWS = 2 if torch.backends.cpu.get_cpu_capability() == "AVX512" else 2048
# A product of fewer multiplications, by a smaller matrix, gains nothing from oneDNN and pays its
# cost for a new shape.
_SMALL_PRODUCT, _SMALL_MATRIX = 1 << 22, 1 << 18


def product(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return `rows` (n, K) times `weight` (K, W), plus `bias` (W,) in every row: (n, W)."""
    if suits_onednn(rows, weight):
        result: Tensor = _LINEAR(_dense(rows), _dense(weight).t(), bias, "none", [], "")
        return result
    return rows @ weight if bias is None else torch.addmm(bias, rows, weight)


def suits_onednn(rows: Tensor, weight: Tensor) -> bool:
    """Return whether oneDNN should compute the product, because it is faster."""
    if _LINEAR is None or not is_eager() or rows.shape[0] < _LEAST_ROWS:
        return False
    if not rows.is_cpu or rows.dtype != torch.float32 or torch.is_autocast_enabled("cpu"):
        return False
    size = weight.numel()
    return size >= _SMALL_MATRIX or rows.shape[0] * size >= _SMALL_PRODUCT


def _dense(matrix: Tensor) -> Tensor:
    """Return the matrix as contiguous; oneDNN is a thousand times slower with gaps."""
    return matrix if matrix.is_contiguous() or matrix.t().is_contiguous() else matrix.contiguous()


def is_eager() -> bool:
    """Return whether values are computed now, not recorded, and the fast paths are enabled."""
    return (
        bool(torch.backends.mkldnn.enabled)
        and not torch.compiler.is_compiling()
        and not torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
    )


# Private torch API: the id of the running backward pass. If it is missing, each use of a weight
# gets a separate gradient.
_PASS_ID: Any = getattr(torch._C, "_current_graph_task_id", None)
# The number of rows differs for every batch, and oneDNN compiles a product for each number.
_ROWS = 32

Factors = dict[int, list[tuple[Tensor, Tensor]]]
"""The factors of the gradient of a weight: by the id of each backward pass, pairs of rows x (n, K)
and the gradient G (n, W) of x times the weight."""


class Shared(NamedTuple):
    """A weight in use."""

    origin: Tensor  # the original weight, referenced so that its memory is not reused
    weight: Tensor  # the weight to multiply by
    factors: Factors  # of the gradient of `weight`, which each backward pass fills


_block = local()


@contextmanager
def one_weight_gradient() -> Iterator[None]:
    """Within this block, compute the gradient of each weight of `affine` as one product x' G, over
    all rows x that the weight was multiplied by. Higher-order gradients are not possible."""
    before = getattr(_block, "weights", None)
    _block.weights = {}
    try:
        yield
    finally:
        _block.weights = before


def shared(weight: Tensor, dtype: torch.dtype) -> Shared | None:
    """Return the weight to use in `dtype`; None outside a block, and if it needs no gradient."""
    weights: dict[Any, Shared] | None = getattr(_block, "weights", None)
    if weights is None or _PASS_ID is None or not weight.requires_grad:
        return None
    # A slice of a parameter is a different tensor at each call, but the same memory.
    key = (weight.data_ptr(), weight.shape, weight.stride(), type(weight.grad_fn), dtype)
    if key not in weights:
        factors: Factors = {}
        taken = _Factors.apply(weight, dtype, factors)  # type: ignore[no-untyped-call]
        weights[key] = Shared(weight, taken, factors)
    return weights[key]


class _Factors(torch.autograd.Function):
    """W in another dtype. Its gradient is x' G, from the factors of all uses: autograd calls
    `backward` after the last use has stored its factors."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, dtype: torch.dtype, factors: Factors) -> Tensor:
        ctx.factors = factors
        ctx.set_materialize_grads(False)
        return weight.view_as(weight) if weight.dtype == dtype else weight.to(dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: None) -> tuple[Tensor | None, None, None]:
        pairs = ctx.factors.pop(_PASS_ID(), [])
        if not pairs:
            return None, None, None
        rows, grads = (_padded(parts) for parts in zip(*pairs, strict=True))
        return product(rows.t(), grads), None, None  # autograd casts it to W's dtype


def _padded(parts: Sequence[Tensor]) -> Tensor:
    """Concatenate `parts`, padded with zero rows to a multiple of `_ROWS`."""
    missing = -sum(len(part) for part in parts) % _ROWS
    return torch.cat([*parts, parts[0].new_zeros([missing, parts[0].shape[1]])])


def affine(bias: Tensor, rows: Tensor, weight: Tensor) -> Tensor:
    """Return the sum (n, W) of `bias` (W,) and the product of `rows` (n, K) and `weight` (K, W)."""
    if not torch.jit.is_scripting():  # type: ignore[attr-defined]
        if not torch.is_grad_enabled():
            return product(rows, weight, bias)
        if is_eager():
            kind = rows.device.type
            lower = torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
            dtype = torch.get_autocast_dtype(kind) if lower else rows.dtype
            use = shared(weight, dtype)
            if use is not None:
                inputs = bias.to(dtype), rows.to(dtype), use.weight
                summed: Tensor = _Affine.apply(*inputs, use.factors)  # type: ignore[no-untyped-call]
                return summed
        if suits_onednn(rows, weight):
            result: Tensor = _Affine.apply(bias, rows, weight, None)  # type: ignore[no-untyped-call]
            return result
    return torch.addmm(bias, rows, weight)


def matmul(rows: Tensor, weight: Tensor) -> Tensor:
    """Return `rows` (n, K) times `weight` (K, W), (n, W), which is faster by `affine`."""
    return affine(rows.new_zeros([weight.shape[1]]), rows, weight)


def gelu(values: Tensor) -> Tensor:
    """Return x times the probability of a standard normal variable below x (Hendrycks & Gimpel
    2016)."""
    if not torch.jit.is_scripting() and not torch.compiler.is_compiling():  # type: ignore[attr-defined]
        return functional.gelu(values)
    # onnxruntime recognizes this order, and fuses the five operators.
    root_of_two = 1.4142135381698608
    return values * 0.5 * (1.0 + torch.erf(values / root_of_two))


class _Affine(torch.autograd.Function):
    """y = b + x W. With the gradient G of y (n, W):
    db = sum over the rows of G, dx = G W', dW = x' G, or x and G are collected."""

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
            number, for_weight = _PASS_ID(), False
            if number not in ctx.factors:
                ctx.factors.clear()  # from a pass that never reached the weight
            ctx.factors.setdefault(number, []).append((rows, grad))
        return (
            grad.sum(0) if for_bias else None,
            product(grad, weight.t()) if for_rows else None,
            product(rows.t(), grad) if for_weight else None,
            None,
        )
