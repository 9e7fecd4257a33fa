"""What is known of the values of an ONNX file before it runs: their sizes and dimensions.

A runtime computes what depends on constants alone while it loads the file, and a node of a few
bytes can ask for terabytes. A value without dimensions is exactly one number. A loop needs one, and
onnxruntime does not check that there is one.
"""

import math
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

import numpy as np

from thinstack.bundle.gate.onnx_tensor import Tensor
from thinstack.bundle.gate.operators import OPERATORS
from thinstack.bundle.gate.protobuf import DamagedError, Message

MOST_MADE: Final = 1 << 25
"""The most numbers that nodes may compute from constants alone. A file may have four times as many
as it stores on top of that."""
SHORT: Final = 64
"""A constant of at most this many numbers is read, because it may be a shape."""
_HUGE = 1 << 63
_INTEGER: Final = 3  # the field of an attribute

# Of operators with an input that tells the size of the output: the place of that input.
_TOLD = {"ConstantOfShape": 0, "Expand": 1, "Range": 0}
# The most numbers that an operator computes from inputs of these sizes, by `Operator.size`.
_MOST: Final[Mapping[str, Callable[[Sequence[int]], int]]] = {
    "first": itemgetter(0),
    "all": math.prod,
    "sum": sum,
}


class Value(NamedTuple):
    """What is known of a value before the graph runs.

    Attributes:
        size: how many numbers it has at most; None if it depends on the model's inputs.
        numbers: they themselves, if they are constant and few.
        rank: how many dimensions it has; one of none is one number.
        least: how many dimensions it has at least.
        one: whether it is exactly one number, in any number of dimensions.
        shape: its shape, of a constant; None where it is not known.
    """

    size: int | None = None
    numbers: tuple[float, ...] | None = None
    rank: int | None = None
    least: int = 0
    one: bool = False
    shape: tuple[int, ...] | None = None

    @classmethod
    def of(cls, tensor: Tensor) -> "Value":
        """What is known of a constant."""
        short = tensor.size <= SHORT and tensor.dtype.kind in "iufb"
        # An axis of size 0 counts as 1, because a sum along it has as many numbers as the others.
        size = math.prod(max(axis, 1) for axis in tensor.shape)
        numbers = tuple(tensor.array().ravel().tolist()) if short else None
        rank = len(tensor.shape)
        return cls(size, numbers, rank, rank, math.prod(tensor.shape) == 1, tensor.shape)


Values = ChainMap[str, Value]
"""The values that a node may read, by name."""

Integers = Mapping[str, int]
"""The attributes of a node that are integers, by name."""


class Made:
    """Counts the numbers that the nodes of a file compute from constants. `stored`: those that the
    file stores."""

    def __init__(self) -> None:
        self.stored = self._made = 0

    def by(self, operator: str, inputs: list[Value]) -> int | None:
        """The size of what a node computes, or None if it depends on the model's inputs. It is
        counted if all inputs are constant, or if a constant input tells the size. Raises
        DamagedError if the count is too high, or if nothing tells the size."""
        known = [value.size for value in inputs if value.size is not None]
        fixed = len(known) == len(inputs)
        row = OPERATORS.get(operator)
        if row is None:  # whoever allowed it bounds it
            return None
        size = None
        if row.size == "told":
            size = _told(operator, inputs)
            if fixed and size is None:
                problem = "reads a size that is computed of constants; expected the size itself"
                raise DamagedError(f"node {operator!r:.40} {problem}")
        elif fixed:
            if (most := _MOST.get(row.size)) is None:
                problem = "reads nothing but constants; expected what it makes of them in its place"
                raise DamagedError(f"node {operator!r:.40} {problem}")
            shape = _broadcast_shape(inputs) if operator in _BROADCASTING else None
            size = most(known) if shape is None else math.prod(max(axis, 1) for axis in shape)
        if size is None:
            return None
        self._made += size
        if self._made > MOST_MADE + 4 * self.stored:
            problem = f"may make {size:,} numbers of constants; all may make {MOST_MADE:,}"
            raise DamagedError(f"node {operator!r:.40} {problem}")
        return size if fixed else None


