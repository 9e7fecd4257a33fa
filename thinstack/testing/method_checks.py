"""Contract checks of the methods of a cell or task head by themselves."""

import re
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.gradcheck import GradcheckError

from thinstack.core.head import TaskHead
from thinstack.testing.forests import apart
from thinstack.testing.methods import OWNER, Method, Values
from thinstack.testing.subject import Subject

__all__ = [
    "built_as_asked",
    "gradients",
    "inputs_are_kept",
    "rows_are_independent",
    "takes_no_rows",
]

AnySubject = Subject[Any]

ROWS, TOLERANCE = 6, 1e-10


def built_as_asked(subject: AnySubject) -> None:
    """It has the sizes that it was asked for, its methods return them, and its parameters are there
    from the start."""
    plugin, contract = subject.create(), subject.contract
    if not isinstance(plugin, contract):
        raise AssertionError(
            f"it is a {type(plugin).__name__}; derive it from {contract.__module__}."
            f"{contract.__name__}"
        )
    for size in subject.kept:
        if getattr(plugin, size) != subject.sizes[size]:
            raise AssertionError(
                f"{size} is {getattr(plugin, size)} where {subject.sizes[size]} was asked for; "
                f"hand the {size} that __init__ gets on to {contract.__name__}.__init__"
            )
    if (misfit := subject.misfit(plugin)) is not None:
        raise AssertionError(misfit)
    names = set(dict(plugin.named_parameters()))
    for name, parameter in plugin.named_parameters():
        uninitialised = isinstance(parameter, nn.parameter.UninitializedParameter)
        if uninitialised or not bool(parameter.isfinite().all()):
            raise AssertionError(
                f"parameter {name!r} has no finite values after __init__; create it in its shape "
                "and fill it there"
            )
    for dtype in (torch.float32, torch.float64):
        for method in subject.methods(plugin.to(dtype).eval(), ROWS, dtype=dtype).values():
            _is_as_asked(method, dtype)
    if added := set(dict(plugin.named_parameters())) - names:
        raise AssertionError(
            f"parameters {sorted(added)} appear at the first call; create them in __init__, from "
            "the sizes"
        )


def _is_as_asked(method: Method, dtype: torch.dtype) -> None:
    given = {name: [tuple(part.shape) for part in of] for name, of in method.values.items()}
    try:
        found = method()
    except Exception as error:
        raise AssertionError(
            f"{method.name} of shapes {given} raises {type(error).__name__}: {error!s:.200}. Make "
            "the weights fit the sizes handed to the contract's __init__, or hand on others; a "
            "head gets rows of the width that it `reads` (thinstack.core.head.Reads)"
        ) from None
    shapes, expected = [tuple(part.shape) for part in found], method.shapes(ROWS)
    if shapes != expected:
        raise AssertionError(
            f"{method.name} gives shapes {shapes} for {ROWS} rows, expected {expected}: mend it, "
            "or the sizes handed to the contract's __init__"
        )
    if any(part.dtype != dtype for part in found):
        raise AssertionError(
            f"{method.name} gives {[str(part.dtype) for part in found]} from inputs and weights of "
            f"{dtype}; make new tensors by new_zeros and its like, and store constants with "
            "register_buffer"
        )


def inputs_are_kept(subject: AnySubject) -> None:
    """No method overwrites what it is given; only `children` are compose's to overwrite."""
    plugin = subject.random()
    with torch.no_grad():
        for method in subject.methods(plugin, ROWS).values():
            before = {name: [part.clone() for part in of] for name, of in method.values.items()}
            method.run(method.values)
            for name in sorted(method.values.keys() - {"children"}):
                if apart(method.values[name], before[name]) > 0:
                    raise AssertionError(
                        f"{method.name} overwrites {name}, which others read after it; take the "
                        f"operation without the trailing underscore, or clone {name} first"
                    )


