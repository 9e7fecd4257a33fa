"""Contract checks of a plugin in training mode, in other sizes, and in other types."""

from typing import Any

import torch
from torch import Tensor

from thinstack.errors import ThinstackError
from thinstack.testing.forests import gradients, require_alike, weighted
from thinstack.testing.method_checks import has_shapes
from thinstack.testing.methods import Method, Values
from thinstack.testing.subject import CellSubject, Subject

OTHERS: tuple[dict[str, int], ...] = (
    {"input_size": 1, "hidden_size": 1, "kinds": 1, "classes": 2},
    {"input_size": 2, "hidden_size": 7, "kinds": 5, "classes": 5, "word_size": 3},
    {"input_size": 6, "hidden_size": 3, "kinds": 3, "classes": 2, "word_size": 0},
    {"input_size": 4, "hidden_size": 4, "kinds": 4, "classes": 4},
)


def training_mode(subject: CellSubject) -> None:
    """In training mode 0, 1 and many rows work, and give finite results. A cell without dropout
    has the gradients of evaluation mode."""
    cell = subject.random()
    for n in (0, 1, 7):
        for method in subject.methods(cell, max(n, 1)).values():
            values = method.values if n else method.only(None)
            cell.train()
            with torch.random.fork_rng(devices=[]):
                has_shapes(method, values, n)
                finite = all(bool(part.isfinite().all()) for part in method(values))
            cell.eval()
            if not finite:
                raise AssertionError(
                    f"{method.name} of {n} rows in training mode is not finite; a depth may have "
                    "one node: divide by no count or spread of rows"
                )
    _gradients(subject)


def _gradients(subject: CellSubject) -> None:
    cell = subject.random()
    for method in subject.methods(cell, 6).values():
        found: list[list[Tensor]] = []
        for mode in (False, True):
            cell.train(mode)
            values, leaves = method.with_leaves()
            with torch.random.fork_rng(devices=[]):
                results = method(values)
            wanted = [*leaves, *(part for part in cell.parameters() if part.requires_grad)]
            found.append([part.detach() for part in results])
            found[-1] += gradients(weighted(results), wanted)
        same = len(method.widths)
        if all(torch.equal(*pair) for pair in zip(found[0][:same], found[1][:same], strict=True)):
            what = f"the gradients of {method.name} in training mode, and in evaluation mode"
            mend = "take out detach, .data and hooks: the same results have the same gradients"
            require_alike(found[1], found[0], what, mend)


def other_sizes(subject: Subject[Any]) -> None:
    """It can be made in other sizes, of 1 too, wider than its inputs and narrower, unless its
    constructor refuses them; results have these sizes."""
    for sizes in OTHERS:
        asked = {name: size for name, size in sizes.items() if name in subject.sizes}
        if subject.sizes.get("inner_size"):
            asked["inner_size"] = asked["input_size"]
        other = subject.resized(asked)
        try:
            plugin = other.create().to(torch.float64).eval()
        except ThinstackError:
            continue
        said = ", ".join(f"{name} = {size}" for name, size in asked.items())
        try:
            for n in (1, 4):
                for method in other.methods(plugin, n).values():
                    has_shapes(method, method.values, n)
        except Exception as error:
            raise AssertionError(
                f"asked for {said}: {error}; take every width from the arguments of __init__, and "
                "name the dimension that squeeze takes away"
            ) from error


def other_types(subject: CellSubject) -> None:
    """Float32 gives what float64 does, rounded. A cell that may be trained in bfloat16 works under
    autocast too, forwards and backwards, and is as near as that type allows."""
    double, cell = subject.random(), subject.random(torch.float32)
    for n in (6, 1000):
        single = subject.methods(cell, n, dtype=torch.float32)
        for name, method in subject.methods(double, n).items():
            with torch.no_grad():
                expected, found = method(), single[name](_single(method.values))
            what = f"{name} of {n} rows in float32, and in float64"
            mend = "compute in the type of the inputs, the same in every type"
            _near(found, expected, what, mend, 1e-3)
    if cell.bf16:
        for method in subject.methods(cell, 6, dtype=torch.float32).values():
            _autocast(method)


def _autocast(method: Method) -> None:
    mend = (
        "add up what has one type (values.new_zeros, .to(other.dtype)), or set `bf16 = False` in "
        "the class"
    )
    try:
        with torch.autocast("cpu", torch.bfloat16):
            found = method()
        loss = torch.stack([part.float().sum() for part in found]).sum()
        if loss.requires_grad:
            torch.autograd.backward(loss)
    except Exception as error:
        raise AssertionError(f"under autocast in bfloat16, {error!s:.300}; {mend}") from error
    what = f"{method.name} under autocast in bfloat16, and in float32"
    _near(found, method(), what, mend, 0.1)


def _single(values: Values) -> Values:
    return {
        name: [part.float() if part.is_floating_point() else part for part in of]
        for name, of in values.items()
    }


def _near(
    found: list[Tensor], expected: list[Tensor], what: str, mend: str, tolerance: float
) -> None:
    """As `require_alike`, relative to the largest number."""
    numbers = [part.detach().double() for part in (*found, *expected)]
    scale = max(1.0, *(float(part.abs().max()) for part in numbers if part.numel()))
    scaled = [part / scale for part in numbers]
    require_alike(scaled[: len(found)], scaled[len(found) :], what, mend, tolerance)
