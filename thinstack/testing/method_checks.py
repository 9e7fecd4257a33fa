"""Contract checks of the methods of a cell or task head by themselves."""

import re
from typing import Any

import torch
from torch import nn
from torch.autograd.gradcheck import GradcheckError

from thinstack.core.head import TaskHead
from thinstack.testing.forests import apart, require_alike
from thinstack.testing.methods import LINKED, OWNER, Method, Values
from thinstack.testing.subject import Subject

AnySubject = Subject[Any]

ROWS = 6


def built_as_asked(subject: AnySubject) -> None:
    """It has the sizes that it was asked for. From inputs of the sizes that the contract's __init__
    got, its methods return results of these sizes. Its parameters are there from the start."""
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
    before = dict(plugin.named_parameters())
    for name, parameter in before.items():
        uninitialised = isinstance(parameter, nn.parameter.UninitializedParameter)
        if uninitialised or not bool(parameter.isfinite().all()):
            raise AssertionError(
                f"parameter {name!r} has no finite values after __init__; create it in its shape "
                "and fill it there"
            )
    for dtype in (torch.float32, torch.float64):
        for method in subject.methods(plugin.to(dtype).eval(), ROWS, dtype=dtype).values():
            has_shapes(method, method.values, ROWS, dtype)
    if added := sorted(dict(plugin.named_parameters()).keys() - before):
        raise AssertionError(
            f"parameters {added} appear at the first call; create them in __init__, from the sizes"
        )


def has_shapes(method: Method, values: Values, n: int, dtype: torch.dtype = torch.float64) -> None:
    """Check that values of n rows have results of n rows, and of the type of the inputs."""
    found = method(values)
    shapes = [tuple(part.shape) for part in found]
    if shapes != method.shapes(n):
        raise AssertionError(
            f"{method.name} gives shapes {shapes} for {n} rows, expected {method.shapes(n)}: mend "
            "it, or the sizes handed to the contract's __init__"
        )
    if any(part.dtype != dtype for part in found):
        raise AssertionError(
            f"{method.name} gives {[str(part.dtype) for part in found]} from inputs and weights of "
            f"{dtype}; make new tensors by new_zeros and its like, and store constants with "
            "register_buffer"
        )


def inputs_are_kept(subject: AnySubject) -> None:
    """No method overwrites what it is given, which others read after it; only `children` are
    compose's to overwrite."""
    for n in (ROWS, 1):
        for training, graph in ((False, False), (False, True), (True, False)):
            plugin = subject.random().train(training and n > 1)
            for method in subject.methods(plugin, n).values():
                with torch.set_grad_enabled(graph), torch.random.fork_rng(devices=[]):
                    _inputs_are_kept(method, "in training mode" if training else "")


def _inputs_are_kept(method: Method, mode: str) -> None:
    before = {name: [part.clone() for part in of] for name, of in method.values.items()}
    method.run(method.values)
    if any(part.requires_grad for of in method.values.values() for part in of):
        raise AssertionError(
            f"{method.name} turns requires_grad on for what it is given; leave that to the caller"
        )
    for name in sorted(method.values.keys() - {"children"}):
        if apart(method.values[name], before[name]) > 0:
            raise AssertionError(
                f"{method.name} overwrites {name} {mode}".rstrip() + "; take the operation without "
                f"the trailing underscore, or clone {name} first"
            )


def rows_are_independent(subject: AnySubject) -> None:
    """In evaluation mode a row of a result depends on that row, or node, and on no other, however
    many are computed together."""
    plugin = subject.random()
    others = subject.methods(plugin, ROWS, seed=1)
    with torch.no_grad():
        for name, method in subject.methods(plugin, ROWS).items():
            if method.widths:
                _rows_are_independent(method, others[name].values)


def _rows_are_independent(method: Method, other: Values) -> None:
    whole, again = method(), method()
    require_alike(again, whole, f"{method.name} gives other results when called again", AGAIN)
    if method.has_owners:
        turned = {name: [part.flip(0) for part in method.values[name]] for name in LINKED}
        found = method(method.values | turned)
        what = f"{method.name} depends on the order of the child states"
        require_alike(found, whole, what, IN_ORDER)
    for row in range(ROWS):
        rest = torch.arange(ROWS) != row
        others = [part[rest] for part in whole]
        for name in sorted(method.values.keys() - {OWNER}):
            found = [part[rest] for part in method(method.replaced(row, other, name))]
            what = f"{method.name} reads other rows of `{name}` than its own, such as row {row}"
            require_alike(found, others, what, MIXED)
            large = {name: [part * 1e4 for part in other[name]]}
            if other[name][0].is_floating_point():
                found = [part[rest] for part in method(method.replaced(row, large, name))]
                what = f"{method.name} gives other rows less where `{name}` of row {row} is large"
                require_alike(found, others, what, LARGE)
        mine = [part[row : row + 1] for part in whole]
        what = f"{method.name} depends on the number of rows: row {row} of {ROWS} by itself"
        require_alike(method(method.only(row)), mine, what, COUNTED)


AGAIN = (
    "keep nothing between two calls, and draw no random numbers in evaluation mode (nn.Dropout "
    "knows it, functional.dropout must be told)"
)
IN_ORDER = "find the node of each by `links.owner`, as sum_by_owner does"
MIXED = (
    "take no mean, sum, maximum or normalisation along dimension 0; sum over children with "
    "sum_by_owner; normalise with LayerNorm instead of BatchNorm"
)
LARGE = (
    "scale nothing by a maximum or norm over all rows, nor subtract one before exp: take that of "
    "each node, or softmax along dimension 1"
)
COUNTED = "do not branch on the number of rows, nor calculate with it or with where a row stands"


def gradients(subject: AnySubject) -> None:
    """Each method has the gradients that finite differences give, for what it reads and for
    parameters. The scores of a head need not have any."""
    plugin = subject.random()
    parameters = {name: of for name, of in plugin.named_parameters() if of.requires_grad}
    for method in subject.methods(plugin, 3).values():
        if method.smooth:
            # Heads may be wide: theirs are compared along a random direction.
            _gradients(method, parameters, fast=isinstance(plugin, TaskHead))


def _gradients(method: Method, parameters: dict[str, nn.Parameter], *, fast: bool) -> None:
    names = [name for name in method.smooth for _ in method.values[name]]
    _, leaves = method.with_leaves()

    def run(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        taken: Values = {name: [] for name in method.smooth}
        for name, tensor in zip(names, tensors, strict=False):
            taken[name].append(tensor)
        return tuple(method(method.values | taken))

    try:
        torch.autograd.gradcheck(run, (*leaves, *parameters.values()), fast_mode=fast)
    except GradcheckError as error:
        found = re.search(r"with respect to input (\d+)", str(error))
        names += parameters
        of = f" with respect to {names[int(found[1])]}" if found else ""
        raise AssertionError(
            f"the gradient of {method.name}{of} is not that of finite differences. Mend the "
            "backward of its autograd.Function, or take out detach, .data and in-place operations "
            "on what autograd has saved"
        ) from None
