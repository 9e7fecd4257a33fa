"""What tests of cells share: random cells in float64, and equations held against them by rows."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links

X, H, ROWS = 3, 4, 5
OWNER = torch.tensor([3, 0, 3, 4, 1, 3])  # row 2 has no child, row 3 has three
NONE = torch.zeros(0, dtype=torch.long)

Array = np.ndarray
State = tuple[Array, ...]
AnyCell = TypeVar("AnyCell", bound=Cell)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def random_cell(
    cell: Callable[..., AnyCell], *, input_size: int = X, hidden_size: int = H, **keywords: Any
) -> AnyCell:
    """A cell in float64 with every parameter drawn from N(0, 1), so that no bias is zero."""
    torch.manual_seed(3)
    built = cell(input_size=input_size, hidden_size=hidden_size, **keywords).double()
    for part in built.parameters():
        nn.init.normal_(part)
    return built


def parameters(cell: Cell) -> dict[str, Array]:
    return {name: part.detach().numpy() for name, part in cell.named_parameters()}


def named(names: Sequence[str], matrix: Array, axis: int = -1) -> dict[str, Array]:
    """Equal blocks of a matrix along an axis, by names in their order."""
    return dict(zip(names, np.split(matrix, len(names), axis=axis), strict=True))


def assert_rows(found: list[Tensor], expected: Callable[[int], State]) -> None:
    for row in range(len(found[0])):
        for part, value in zip(found, expected(row), strict=True):
            np.testing.assert_allclose(part[row].detach(), value, rtol=0, atol=1e-10)


def composed(cell: Cell, x: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
    """What `compose` makes of copies of the children, which it may overwrite."""
    return cell.compose(x, [part.clone() for part in children], links)


def assert_equations(
    cell: Cell,
    node: Callable[[Array | None, list[State], list[int]], State],
    leaf: Callable[[Array], State] | None = None,
    *,
    kinds: int = 1,
) -> None:
    """`compose` and `leaf` do what the equations say of each row.

    Args:
        node: the state of a node from its input (None where it has none), the states of its
            children and the kinds of the links to them; of a fixed arity above 1 some children are
            missing, whose state is zeros and whose kind is 0.
        leaf: that of a leaf from its input; by default of a node without children.
        kinds: number of kinds of links.
    """
    if cell.arity > 0:
        owner = NONE
        kind = torch.arange(ROWS * cell.arity).view(ROWS, cell.arity).flip(0) % kinds + 1
        for row in range(1, ROWS if cell.arity > 1 else 0, 2):
            kind[row, row // 2 % cell.arity] = 0
    else:
        owner, kind = OWNER, torch.arange(len(OWNER)) % kinds + 1
    x = torch.randn(ROWS, cell.inner_size).double()
    children = [
        torch.randn(*kind.shape, width).double() * (kind > 0).unsqueeze(-1)
        for width in cell.state_sizes
    ]

    def of_row(row: int) -> State:
        here = owner == row if cell.arity == 0 else torch.tensor(row)
        below = zip(*(part[here].numpy() for part in children), strict=True)
        return node(x[row].numpy() if cell.inner_size else None, list(below), kind[here].tolist())

    for with_gradients in (True, False):
        with torch.set_grad_enabled(with_gradients):
            assert_rows(composed(cell, x, children, Links(owner, kind)), of_row)
    words = torch.randn(ROWS, cell.input_size).double()
    of_leaf = leaf or (lambda word: node(word, [], []))
    assert_rows(cell.leaf(words), lambda row: of_leaf(words[row].numpy()))
