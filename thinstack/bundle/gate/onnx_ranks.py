"""Finds what form the values of an ONNX file have, as far as the nodes tell.

A value without dimensions is exactly one number. A loop needs one, and
onnxruntime does not check that there is one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from thinstack.bundle.gate.onnx_sizes import Value
from thinstack.bundle.gate.protobuf import Message

_INTEGER: Final = 3  # the field of an attribute


class Form(NamedTuple):
    """What is certain of a value's dimensions, as `Value` has it."""

    rank: int | None = None
    least: int = 0
    one: bool = False

    @classmethod
    def of(cls, rank: int | None, least: int = 0, *, one: bool = False) -> "Form":
        """The form of so many dimensions, or of at least so many. Without any, it is one number."""
        return cls(rank, least if rank is None else rank, one or rank == 0)


Integers = Mapping[str, int]
"""The attributes of a node that are integers, by name."""


def form_of(operator: str, inputs: Sequence[Value], attributes: Mapping[str, Message]) -> Form:
    """The form of what a node makes of its inputs."""
    if operator not in _FORMS:
        return Form()
    told = {name: found.integer(_INTEGER) for name, found in attributes.items()}
    return _FORMS[operator](inputs, told)


def _as_first(inputs: Sequence[Value], told: Integers) -> Form:
    return Form.of(inputs[0].rank, inputs[0].least, one=inputs[0].one)


def _broadcast(inputs: Sequence[Value], told: Integers) -> Form:
    known = [value.rank for value in inputs if value.rank is not None]
    rank = max(known) if len(known) == len(inputs) else None
    return Form.of(rank, max(value.least for value in inputs), one=all(v.one for v in inputs))


def _size(inputs: Sequence[Value], told: Integers) -> Form:
    return Form.of(0)


def _shape(inputs: Sequence[Value], told: Integers) -> Form:
    """A row of the sizes of axes `start` to `end`, which count from the end if they are below 0."""
    start, end = told.get("start", 0), told.get("end")
    rank, least = inputs[0].rank, inputs[0].least
    if rank is not None:
        count = len(range(rank)[start:end])
    elif start >= 0 and end is not None and end <= least:
        count = end - start
    elif start < 0 and -start <= least and (end is None or end < 0):
        count = (end or 0) - start
    else:
        return Form.of(1)
    return Form.of(1, one=count == 1)


def _reduced(inputs: Sequence[Value], told: Integers) -> Form:
    """All axes are reduced, unless some are named, or the node does nothing if none are."""
    first, every = inputs[0], len(inputs) == 1 and not told.get("noop_with_empty_axes", 0)
    if told.get("keepdims", 1):
        return Form.of(first.rank, first.least, one=every or first.one)
    return Form.of(0 if every else None)


def _concat(inputs: Sequence[Value], told: Integers) -> Form:
    """Of values of one rank, which is at least 1."""
    ranks = [value.rank for value in inputs if value.rank]
    one = len(inputs) == 1 and inputs[0].one
    return Form.of(max(ranks, default=None), 1, one=one)


def _gather(inputs: Sequence[Value], told: Integers) -> Form:
    """The places take the place of an axis."""
    data, places = inputs[0], inputs[1] if len(inputs) > 1 else Value()
    if not data.rank or places.rank is None:
        return Form()
    return Form.of(data.rank + places.rank - 1, one=data.rank == 1 and places.one)


def _squeeze(inputs: Sequence[Value], told: Integers) -> Form:
    """Without axes, all that are of size 1 are removed: of one number, all."""
    first = inputs[0]
    if len(inputs) == 1:
        return Form.of(0 if first.one else None)
    axes = inputs[1].numbers
    if axes is None or not first.rank:
        return Form.of(None, one=first.one)
    return Form.of(first.rank - len({axis % first.rank for axis in axes}), one=first.one)


def _unsqueeze(inputs: Sequence[Value], told: Integers) -> Form:
    first, axes = inputs[0], inputs[1].numbers if len(inputs) > 1 else None
    more = 0 if axes is None else len(set(axes))
    rank = None if axes is None or first.rank is None else first.rank + more
    return Form.of(rank, first.least + more, one=first.one)


_FORMS: Final[Mapping[str, Callable[[Sequence[Value], Integers], Form]]] = {
    **dict.fromkeys(("Abs", "Cast", "Identity", "Not", "Relu", "Round"), _as_first),
    **dict.fromkeys(("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"), _broadcast),
    **dict.fromkeys(("Add", "And", "Div", "Max", "Min", "Mod", "Mul", "Sub", "Where"), _broadcast),
    **dict.fromkeys(("ReduceMax", "ReduceSum"), _reduced),
    "Concat": _concat,
    "Gather": _gather,
    "Shape": _shape,
    "Size": _size,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
}
