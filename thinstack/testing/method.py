"""Methods of a plugin with random arguments for them; compares results, and takes gradients."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

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


Values = dict[str, Tensor]
OWNER, KIND = "links.owner", "links.kind"


class Draw(NamedTuple):
    """How random arguments are drawn: from a seed, in a type, and how they are changed then."""

    seed: int = 0
    dtype: torch.dtype = torch.float64
    change: Callable[[Tensor], Tensor] = torch.clone

    def __call__(self, rows: int, width: int) -> Tensor:
        """Normal random numbers (rows, width), changed."""
        generator = torch.Generator().manual_seed(self.seed + rows)
        numbers = torch.randn([rows, width], generator=generator, dtype=torch.float64)
        return self.change(numbers.to(self.dtype))


DRAW = Draw()


class Method(NamedTuple):
    """A method of a plugin, and random arguments for it."""

    name: str
    run: Callable[..., list[Tensor]]
    values: Values  # its arguments; the parts of a state are `state 0`, `state 1` and so on
    shapes: Sequence[tuple[int, ...]]  # of its results
    smooth: Sequence[str]  # the arguments for which it must have a gradient

    def __call__(self, values: Values | None = None) -> list[Tensor]:
        """The results for copies of the arguments, because a cell may overwrite children. Raises
        AssertionError, which names the method, if it fails."""
        arguments = self.values if values is None else values
        try:
            results = self.run(*(part.clone() for part in arguments.values()))
        except Exception as error:
            sizes = {name: tuple(part.shape) for name, part in arguments.items()}
            problem = f"{type(error).__name__}: {error!s:.200}"
            raise AssertionError(f"{self.name} with shapes {sizes} raises {problem}.") from error
        shapes = [tuple(part.shape) for part in results]
        if values is None and shapes != [*self.shapes]:
            raise AssertionError(f"{self.name} must return shapes {self.shapes}, found {shapes}.")
        return results

    def with_gradients(self) -> tuple[Values, list[Tensor]]:
        """The arguments, and those of them that need a gradient, as leaves of the graph."""
        leaves = {name: self.values[name].clone().requires_grad_() for name in self.smooth}
        return self.values | leaves, list(leaves.values())

    def take(self, rows: Tensor) -> Values:
        """The arguments of these rows (k,) only, with the children of each node in reverse
        order."""
        if OWNER not in self.values:
            return {name: part[rows] for name, part in self.values.items()}
        owner = self.values[OWNER]
        place = torch.full([len(self.values["inputs"])], -1)
        place[rows] = torch.arange(len(rows))
        edges = (place[owner] >= 0).nonzero().squeeze(1).flip(0)
        taken = {
            name: part[rows if name == "inputs" else edges] for name, part in self.values.items()
        }
        return taken | {OWNER: place[owner[edges]]}
