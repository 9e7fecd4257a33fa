"""Contract checks that results and gradients are finite numbers for rows that data and training
bring about: zeros, equal entries, and numbers that are large or tiny."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from thinstack.core.depth_ordered import DepthOrdered
from thinstack.testing.forests import CellInputs, batch_of, by_depth, gradients, weighted
from thinstack.testing.methods import Method
from thinstack.testing.subject import CellSubject, ParserSubject, Plugin, Subject, empty_is_nan

ROWS, LARGE = 6, 300.0
SHAPES = (9, 1, 4)
"""Sizes of the trees of a forest."""

DIVIDES = (
    "look for a division, sqrt, log, norm or spread that meets 0. Put a small number under it "
    "(clamp(min=1e-6), or eps inside the sqrt); torch.where around the result keeps a gradient "
    "that is not a number. new_empty holds anything until it is filled: take new_zeros"
)
OVERFLOWS = (
    "look for exp and powers: in float32 exp overflows above 88. Take torch.sigmoid, torch.softmax,"
    " logsumexp, softplus and logsigmoid, and squash what grows"
)


class _Case(NamedTuple):
    """Rows made of random ones, and what to do if they give no finite numbers."""

    change: Callable[[Tensor], Tensor]
    mend: str


def _one_hot(rows: Tensor) -> Tensor:
    return torch.where(torch.arange(rows.shape[-1]) == 0, 1.0, 0.0).to(rows) * torch.ones_like(rows)


CASES = {
    "random rows": _Case(
        torch.clone,
        "look for log and sqrt of what may be negative, for inverses of what may be 0, and for "
        "new_empty that is not filled",
    ),
    "rows of zeros, as unknown words are": _Case(torch.zeros_like, DIVIDES),
    "rows of ones": _Case(torch.ones_like, DIVIDES),
    "rows of -1": _Case(lambda rows: -torch.ones_like(rows), DIVIDES),
    "one-hot rows": _Case(_one_hot, DIVIDES),
    "random rows times 1e-30": _Case(lambda rows: rows * 1e-30, DIVIDES),
    "random rows times 1e-42": _Case(lambda rows: rows * 1e-42, DIVIDES),
    "random rows times 100": _Case(lambda rows: rows * 100, OVERFLOWS),
    "random rows times 1,000": _Case(lambda rows: rows * 1000, OVERFLOWS),
    "rows of 1,000": _Case(lambda rows: torch.full_like(rows, 1000), OVERFLOWS),
    "rows of -1,000": _Case(lambda rows: torch.full_like(rows, -1000), OVERFLOWS),
}
OF_FORESTS = tuple(CASES)[1:3] + tuple(CASES)[-3:-2]


@empty_is_nan()
def finite(subject: Subject[Any]) -> None:
    """In float32, each method gives finite results and gradients for rows of zeros, of equal
    entries, of 1,000 and of tiny numbers. It does so with its first weights, random ones, and large
    ones."""
    for weights, plugin in _weighted(subject):
        for what, case in CASES.items():
            methods = subject.methods(plugin, ROWS, dtype=torch.float32, change=case.change)
            for method in methods.values():
                _finite(method, dict(plugin.named_parameters()), f"{what}, {weights}", case.mend)
    large = subject.random(torch.float32)
    with torch.no_grad():
        for part in large.parameters():
            if part.dim() > 1:
                part.mul_(LARGE)
    for method in subject.methods(large, ROWS, dtype=torch.float32).values():
        what = f"random rows, with matrices {LARGE:g} times as large as random ones"
        _finite(method, dict(large.named_parameters()), what, OVERFLOWS)


def _weighted(subject: Subject[Plugin]) -> Iterator[tuple[str, Plugin]]:
    """The plugin with two sorts of weights: biases are 0 at the start, as a rule, and so is much
    that is made of zeros."""
    yield "with the weights that it starts with", subject.create().float().eval()
    yield "with random weights", subject.random(torch.float32)


def _finite(method: Method, parameters: Mapping[str, nn.Parameter], what: str, mend: str) -> None:
    values, _ = method.with_leaves()
    wanted = {f"`{name}`": part for name in method.smooth for part in values[name]}
    if method.smooth:
        wanted |= {f"parameter {name!r}": part for name, part in parameters.items()}
    require_finite(method(values), wanted, f"{method.name} of {what}", mend)


def require_finite(
    results: Sequence[Tensor], wanted: Mapping[str, Tensor], what: str, mend: str
) -> None:
    """Raise AssertionError where a result, or the gradient of their sum for what is wanted, is not
    finite: `what` they are, and what to do."""
    for part in results:
        if not bool(part.isfinite().all()):
            raise AssertionError(
                f"{what}, gives {_found(part)} where finite numbers are due; {mend}"
            )
    tensors = {name: part for name, part in wanted.items() if part.requires_grad}
    found = gradients(weighted(results), list(tensors.values()))
    for name, gradient in zip(tensors, found, strict=True):
        if not bool(gradient.isfinite().all()):
            raise AssertionError(
                f"{what}, has finite results, but the gradient for {name} holds "
                f"{_found(gradient)}; {mend}"
            )


def _found(values: Tensor) -> str:
    return "NaN" if bool(values.isnan().any()) else "infinite numbers"


def finite_forests(subject: CellSubject) -> None:
    """In float32, forests of such rows have finite outputs and gradients, too, for the states of
    all depths come of them."""
    for weights, cell in _weighted(subject):
        run = DepthOrdered(cell)
        drawn = batch_of(cell, subject.forest(cell, SHAPES, 0))
        for what in OF_FORESTS:
            case = CASES[what]
            leaves, inner = (case.change(part.float()) for part in (drawn.leaves, drawn.inner))
            wanted = {"the inputs of leaves": leaves, "the inputs of inner nodes": inner}
            for part in wanted.values():
                part.requires_grad_()
            wanted |= {f"parameter {name!r}": part for name, part in cell.named_parameters()}
            results = by_depth(run, cell, CellInputs(drawn.forest, leaves.clone(), inner.clone()))
            require_finite(results[:2], wanted, f"a forest of {what}, {weights}", case.mend)


def finite_distances(subject: ParserSubject) -> None:
    """In float32, the distances of such words are finite, and so are their gradients."""
    for weights, parser in _weighted(subject):
        words, lengths = subject.batch(SHAPES)
        for what, case in CASES.items():
            given = case.change(words.float()).requires_grad_()
            wanted: dict[str, Tensor] = {"the words": given}
            wanted |= {f"parameter {name!r}": part for name, part in parser.named_parameters()}
            results = [parser(given.clone(), lengths)]
            require_finite(results, wanted, f"forward of {what}, {weights}", case.mend)
