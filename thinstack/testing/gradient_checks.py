"""Contract checks of a cell's gradients."""

import re
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.autograd.gradcheck import GradcheckError

from thinstack.core.cell import Cell
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.testing.forests import (
    CellInputs,
    apart,
    batch_of,
    by_depth,
    by_recursion,
    random_forest,
)
from thinstack.testing.rows import METHODS, Call, rows_of
from thinstack.testing.subject import Subject

__all__ = ["gradients", "gradients_of_forests", "parameters_are_used"]

ROWS, TOLERANCE = 3, 1e-8
SIZES = (15, 1, 30, 6)


def gradients(subject: Subject) -> None:
    """Each method's gradients are those of finite differences, for inputs, children, state and
    parameters."""
    cell = subject.random_cell()
    rows = rows_of(cell, ROWS, kinds=subject.edge_types(cell))
    parameters = list(cell.parameters())
    for method, (call, fields) in METHODS.items():
        given = [part.requires_grad_() for field in fields for part in rows.parts(field)]
        names = [f"`{field}`" for field in fields for _ in rows.parts(field)] + [
            name for name, _ in cell.named_parameters()
        ]

        def run(
            *tensors: Tensor, call: Call = call, fields: Sequence[str] = fields
        ) -> tuple[Tensor, ...]:
            taken, changed = iter(tensors), rows
            for field in fields:
                changed = changed.with_parts(field, [next(taken) for _ in rows.parts(field)])
            return tuple(call(cell, changed.copied()))

        try:
            torch.autograd.gradcheck(run, (*given, *parameters))
        except GradcheckError as error:
            named = re.search(r"with respect to input (\d+)", str(error))
            of = f" with respect to {names[int(named[1])]}" if named else ""
            raise AssertionError(
                f"the gradient of {method}{of} is not that of finite differences. Mend the "
                "backward of its autograd.Function, "
                "or take out detach, .data and in-place operations on what autograd has saved"
            ) from None


def gradients_of_forests(subject: Subject) -> None:
    """A forest's gradients by the executor are those by the recursion, for inputs and
    parameters."""
    cell = subject.random_cell()
    batch = _batch(cell, subject)
    wanted = [batch.leaves.requires_grad_(), batch.inner.requires_grad_(), *cell.parameters()]
    found = _gradients(by_depth(DepthOrdered(cell), cell, batch.copied()), wanted)
    expected = _gradients(by_recursion(cell, batch.copied()), wanted)
    names = ["the inputs of leaves", "the inputs of inner nodes", *dict(cell.named_parameters())]
    for name, one, other in zip(names, found, expected, strict=True):
        if (difference := apart([one], [other])) > TOLERANCE:
            raise AssertionError(
                f"the gradient of {name} differs by {difference:.2g} when a forest is computed "
                "depth by depth instead of node by node. Where `gradients` fails too, mend that "
                "first; else let compose treat every row by itself"
            )


def parameters_are_used(subject: Subject) -> None:
    """Every parameter has a gradient that is not zero on a forest of mixed trees."""
    cell = subject.random_cell()
    outputs = by_depth(DepthOrdered(cell), cell, _batch(cell, subject))
    parameters = dict(cell.named_parameters())
    found = _gradients(outputs, list(parameters.values())) if parameters else []
    dead = [
        name for name, gradient in zip(parameters, found, strict=True) if not bool(gradient.any())
    ]
    if dead:
        raise AssertionError(
            f"parameters {dead} are dead: no output depends on them. Read them in leaf, compose "
            "or output, or do not register "
            "them under these options and sizes (with inner_size 0 only leaves have an input)"
        )


def _batch(cell: Cell, subject: Subject) -> CellInputs:
    return batch_of(
        cell, random_forest(SIZES, arity=cell.arity, kinds=subject.edge_types(cell), seed=0)
    )


def _gradients(outputs: Sequence[Tensor], wanted: Sequence[Tensor]) -> list[Tensor]:
    """Gradients of a sum that weighs each output and root output differently; zero for what has no
    part in it."""
    weights = (
        torch.linspace(-1, 2, part.numel(), dtype=part.dtype).view_as(part) for part in outputs[:2]
    )
    loss = sum((part * weight).sum() for part, weight in zip(outputs[:2], weights, strict=True))
    if not (isinstance(loss, Tensor) and loss.requires_grad):
        return [torch.zeros_like(tensor) for tensor in wanted]
    found = torch.autograd.grad(loss, wanted, allow_unused=True)
    return [
        torch.zeros_like(tensor) if grad is None else grad
        for tensor, grad in zip(wanted, found, strict=True)
    ]
