"""Whether a cell goes with the trees of a model."""

from thinstack.core.cell import Cell
from thinstack.core.config import TreeKind


def misfit(cell: Cell, trees: TreeKind, inner_size: int, *, layer: int) -> str:
    """Why a cell cannot be that of this layer of a model of such trees; empty where it can."""
    arity = {"binary": 2, "sequence": 1}.get(trees)
    if arity and cell.arity not in (0, arity):
        problem = f"a model of {trees} trees needs arity {arity} (or 0, any number)"
    elif not arity and cell.arity == 1:
        problem = f"a model of {trees} trees needs arity 0 (any number) or above 1"
    elif cell.inner_size == inner_size:
        return ""
    elif inner_size == 0:
        problem = f"{trees} trees have words at their leaves only, so it needs inner_size 0"
    else:
        place = f"layer {layer} of a deep encoder" if layer > 1 else f"a model of {trees} trees"
        input_ = f"an input of width {inner_size} at every node"
        problem = f"{place} has {input_}, which it does not read"
    return f"{described(cell)}; {problem}"


def described(cell: Cell) -> str:
    """The sizes of a cell, in words."""
    return (
        f"{type(cell).__name__} has arity {cell.arity}, input_size {cell.input_size} and "
        f"inner_size {cell.inner_size}"
    )
