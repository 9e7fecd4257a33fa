"""The methods of a cell or a task head, each with random rows to call it on and ways to vary
them."""

from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links
from thinstack.core.head import TaskHead

Values = dict[str, list[Tensor]]
"""The tensors of each argument of a method, by name."""

Change = Callable[[Tensor], Tensor]
"""What makes other inputs of random ones."""

CROWD, CROWDED = 600, 100
"""One node of a batch of at least CROWDED has CROWD children, if a cell takes any number."""

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

    def with_leaves(self, rows: Tensor | None = None) -> tuple[Values, list[Tensor]]:
        """The arguments, of all rows or of these, and among them what the method must have a
        gradient for, as leaves of the graph."""
        values = dict(self.values) if rows is None else self.taken(rows)
        for name in self.smooth:
            values[name] = [part.clone().requires_grad_() for part in values[name]]
        return values, [part for name in self.smooth for part in values[name]]

    def shapes(self, n: int) -> list[tuple[int, ...]]:
        """The shapes of the results for n rows."""
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
        return self.taken(
            torch.tensor([], dtype=torch.int64) if row is None else torch.tensor([row])
        )

    def taken(self, rows: Tensor) -> Values:
        """The arguments of these rows (k,), no row twice, in the order given."""
        first = next(iter(self.values.values()))[0]
        place = torch.full([len(first)], -1)
        place[rows] = torch.arange(len(rows))
        if not self.has_owners:
            alone = self.values.keys() - {OWNER}
            return self.values | {n: [part[rows] for part in self.values[n]] for n in alone}
        kept = place[self.values[OWNER][0]] >= 0
        found = {
            name: [part[kept if name in LINKED else rows] for part in parts]
            for name, parts in self.values.items()
        }
        return found | {OWNER: [place[found[OWNER][0]]]}


def copied(cell: Cell) -> Cell:
    """A copy of the cell. Raises AssertionError if it cannot be copied."""
    try:
        return deepcopy(cell)
    except Exception as error:
        raise AssertionError(
            f"it cannot be copied after a call ({error!s:.60}..); keep no results in attributes: "
            "no cache, and nothing from one call to the next"
        ) from error


def methods_of_cell(
    cell: Cell,
    n: int,
    *,
    kinds: int,
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
    change: Change = torch.clone,
) -> dict[str, Method]:
    """`leaf`, `compose` and `output`, for n rows each.

    The inputs are random, and changed as asked. Child states are leaves of such inputs. With a
    fixed arity above 1, some children are missing. With any number, each node has at least one.
    The owners of children are the same for every seed. Child states come from a copy of the cell,
    which is not called itself.
    """
    below = copied(cell)
    generator = torch.Generator().manual_seed(seed)

    def draw(rows: int, width: int) -> Tensor:
        drawn = torch.randn([rows, width], generator=generator, dtype=torch.float64)
        return change(drawn.to(dtype))

    def states(rows: int) -> list[Tensor]:
        found = [part.detach() for part in below.leaf(draw(rows, cell.input_size))]
        shapes = [tuple(part.shape) for part in found]
        if shapes != (expected := [(rows, width) for width in cell.state_sizes]):
            raise AssertionError(
                f"leaf gives shapes {shapes} for {rows} rows, expected {expected}: mend it, or the "
                "sizes handed to the contract's __init__"
            )
        return found

    def leaf(values: Values) -> list[Tensor]:
        return cell.leaf(*values["inputs"])

    def compose(values: Values) -> list[Tensor]:
        links = Links(*values[OWNER], *values["links.kind"])
        return cell.compose(values["inputs"][0], values["children"], links)

    def output(values: Values) -> list[Tensor]:
        return [cell.output(values["state"])]

    owner, kind = _random_links(cell.arity, n, kinds, generator)
    there = (kind > 0).unsqueeze(-1)
    children = [
        torch.where(there, part.reshape(*kind.shape, part.shape[1]), 0.0)
        for part in states(kind.numel())
    ]
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
        counts = 1 + rows % 4
        counts[n // 2 : n // 2 + (n >= CROWDED)] = CROWD
        owner = torch.repeat_interleave(rows, counts)
        owner = owner[torch.randperm(len(owner), generator=torch.Generator().manual_seed(n))]
        return Links(owner, torch.randint(1, kinds + 1, owner.shape, generator=generator))
    kind = torch.randint(1, kinds + 1, [n, arity], generator=generator)
    if arity > 1:  # odd rows miss one child, and half of those all but one
        at = (rows // 2 % arity).unsqueeze(1) == torch.arange(arity)
        kind[(rows % 4 == 1).unsqueeze(1) & at] = 0
        kind[(rows % 4 == 3).unsqueeze(1) & ~at] = 0
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