def takes_no_rows(method: Method) -> None:
    """Check that no rows have results of no rows."""
    try:
        shapes = [tuple(part.shape) for part in method(method.only(None))]
    except Exception as error:
        raise AssertionError(
            f"{method.name} of no rows raises {type(error).__name__}: {error!s:.200}. Take widths "
            "from attributes and not from a -1 in view or reshape, and use no maximum or mean over "
            "rows"
        ) from None
    if shapes != method.shapes(0):
        raise AssertionError(
            f"{method.name} of no rows gives shapes {shapes}, expected {method.shapes(0)}; make as "
            "many rows as there are"
        )


def rows_are_independent(subject: AnySubject) -> None:
    """In evaluation mode a row of a result depends on that row, or node, alone, however many are
    computed together."""
    plugin = subject.random()
    others = subject.methods(plugin, ROWS, seed=1)
    with torch.no_grad():
        for name, method in subject.methods(plugin, ROWS).items():
            if method.widths:
                _rows_are_independent(method, others[name].values)


def _rows_are_independent(method: Method, other: Values) -> None:
    whole = method()
    _stays(method(), whole, f"{method.name} gives other results when it is called again", AGAIN)
    if OWNER in method.values and len(method.values[OWNER][0]) > 0:
        linked = ("children", OWNER, "links.kind")
        turned = {name: [part.flip(0) for part in method.values[name]] for name in linked}
        _stays(
            method(method.values | turned),
            whole,
            f"{method.name} depends on the order of the child states",
            "They come in no promised order: find the node of each by `links.owner`, as "
            "sum_by_owner does",
        )
    for row in range(ROWS):
        rest = torch.arange(ROWS) != row
        for name in sorted(method.values.keys() - {OWNER}):
            _stays(
                [part[rest] for part in method(method.replaced(row, other, name))],
                [part[rest] for part in whole],
                f"{method.name} reads other rows of `{name}` than its own, such as row {row}",
                "Work on each row by itself: no mean, sum, maximum or normalisation along "
                "dimension 0; sum over children with sum_by_owner; normalise with LayerNorm "
                "instead of BatchNorm",
            )
        _stays(
            method(method.only(row)),
            [part[row : row + 1] for part in whole],
            f"{method.name} depends on the number of rows: row {row} of {ROWS} by itself",
            "Do not branch on the number of rows, nor calculate with it",
        )


AGAIN = (
    "Keep nothing between two calls, and draw no random numbers in evaluation mode (nn.Dropout "
    "knows it, functional.dropout must be told)"
)


def _stays(found: list[Tensor], expected: list[Tensor], what: str, mend: str) -> None:
    if (moved := apart(found, expected)) > TOLERANCE:
        raise AssertionError(f"{what}: results differ by {moved:.2g}. {mend}")


def gradients(subject: AnySubject) -> None:
    """Each method's gradients are those of finite differences, for what it reads and for
    parameters; a head's scores need not have any."""
    plugin = subject.random()
    parameters = {name: of for name, of in plugin.named_parameters() if of.requires_grad}
    for method in subject.methods(plugin, 3).values():
        if method.smooth:
            # Heads may be wide: theirs are compared along a random direction.
            _gradients(method, parameters, fast=isinstance(plugin, TaskHead))


def _gradients(method: Method, parameters: dict[str, nn.Parameter], *, fast: bool) -> None:
    names = [name for name in method.smooth for _ in method.values[name]]
    given = [
        part.clone().requires_grad_() for name in method.smooth for part in method.values[name]
    ]

    def run(*tensors: Tensor) -> tuple[Tensor, ...]:
        taken: Values = {name: [] for name in method.smooth}
        for name, tensor in zip(names, tensors, strict=False):
            taken[name].append(tensor)
        return tuple(method(method.values | taken))

    try:
        torch.autograd.gradcheck(run, (*given, *parameters.values()), fast_mode=fast)
    except GradcheckError as error:
        found = re.search(r"with respect to input (\d+)", str(error))
        names += parameters
        of = f" with respect to {names[int(found[1])]}" if found else ""
        raise AssertionError(
            f"the gradient of {method.name}{of} is not that of finite differences. Mend the "
            "backward of its autograd.Function, or take out detach, .data and in-place operations "
            "on what autograd has saved"
        ) from None