def _told(operator: str, inputs: list[Value]) -> int | None:
    """The size of the output of an operator with an input that tells it; None if that input is not
    constant."""
    if operator == "Range":
        bounds = [value.numbers[0] for value in inputs if value.numbers]
        if len(bounds) < 3:
            return None
        start, end, step = bounds[:3]
        steps = (end - start) / step if step else 0
        return max(0, math.ceil(min(steps, _HUGE)))
    place = _TOLD[operator]
    shape = inputs[place] if place < len(inputs) else Value()
    if shape.numbers is None:
        return None
    size = inputs[0].size if place else None
    repeats = 1 if size is None else size
    return repeats * math.prod(int(min(number, _HUGE)) for number in shape.numbers if number > 1)


def form_of(operator: str, inputs: Sequence[Value], attributes: Mapping[str, Message]) -> Value:
    """What the inputs of a node tell of the dimensions of what it makes."""
    if operator not in _FORMS:
        return Value()
    told = {name: found.integer(_INTEGER) for name, found in attributes.items()}
    return _FORMS[operator](inputs, told)


def _form(rank: int | None, least: int = 0, *, one: bool = False) -> Value:
    """A value of so many dimensions, or of at least so many. Without any, it is one number."""
    return Value(rank=rank, least=least if rank is None else rank, one=one or rank == 0)


def _as_first(inputs: Sequence[Value], told: Integers) -> Value:
    first = inputs[0]
    return _form(first.rank, first.least, one=first.one)._replace(shape=first.shape)


def _broadcast_shape(inputs: Sequence[Value]) -> tuple[int, ...] | None:
    """The shape of what an operator makes of constants number by number; None where one is not
    known, or they do not fit."""
    shapes = [value.shape for value in inputs if value.shape is not None]
    if len(shapes) < len(inputs):
        return None
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def _broadcast(inputs: Sequence[Value], told: Integers) -> Value:
    known = [value.rank for value in inputs if value.rank is not None]
    rank = max(known) if len(known) == len(inputs) else None
    form = _form(rank, max(value.least for value in inputs), one=all(v.one for v in inputs))
    return form._replace(shape=_broadcast_shape(inputs))


def _size(inputs: Sequence[Value], told: Integers) -> Value:
    return _form(0)


def _shape(inputs: Sequence[Value], told: Integers) -> Value:
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
        return _form(1)
    return _form(1, one=count == 1)


def _reduced(inputs: Sequence[Value], told: Integers) -> Value:
    """All axes are reduced, unless some are named, or the node does nothing if none are."""
    first, every = inputs[0], len(inputs) == 1 and not told.get("noop_with_empty_axes", 0)
    if told.get("keepdims", 1):
        return _form(first.rank, first.least, one=every or first.one)
    return _form(0 if every else None)


def _concat(inputs: Sequence[Value], told: Integers) -> Value:
    """Of values of one rank, which is at least 1."""
    ranks = [value.rank for value in inputs if value.rank]
    one = len(inputs) == 1 and inputs[0].one
    return _form(max(ranks, default=None), 1, one=one)


def _gather(inputs: Sequence[Value], told: Integers) -> Value:
    """The places take the place of an axis."""
    data, places = inputs[0], inputs[1] if len(inputs) > 1 else Value()
    if not data.rank or places.rank is None:
        return Value()
    return _form(data.rank + places.rank - 1, one=data.rank == 1 and places.one)


def _squeeze(inputs: Sequence[Value], told: Integers) -> Value:
    """Without axes, all that are of size 1 are removed: of one number, all."""
    first = inputs[0]
    if len(inputs) == 1:
        return _form(0 if first.one else None)
    axes = inputs[1].numbers
    if axes is None or not first.rank:
        return _form(None, one=first.one)
    return _form(first.rank - len({axis % first.rank for axis in axes}), one=first.one)


def _unsqueeze(inputs: Sequence[Value], told: Integers) -> Value:
    first, axes = inputs[0], inputs[1].numbers if len(inputs) > 1 else None
    more = 0 if axes is None else len(set(axes))
    rank = None if axes is None or first.rank is None else first.rank + more
    return _form(rank, first.least + more, one=first.one)


_BROADCASTING: Final = {
    *("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"),
    *("Add", "And", "Div", "Max", "Min", "Mod", "Mul", "Sub", "Where"),
}

_FORMS: Final[Mapping[str, Callable[[Sequence[Value], Integers], Value]]] = {
    **dict.fromkeys(("Abs", "Cast", "Identity", "Not", "Relu", "Round"), _as_first),
    **dict.fromkeys(_BROADCASTING, _broadcast),
    **dict.fromkeys(("ReduceMax", "ReduceSum"), _reduced),
    "Concat": _concat,
    "Gather": _gather,
    "Shape": _shape,
    "Size": _size,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
}
