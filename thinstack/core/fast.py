"""The affine map and the activation that cells and encoders share, and two detours that make them
faster in an eager model.

Products in float32 are computed by oneDNN on AMD processors, where it was twice as fast as
`torch.addmm` (MKL); on Intel's it takes a fifth longer. A model that is traced, exported or
scripted has plain operations, and `torch.backends.mkldnn.enabled = False` turns the detours off.

The gradient of a weight that is used many times is computed as one product. A cell multiplies by
the same matrices at every depth, and for each depth autograd would make a gradient as large as the
matrix and add it up. Within `one_weight_gradient` the factors of these gradients are kept until all
have come, and are multiplied once.
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
    """Whether Linux names AMD as the maker of the processor."""
    with suppress(OSError):
        return b"AuthenticAMD" in Path("/proc/cpuinfo").read_bytes()
    return False


# A private name, since torch offers oneDNN to plain tensors by no public one; None: `torch.addmm`.
_LINEAR: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if _is_amd() else None
# Rows from which oneDNN pays; without AVX-512 MKL is as fast up to there.
_LEAST_ROWS = 2 if torch.backends.cpu.get_cpu_capability() == "AVX512" else 2048
# A product of fewer multiplications, by a smaller matrix, gains nothing from oneDNN and loses what
# that spends on a new shape.
_SMALL_PRODUCT, _SMALL_MATRIX = 1 << 22, 1 << 18


def product(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """The product (n, W) of `rows` (n, K) and `weight` (K, W), plus `bias` (W,) in every row."""
    if suits_onednn(rows, weight):
        result: Tensor = _LINEAR(_dense(rows), _dense(weight).t(), bias, "none", [], "")
        return result
    return rows @ weight if bias is None else torch.addmm(bias, rows, weight)


def suits_onednn(rows: Tensor, weight: Tensor) -> bool:
    """Whether oneDNN multiplies these, for it is faster."""
    if _LINEAR is None or not is_eager() or rows.shape[0] < _LEAST_ROWS:
        return False
    if not rows.is_cpu or rows.dtype != torch.float32 or torch.is_autocast_enabled("cpu"):
        return False
    size = weight.numel()
    return size >= _SMALL_MATRIX or rows.shape[0] * size >= _SMALL_PRODUCT


def _dense(matrix: Tensor) -> Tensor:
    """The same without gaps, with which oneDNN is a thousand times slower."""
    return matrix if matrix.is_contiguous() or matrix.t().is_contiguous() else matrix.contiguous()


def is_eager() -> bool:
    """Whether values are computed right now, not recorded, and the detours are on."""
    return (
        bool(torch.backends.mkldnn.enabled)
        and not torch.compiler.is_compiling()
        and not torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
    )


def computed_dtype(rows: Tensor) -> torch.dtype:
    """The type in which a product of `rows` is computed; autocast may have another than theirs."""
    kind = rows.device.type
    lower = torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
    return torch.get_autocast_dtype(kind) if lower else rows.dtype


# Private torch API: the id of the running backward pass. If it is missing, each use of a weight has
# a gradient of its own.
_PASS_ID: Any = getattr(torch._C, "_current_graph_task_id", None)
# No batch has as many rows as the last, and oneDNN compiles a product anew for every number.
_ROWS = 32

Factors = dict[int, list[tuple[Tensor, Tensor]]]
"""What the gradient of a weight is made of: for the number of each backward pass, pairs of rows x
(n, K) and the gradient G (n, W) of x times the weight."""


class Shared(NamedTuple):
    """A weight in use.

    Attributes:
        origin: the original weight; it is kept so that no other tensor takes its place in memory.
        weight: the weight to multiply by.
        factors: what the gradient of `weight` is made of; each backward pass fills it.
    """

    origin: Tensor
    weight: Tensor
    factors: Factors


_block = local()


@contextmanager
def one_weight_gradient() -> Iterator[None]:
    """Within this block, the gradient of each weight of `affine` is one
    product x' G, over all rows x that the weight was multiplied with. Gradients of gradients are
    not possible."""
    before = getattr(_block, "weights", None)
    _block.weights = {}
    try:
        yield
    finally:
        _block.weights = before


def shared(weight: Tensor, dtype: torch.dtype) -> Shared | None:
    """The weight to use instead of `weight`, in the type `dtype`. None outside a block, and if no
    gradient is wanted."""
    weights: dict[Any, Shared] | None = getattr(_block, "weights", None)
    if weights is None or _PASS_ID is None or not weight.requires_grad:
        return None
    # A slice of a parameter is another tensor at each call, but of the same memory.
    key = (weight.data_ptr(), weight.shape, weight.stride(), type(weight.grad_fn), dtype)
    if key not in weights:
        factors: Factors = {}
        taken = _Factors.apply(weight, dtype, factors)  # type: ignore[no-untyped-call]
        weights[key] = Shared(weight, taken, factors)
    return weights[key]


class _Factors(torch.autograd.Function):
    """W in another type. Its gradient is x' G, from the factors of all uses: autograd calls
    `backward` after the last use has kept its own."""

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
        return product(rows.t(), grads), None, None  # autograd casts it to the type of W


def _padded(parts: Sequence[Tensor]) -> Tensor:
    """All rows of `parts` and rows of zeros, up to a multiple of `_ROWS`."""
    missing = -sum(len(part) for part in parts) % _ROWS
    return torch.cat([*parts, parts[0].new_zeros([missing, parts[0].shape[1]])])


def affine(bias: Tensor, rows: Tensor, weight: Tensor) -> Tensor:
    """The sums (n, W) of `bias` (W,) and the product of `rows` (n, K) and `weight` (K, W)."""
    if not torch.jit.is_scripting():  # type: ignore[attr-defined]
        return _affine(bias, rows, weight)
    return torch.addmm(bias, rows, weight)


def matmul(rows: Tensor, weight: Tensor) -> Tensor:
    """The product (n, W) of `rows` (n, K) and `weight` (K, W), which is faster by `affine`."""
    return affine(rows.new_zeros([weight.shape[1]]), rows, weight)


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
            number, for_weight = _PASS_ID(), False
            if number not in ctx.factors:
                ctx.factors.clear()  # left by a pass that never reached the weight
            ctx.factors.setdefault(number, []).append((rows, grad))
        return (
            grad.sum(0) if for_bias else None,
            product(grad, weight.t()) if for_rows else None,
            product(rows.t(), grad) if for_weight else None,
            None,
        )
