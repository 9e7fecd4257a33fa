"""Bounds how many numbers the nodes of an ONNX file compute from constants alone.

A runtime computes such values while it loads the file. A node of a few bytes can ask for terabytes.
"""

import math
from collections import ChainMap
from typing import Final, NamedTuple

from thinstack.bundle.gate.onnx_tensor import Tensor
from thinstack.bundle.gate.operators import OPERATORS
from thinstack.bundle.gate.protobuf import DamagedError

MOST_MADE: Final = 1 << 25
"""The most numbers that nodes may compute from constants alone. A file may have four times as many
as it stores on top of that."""
SHORT: Final = 64
"""A constant of at most this many numbers is read, because it may be a shape."""
_HUGE = 1 << 63

# Of operators with an input that tells the size of the output: the place of that input.
_TOLD = {"ConstantOfShape": 0, "Expand": 1, "Range": 0}


class Value(NamedTuple):
    """What is known of a value before the graph runs.

    Attributes:
        size: how many numbers it has at most; None if it depends on the model's inputs.
        numbers: they themselves, if they are constant and few.
        rank: how many dimensions it has; one of none is one number.
        least: how many dimensions it has at least.
        one: whether it is exactly one number, in any number of dimensions.
    """

    size: int | None = None
    numbers: tuple[float, ...] | None = None
    rank: int | None = None
    least: int = 0
    one: bool = False

    @classmethod
    def of(cls, tensor: Tensor) -> "Value":
        """What is known of the numbers of a tensor."""
        short = tensor.size <= SHORT and tensor.dtype.kind in "iufb"
        # An axis of size 0 counts as 1, because a sum along it has as many numbers as the others.
        size = math.prod(max(axis, 1) for axis in tensor.shape)
        numbers = tuple(tensor.array().ravel().tolist()) if short else None
        rank = len(tensor.shape)
        return cls(size, numbers, rank, rank, math.prod(tensor.shape) == 1)


Values = ChainMap[str, Value]
"""The values that a node may read, by name."""


class Made:
    """Counts the numbers that the nodes of a file compute from constants. `stored`: those
    that the file stores."""

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
        if row.size == "told":
            size = _told(operator, inputs)
            if fixed and size is None:
                problem = "reads a size that is computed of constants; expected the size itself"
                raise DamagedError(f"node {operator!r:.40} {problem}")
        else:
            size = _most(operator, row.size, known) if fixed else None
        if size is None:
            return None
        self._made += size
        if self._made > MOST_MADE + 4 * self.stored:
            problem = f"may make {size:,} numbers of constants; all may make {MOST_MADE:,}"
            raise DamagedError(f"node {operator!r:.40} {problem}")
        return size if fixed else None


def _most(operator: str, rule: str, sizes: list[int]) -> int:
    """The most numbers that an operator computes from inputs of these sizes."""
    if rule == "first":
        return sizes[0]
    if rule == "all":
        return math.prod(sizes)
    if rule == "sum":
        return sum(sizes)
    problem = "reads nothing but constants; expected what it makes of them in its place"
    raise DamagedError(f"node {operator!r:.40} {problem}")


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
