"""Compares results, and takes gradients."""

from collections.abc import Sequence

import torch
from torch import Tensor


def require_alike(
    results: Sequence[Tensor], expected: Sequence[Tensor], what: str, tolerance: float = 1e-10
) -> None:
    """Raise AssertionError, which says `what` they are, if they differ by more."""
    torch.testing.assert_close(
        results, expected, rtol=tolerance, atol=tolerance, msg=lambda how: f"{what} differ. {how}"
    )


def require_finite(parts: Sequence[Tensor], what: str) -> None:
    """Raise AssertionError, which says `what` they are, if a number is NaN or infinite."""
    if not all(bool(part.isfinite().all()) for part in parts):
        raise AssertionError(f"{what} are not all finite.")


def weighted_sum(results: Sequence[Tensor]) -> Tensor:
    """A sum of all results that weighs each number differently, to take gradients of."""
    parts = [part.flatten() for part in results]
    weights = (torch.linspace(-1, 2, len(part), dtype=part.dtype) for part in parts)
    return torch.stack([part @ weight for part, weight in zip(parts, weights, strict=True)]).sum()


def gradients_of(loss: Tensor, sources: Sequence[Tensor]) -> list[Tensor]:
    """Gradients of the loss for its sources; zeros for what has no part in it."""
    if not (sources and loss.requires_grad):
        return [torch.zeros_like(source) for source in sources]
    return list(torch.autograd.grad(loss, sources, allow_unused=True, materialize_grads=True))
