"""Random rows to hand to a cell's methods, of states that the cell itself has made, and ways to
vary them."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links

__all__ = ["METHODS", "Call", "Rows", "rows_of"]


class Rows(NamedTuple):
    """What the methods of a cell read, for n leaves and n inner nodes.

    Attributes:
        leaf: (n, X) inputs of leaves.
        inputs: (n, inner_size) inputs of inner nodes.
        children: each part (n, N, width), or (E, width) for any arity.
        links: of the children.
        state: each part (n, width), of some nodes.
    """

    leaf: Tensor
    inputs: Tensor
    children: list[Tensor]
    links: Links
    state: list[Tensor]

    @property
    def nodes(self) -> Tensor:
        """The node of each first index of `children`."""
        return self.links.owner if self.links.kind.dim() == 1 else torch.arange(len(self.inputs))

    def parts(self, field: str) -> list[Tensor]:
        """The tensors of `leaf`, `inputs`, `children` or `state`."""
        value = getattr(self, field)
        return [value] if isinstance(value, Tensor) else value

    def with_parts(self, field: str, parts: list[Tensor]) -> "Rows":
        """With other tensors in one of these."""
        return Rows(
            **{**self._asdict(), field: parts if field in ("children", "state") else parts[0]}
        )

    def with_row(self, row: int, other: "Rows", field: str) -> "Rows":
        """One row of one of these (and its links, if it is the children) taken from `other`, which
        has the same owners."""
        place = self.nodes if field == "children" else torch.arange(len(self.leaf))

        def mixed(mine: Tensor, others: Tensor) -> Tensor:
            return torch.where((place == row).view([-1] + [1] * (mine.dim() - 1)), others, mine)

        changed = self.with_parts(
            field,
            [mixed(*pair) for pair in zip(self.parts(field), other.parts(field), strict=True)],
        )
        if field != "children":
            return changed
        return changed._replace(
            links=Links(self.links.owner, mixed(self.links.kind, other.links.kind))
        )

    def copied(self) -> "Rows":
        """The same in tensors of its own; a method may overwrite children."""
        children, state = (
            [part.clone() for part in self.children],
            [part.clone() for part in self.state],
        )
        links = Links(self.links.owner.clone(), self.links.kind.clone())
        return Rows(self.leaf.clone(), self.inputs.clone(), children, links, state)

    def only(self, row: int) -> "Rows":
        """One row by itself."""
        here = self.nodes == row
        one = slice(row, row + 1)
        links = Links(torch.zeros_like(self.links.owner[: int(here.sum())]), self.links.kind[here])
        if self.links.kind.dim() == 2:
            links = Links(self.links.owner, self.links.kind[here])
        state = [part[one] for part in self.state]
        return Rows(
            self.leaf[one], self.inputs[one], [part[here] for part in self.children], links, state
        )

    def shuffled(self) -> "Rows":
        """The children of a cell of any arity in another order."""
        order = torch.arange(len(self.links.owner)).flip(0)
        links = Links(self.links.owner[order], self.links.kind[order])
        return self._replace(children=[part[order] for part in self.children], links=links)


def rows_of(
    cell: Cell, n: int, *, kinds: int, seed: int = 0, dtype: torch.dtype = torch.float64
) -> Rows:
    """Random rows. Children are leaves of random inputs. Of a fixed arity above 1 some are missing;
    of any, each node has some.

    The owners are the same for every seed.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)

    if cell.arity > 0:
        kind = torch.randint(1, kinds + 1, (n, cell.arity), generator=generator)
        for row in range(1, n if cell.arity > 1 else 0, 2):
            kind[row, row // 2 % cell.arity] = 0
        links = Links(torch.zeros(0, dtype=torch.long), kind)
        flat = cell.leaf(draw(n * cell.arity, cell.input_size))
        children = [
            (part.view(n, cell.arity, part.shape[1]) * (kind > 0).unsqueeze(2)).detach()
            for part in flat
        ]
    else:
        owner = torch.cat([torch.arange(n).flip(0), torch.arange(n) // 2, torch.arange(n)])
        links = Links(owner, torch.randint(1, kinds + 1, (3 * n,), generator=generator))
        children = [part.detach() for part in cell.leaf(draw(3 * n, cell.input_size))]
    state = [part.detach() for part in cell.leaf(draw(n, cell.input_size))]
    return Rows(draw(n, cell.input_size), draw(n, cell.inner_size), children, links, state)


Call = Callable[[Cell, Rows], list[Tensor]]
"""A method of a cell, called on what it reads of some rows."""


def _leaf(cell: Cell, rows: Rows) -> list[Tensor]:
    return cell.leaf(rows.leaf)


def _compose(cell: Cell, rows: Rows) -> list[Tensor]:
    return cell.compose(rows.inputs, rows.children, rows.links)


def _output(cell: Cell, rows: Rows) -> list[Tensor]:
    return [cell.output(rows.state)]


METHODS: dict[str, tuple[Call, tuple[str, ...]]] = {
    "leaf": (_leaf, ("leaf",)),
    "compose": (_compose, ("inputs", "children")),
    "output": (_output, ("state",)),
}
"""The methods of a cell and the fields of `Rows` that each reads."""
