"""The methods of a cell or a task head, each with random rows to call it on and ways to vary
them."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links
from thinstack.core.head import TaskHead

__all__ = ["OWNER", "Method", "Values", "methods_of_cell", "methods_of_head"]

Values = dict[str, list[Tensor]]
"""The tensors of each argument of a method, by name."""

OWNER = "links.owner"


class Method(NamedTuple):
    """A method and what it is called on.

    Attributes:
        name: of the method.
        run: calls it.
        values: its arguments, for n rows.
        place: for each argument the row that each first index of its tensors belongs to.
        widths: of the results (n, width); empty for a loss, which is one number.
        smooth: the arguments that it must have a gradient for.
    """

    name: str
    run: Callable[[Values], list[Tensor]]
    values: Values
    place: dict[str, Tensor]
    widths: list[int]
    smooth: tuple[str, ...] = ()

    def __call__(self, values: Values | None = None) -> list[Tensor]:
        """The results, of copies of the arguments: a cell may overwrite children."""
        return self.run(copied(self.values if values is None else values))

    def shapes(self, n: int) -> list[tuple[int, ...]]:
        """Those of the results for n rows."""
        return [(n, width) for width in self.widths] or [()]

    def replaced(self, row: int, other: Values, argument: str) -> Values:
        """The arguments, with one row of one of them taken from `other`."""

        def mixed(mine: Tensor, others: Tensor) -> Tensor:
            here = (self.place[argument] == row).view([-1] + [1] * (mine.dim() - 1))
            return torch.where(here, others, mine)

        pairs = zip(self.values[argument], other[argument], strict=True)
        return self.values | {argument: [mixed(*pair) for pair in pairs]}

    def only(self, row: int | None) -> Values:
        """The arguments of one row by itself, or of no row."""
        found = {
            name: [part[self.place[name] == (-1 if row is None else row)] for part in parts]
            for name, parts in self.values.items()
        }
        if OWNER in found:
            found[OWNER] = [torch.zeros_like(part) for part in found[OWNER]]
        return found


def copied(values: Values) -> Values:
    """The same in tensors that share nothing."""
    return {name: [part.clone() for part in parts] for name, parts in values.items()}


def methods_of_cell(
    cell: Cell, n: int, *, kinds: int, seed: int = 0, dtype: torch.dtype = torch.float64
) -> dict[str, Method]:
    """`leaf`, `compose` and `output`, for n rows each.

    Child states are leaves of random inputs. Of a fixed arity above 1 some are missing; of any,
    each node has some. Their owners are the same for every seed.
    """
    generator = torch.Generator().manual_seed(seed)
    rows = torch.arange(n)

    def draw(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)

    def states(n: int) -> list[Tensor]:
        return [part.detach() for part in cell.leaf(draw(n, cell.input_size))]

    if cell.arity > 0:
        owner, nodes = rows[:0], rows
        kind = torch.randint(1, kinds + 1, (n, cell.arity), generator=generator)
        for row in range(1, n if cell.arity > 1 else 0, 2):
            kind[row, row // 2 % cell.arity] = 0
        there = (kind > 0).unsqueeze(2)
        children = [
            part.view(n, cell.arity, part.shape[1]) * there for part in states(n * cell.arity)
        ]
    else:
        owner = nodes = torch.cat([rows.flip(0), rows // 2, rows])
        kind = torch.randint(1, kinds + 1, (3 * n,), generator=generator)
        children = states(3 * n)
    values = {
        "inputs": [draw(n, cell.inner_size)],
        "children": children,
        OWNER: [owner],
        "links.kind": [kind],
    }
    place = {"inputs": rows, "children": nodes, OWNER: owner, "links.kind": nodes}

    def compose(values: Values) -> list[Tensor]:
        links = Links(*values[OWNER], *values["links.kind"])
        return cell.compose(values["inputs"][0], values["children"], links)

    def leaf(values: Values) -> list[Tensor]:
        return cell.leaf(*values["inputs"])

    def output(values: Values) -> list[Tensor]:
        return [cell.output(values["state"])]

    words, state = {"inputs": [draw(n, cell.input_size)]}, {"state": states(n)}
    widths = cell.state_sizes
    methods = (
        Method("leaf", leaf, words, {"inputs": rows}, widths, ("inputs",)),
        Method("compose", compose, values, place, widths, ("inputs", "children")),
        Method("output", output, state, {"state": rows}, [cell.hidden_size], ("state",)),
    )
    return {method.name: method for method in methods}


def methods_of_head(
    head: TaskHead, rows: Tensor, scores: Tensor, labels: Tensor
) -> dict[str, Method]:
    """`forward` and `scores` of these rows, `loss` of these scores and labels."""
    given, place = {"rows": [rows]}, {"rows": torch.arange(len(rows))}
    of_loss = dict.fromkeys(("scores", "labels"), torch.arange(len(labels)))
    methods = (
        Method("forward", lambda of: [head(*of["rows"])], given, place, [head.classes], ("rows",)),
        Method("scores", lambda of: [head.scores(*of["rows"])], given, place, [head.classes]),
        Method(
            "loss",
            lambda of: [head.loss(*of["scores"], *of["labels"])],
            {"scores": [scores], "labels": [labels]},
            of_loss,
            [],
            ("scores",),
        ),
    )
    return {method.name: method for method in methods}
