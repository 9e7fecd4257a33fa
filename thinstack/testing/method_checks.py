"""Contract checks of a cell's methods by themselves."""

from itertools import product

import torch
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.testing.forests import apart, batch_of, by_depth, random_forest
from thinstack.testing.rows import METHODS, Rows, rows_of
from thinstack.testing.subject import Subject

__all__ = ["built_as_asked", "inputs_are_kept", "no_rows", "rows_are_independent"]

ROWS, TOLERANCE = 6, 1e-10


def built_as_asked(subject: Subject) -> None:
    """The cell has the sizes that it was asked for, its methods return them, and its parameters are
    there from the start."""
    cell = subject.create()
    if not isinstance(cell, Cell):
        raise AssertionError(
            f"it is a {type(cell).__name__}; derive it from thinstack.core.cell.Cell"
        )
    _sizes(cell, subject)
    names = set(dict(cell.named_parameters()))
    for name, parameter in cell.named_parameters():
        if isinstance(parameter, nn.parameter.UninitializedParameter) or not bool(
            parameter.isfinite().all()
        ):
            raise AssertionError(
                f"parameter {name!r} has no finite values after __init__; create it in its shape "
                "and fill it there"
            )
    for dtype in (torch.float32, torch.float64):
        _results(cell.to(dtype).eval(), subject, dtype)
    forest = random_forest([5, 1], arity=cell.arity, kinds=subject.edge_types(cell), seed=0)
    with torch.no_grad():
        by_depth(DepthOrdered(cell), cell, batch_of(cell, forest))
    if added := set(dict(cell.named_parameters())) - names:
        raise AssertionError(
            f"parameters {sorted(added)} appear at the first call; create them in __init__, from "
            "the sizes"
        )


def _sizes(cell: Cell, subject: Subject) -> None:
    for size in ("input_size", "hidden_size"):
        if getattr(cell, size) != getattr(subject, size):
            raise AssertionError(
                f"{size} is {getattr(cell, size)} where {getattr(subject, size)} was asked for; "
                f"hand the {size} that __init__ gets on to Cell.__init__"
            )
    if cell.inner_size not in {0, subject.inner_size, subject.input_size}:
        raise AssertionError(
            f"inner_size is {cell.inner_size} where {subject.inner_size} was asked for; take the "
            "inner_size that __init__ gets, or 0 if inner nodes read no input, or input_size = "
            f"{subject.input_size} if every node must"
        )
    if 0 < cell.kinds < subject.kinds:
        raise AssertionError(
            f"kinds is {cell.kinds}, but the model has {subject.kinds} edge types; name `kinds` "
            "among the arguments of __init__ "
            "and make room for all of them, or set it to 0 if the cell does not look at edge types"
        )
    if not -1 <= cell.word_part < len(cell.state_sizes):
        raise AssertionError(
            f"word_part is {cell.word_part}, but a state has {len(cell.state_sizes)} parts; count "
            "from 0, or leave it at -1"
        )


def _results(cell: Cell, subject: Subject, dtype: torch.dtype) -> None:
    rows = rows_of(cell, ROWS, kinds=subject.edge_types(cell), dtype=dtype)
    for method, (call, _) in METHODS.items():
        found = call(cell, rows)
        widths = [cell.hidden_size] if method == "output" else cell.state_sizes
        expected = "(n, hidden_size)" if method == "output" else f"state_sizes = {cell.state_sizes}"
        shapes, wanted = [tuple(part.shape) for part in found], [(ROWS, width) for width in widths]
        if shapes != wanted:
            raise AssertionError(
                f"{method} gives shapes {shapes} for {ROWS} rows; expected {expected}, so "
                f"{wanted}: mend {method} or the sizes handed to Cell.__init__"
            )
        if any(part.dtype != dtype for part in found):
            raise AssertionError(
                f"{method} gives {[str(part.dtype) for part in found]} from inputs and weights of "
                f"{dtype}; make new tensors by inputs.new_zeros and its like, and store constants "
                "with register_buffer"
            )


def inputs_are_kept(subject: Subject) -> None:
    """No method overwrites its inputs or links, nor `output` the state. Only `children` are
    compose's to overwrite."""
    cell = subject.random_cell()
    with torch.no_grad():
        for method, (call, _) in METHODS.items():
            rows = rows_of(cell, ROWS, kinds=subject.edge_types(cell))
            before = rows.copied()
            call(cell, rows)
            kept = {
                "inputs": (rows.leaf, rows.inputs),
                "links": rows.links,
                "the state": rows.state,
            }
            were = {
                "inputs": (before.leaf, before.inputs),
                "links": before.links,
                "the state": before.state,
            }
            for name in kept:
                if apart(kept[name], were[name]) > 0:
                    raise AssertionError(
                        f"{method} overwrites {name}, which others read after it; take the "
                        f"operation without the trailing underscore, or clone {name} first"
                    )


