"""Computes the gradient of a weight that is used many times as one product.

A cell multiplies by the same matrices at every depth. For each depth, autograd would make a
gradient as large as the matrix and add it up. Within `one_weight_gradient` the factors of these
gradients are kept until all have come, and are multiplied once.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import local
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from thinstack.core.products import product

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
        factors: what the gradient of `weight` is made of; `keep_factors` fills it.
    """

    origin: Tensor
    weight: Tensor
    factors: Factors


_block = local()


@contextmanager
def one_weight_gradient() -> Iterator[None]:
    """Within this block, the gradient of each weight of `thinstack.core.fast.affine` is one
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


def keep_factors(factors: Factors, rows: Tensor, grad: Tensor) -> None:
    """Keep rows x (n, K) and their gradient G (n, W) of one use of a weight. Call it in the
    backward pass."""
    number = _PASS_ID()
    if number not in factors:
        factors.clear()  # left by a pass that never reached the weight
    factors.setdefault(number, []).append((rows, grad))


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
