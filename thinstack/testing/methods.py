"""The methods of a cell or a task head, each with random rows to call it on and ways to vary
them."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links
from thinstack.core.head import TaskHead

__all__ = ["LINKED", "OWNER", "Method", "Values", "methods_of_cell", "methods_of_head"]

Values = dict[str, list[Tensor]]
"""The tensors of each argument of a method, by name."""

OWNER = "links.owner"
LINKED = ("children", OWNER, "links.kind")
"""The arguments of `compose` that hold a row for each child where a node has any number of them."""


class Method(NamedTuple):
    """A method and what it is called on.

    Attributes:
        name: of the method.
        run: calls it.
        values: its arguments, for n rows.
        widths: of the results (n, width); empty for a loss, which is one number.
        smooth: the arguments that it must have a gradient for.
    """

    name: str
    run: Callable[[Values], list[Tensor]]
    values: Values
    widths: list[int]
    smooth: tuple[str, ...] = ()

    def __call__(self, values: Values | None = None) -> list[Tensor]:
        """The results, of copies of the arguments: a cell may overwrite children. An error that the
        method raises becomes an AssertionError that names it."""
        given = self.values if values is None else values
        try:
            return self.run({name: [part.clone() for part in of] for name, of in given.items()})
        except Exception as error:
            shapes = {name: [tuple(part.shape) for part in of] for name, of in given.items()}
            raise AssertionError(
                f"{self.name} of shapes {shapes} raises {type(error).__name__}: {error!s:.200}"
            ) from error

    def shapes(self, n: int) -> list[tuple[int, ...]]:
        """Those of the results for n rows."""
        return [(n, width) for width in self.widths] or [()]

    @property
    def has_owners(self) -> bool:
        """Whether `links.owner` says whose each child is."""
        return OWNER in self.values and len(self.values[OWNER][0]) > 0

    def place(self, argument: str) -> Tensor:
        """The row that each first index of the argument's tensors belongs to."""
        if self.has_owners and argument in LINKED:
            return self.values[OWNER][0]
        return torch.arange(len(self.values[argument][0]))

    def replaced(self, row: int, other: Values, argument: str) -> Values:
        """The arguments, with one row of one of them taken from `other`."""
        parts = [part.clone() for part in self.values[argument]]
        here = self.place(argument) == row
        for part, others in zip(parts, other[argument], strict=True):
            part[here] = others[here]
        return self.values | {argument: parts}

    def only(self, row: int | None) -> Values:
        """The arguments of one row by itself, or of no row."""
        kept = -1 if row is None else row
        found = {
            name: [part[self.place(name) == kept] for part in parts]
            for name, parts in self.values.items()
        }
        if OWNER in found:
            found[OWNER] = [torch.zeros_like(part) for part in found[OWNER]]
        return found


def methods_of_cell(
    cell: Cell, n: int, *, kinds: int, seed: int = 0, dtype: torch.dtype = torch.float64
) -> dict[str, Method]:
    """`leaf`, `compose` and `output`, for n rows each.

    Child states are leaves of random inputs. Of a fixed arity above 1 some are missing; of any,
    each node has some. Their owners are the same for every seed.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(rows: int, width: int) -> Tensor:
        return torch.randn([rows, width], generator=generator, dtype=torch.float64).to(dtype)

    def states(rows: int) -> list[Tensor]:
        return [part.detach() for part in cell.leaf(draw(rows, cell.input_size))]

    def leaf(values: Values) -> list[Tensor]:
        return cell.leaf(*values["inputs"])

    def compose(values: Values) -> list[Tensor]:
        links = Links(*values[OWNER], *values["links.kind"])
        return cell.compose(values["inputs"][0], values["children"], links)

    def output(values: Values) -> list[Tensor]:
        return [cell.output(values["state"])]

    owner, kind = _random_links(cell.arity, n, kinds, generator)
    below, there = states(kind.numel()), (kind > 0).unsqueeze(-1)
    children = [part.view(*kind.shape, part.shape[1]) * there for part in below]
    linked = dict(zip(LINKED, (children, [owner], [kind]), strict=True))
    inner = {"inputs": [draw(n, cell.inner_size)], **linked}
    words, state = {"inputs": [draw(n, cell.input_size)]}, {"state": states(n)}
    widths = cell.state_sizes
    methods = (
        Method("leaf", leaf, words, widths, ("inputs",)),
        Method("compose", compose, inner, widths, ("inputs", "children")),
        Method("output", output, state, [cell.hidden_size], ("state",)),
    )
    return {method.name: method for method in methods}


def _random_links(arity: int, n: int, kinds: int, generator: torch.Generator) -> Links:
    rows = torch.arange(n)
    if arity == 0:
        owner = torch.cat([rows.flip(0), rows // 2, rows])
        return Links(owner, torch.randint(1, kinds + 1, [3 * n], generator=generator))
    kind = torch.randint(1, kinds + 1, [n, arity], generator=generator)
    for row in range(1, n if arity > 1 else 0, 2):
        kind[row, row // 2 % arity] = 0
    return Links(rows[:0], kind)


def methods_of_head(
    head: TaskHead, rows: Tensor, scores: Tensor, labels: Tensor
) -> dict[str, Method]:
    """`forward` and `scores` of these rows, `loss` of these scores and labels."""

    def calls(method: Callable[..., Tensor]) -> Callable[[Values], list[Tensor]]:
        return lambda values: [method(*(part for parts in values.values() for part in parts))]

    given, judged = {"rows": [rows]}, {"scores": [scores], "labels": [labels]}
    methods = (
        Method("forward", calls(head), given, [head.classes], ("rows",)),
        Method("scores", calls(head.scores), given, [head.classes]),
        Method("loss", calls(head.loss), judged, [], ("scores",)),
    )
    return {method.name: method for method in methods}