def no_rows(subject: Subject) -> None:
    """n = 0 rows work, and so do nodes without a child, in every method and in the executor."""
    cell = subject.random_cell()
    nothing = _nothing(cell)
    for method, (call, _) in METHODS.items():
        try:
            counts = [len(part) for part in call(cell, nothing)]
        except Exception as error:
            raise AssertionError(
                f"{method} of no rows raises {type(error).__name__}: {error!s:.200}. Take widths "
                "from the cell's attributes "
                "and not from a -1 in view or reshape, and use no maximum or mean over rows"
            ) from None
        if any(counts):
            raise AssertionError(
                f"{method} of no rows gives {counts} rows; make as many as `inputs` has"
            )
    childless = rows_of(cell, ROWS, kinds=1)
    none = [part[:0] if cell.arity == 0 else torch.zeros_like(part) for part in childless.children]
    links = Links(
        childless.links.owner[:0],
        childless.links.kind[:0] if cell.arity == 0 else childless.links.kind * 0,
    )
    if not all(bool(part.isfinite().all()) for part in cell.compose(childless.inputs, none, links)):
        raise AssertionError(
            "compose of nodes without children is not finite; clamp a number of children to at "
            "least 1 before dividing by it"
        )
    outputs = by_depth(
        DepthOrdered(cell),
        cell,
        batch_of(cell, random_forest([], arity=cell.arity, kinds=1, seed=0)),
    )
    if any(len(part) for part in outputs):
        raise AssertionError(
            "an empty forest has outputs; make as many rows in leaf, compose and output as "
            "`inputs` has"
        )


def _nothing(cell: Cell) -> Rows:
    """No rows, made without a call of the cell."""
    none = torch.zeros(0, dtype=torch.float64)
    arity = [cell.arity] if cell.arity > 0 else []
    links = Links(torch.zeros(0, dtype=torch.long), torch.zeros([0, *arity], dtype=torch.long))
    children = [none.new_zeros([0, *arity, width]) for width in cell.state_sizes]
    state = [none.new_zeros([0, width]) for width in cell.state_sizes]
    return Rows(
        none.new_zeros([0, cell.input_size]),
        none.new_zeros([0, cell.inner_size]),
        children,
        links,
        state,
    )


def rows_are_independent(subject: Subject) -> None:
    """In evaluation mode a row of a result depends on that row, or node, alone, however many are
    computed together."""
    cell = subject.random_cell()
    kinds = subject.edge_types(cell)
    rows, other = rows_of(cell, ROWS, kinds=kinds, seed=0), rows_of(cell, ROWS, kinds=kinds, seed=1)
    with torch.no_grad():
        _calls_are_alike(cell, rows)
        for method, (call, fields) in METHODS.items():
            whole = call(cell, rows.copied())
            for field, row in product(fields, range(ROWS)):
                _others_stay(
                    method, field, row, whole, call(cell, rows.with_row(row, other, field).copied())
                )
            for row in range(ROWS):
                alone = apart(
                    call(cell, rows.only(row).copied()), [part[row : row + 1] for part in whole]
                )
                if alone > TOLERANCE:
                    raise AssertionError(
                        f"{method} depends on the number of rows: row {row} of {ROWS} differs by "
                        f"{alone:.2g} from the same row "
                        "computed alone. Do not branch on the number of rows, nor calculate with it"
                    )


def _calls_are_alike(cell: Cell, rows: Rows) -> None:
    for method, (call, _) in METHODS.items():
        moved = apart(call(cell, rows.copied()), call(cell, rows.copied()))
        if moved > TOLERANCE:
            raise AssertionError(
                f"{method} gives other results when it is called again: they differ by "
                f"{moved:.2g}. Keep nothing between two calls, and draw no random numbers in "
                "evaluation mode (nn.Dropout knows it, functional.dropout must be told)"
            )
    if cell.arity > 0:
        return
    moved = apart(cell.compose(*rows.shuffled().copied()[1:4]), cell.compose(*rows.copied()[1:4]))
    if moved > TOLERANCE:
        raise AssertionError(
            f"compose depends on the order of the child states: it changes by {moved:.2g} when "
            "they and `links` are shuffled together. They come in no promised order: find the node "
            "of each by `links.owner`, as sum_by_owner does"
        )


def _others_stay(
    method: str, field: str, changed: int, before: list[Tensor], after: list[Tensor]
) -> None:
    for row in set(range(ROWS)) - {changed}:
        moved = apart([part[row] for part in after], [part[row] for part in before])
        if moved > TOLERANCE:
            raise AssertionError(
                f"{method} reads other rows of `{field}`: row {row} of its result changed by "
                f"{moved:.2g} when row {changed} was replaced. Work on each row by itself: no "
                "mean, sum, maximum or normalisation along dimension 0; sum over children with "
                "sum_by_owner; normalise with LayerNorm instead of BatchNorm"
            )
