"""A method of a plugin, and random arguments for it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

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
            raise AssertionError(f"{self.name} of shapes {sizes} raises {problem}.") from error
        shapes = [tuple(part.shape) for part in results]
        if values is None and shapes != [*self.shapes]:
            raise AssertionError(f"{self.name} returns shapes {shapes}, expected {self.shapes}.")
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
