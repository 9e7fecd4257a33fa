"""Values of an ONNX graph with the methods of tensors, so that one function serves both."""

from collections.abc import Callable, Sequence
from functools import partialmethod
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

if TYPE_CHECKING:
    from thinstack.export.onnx.graph import Graph


Operand = Union["Value", int, float, Sequence[int], NDArray[Any]]
"""A value, a scalar (int64 or float32), a vector of int64, or an array."""

END = 2**62
# Operators whose output has the shape of their inputs, except those that are numbers.
KEEPING = {"Add", "Sub", "Mul", "Div", "Mod", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"}
KEEPING |= {"Cast", "CumSum", "Not", "Round", "Clip"}

Sizes = Sequence[Union["Value", int]]


def _node(kind: str, **attributes: Any) -> Callable[..., "Value"]:
    """Return a method that appends such a node over the value and its arguments."""
    return lambda self, *others: self.op(kind, *others, **attributes)


class Value:
    """A value that a runtime will compute. Each operator and method appends the node for torch's
    operation of that name; functions of torch, such as `torch.cat`, also take values.

    Values have no dtype: `new_zeros` and `torch.zeros_like` are int64, as all index tensors are. A
    size is a vector of one number. `like` is a value of the same shape, often an input, of which
    sizes are computed once; `length` the number of rows, if it was created with a size. `is_vector`
    and `is_number` are true for known vectors, and for values computed from sizes only.
    """

    device = None
    __iter__ = None

    def __init__(self, graph: "Graph", name: str):
        self.graph, self.name = graph, name
        self.like: Value = self
        self.is_vector = self.is_number = False
        self.length: Value | None = None

    @classmethod
    def __torch_function__(
        cls, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return getattr(cls, function.__name__)(*args, **(kwargs or {}))

    def op(self, kind: str, *others: Operand, **attributes: Any) -> "Value":
        """Append a node over this value and others to the innermost of their graphs."""
        value = innermost(self, *others).op(kind, self, *others, **attributes)
        return value.shaped_as(self, *others) if kind in KEEPING else value

    def shaped_as(self, *values: Operand) -> "Value":
        """Record that this value has the shape that these values, except numbers, share."""
        likes = {value.like for value in values if isinstance(value, Value)}
        shapes = {like for like in likes if not like.is_number}
        self.is_number = self.is_number or not shapes
        if len(shapes) == 1:
            self.like = shapes.pop()
        return self

    def as_vector(self, length: "Value | None" = None) -> "Value":
        """Record that this value is a vector, of this length if any."""
        self.is_vector, self.length = True, length
        return self

    __add__ = __radd__ = _node("Add")
    __sub__ = _node("Sub")
    __mul__ = __rmul__ = _node("Mul")
    __truediv__ = __floordiv__ = _node("Div")  # whole numbers >= 0 are rounded down
    __lt__, __gt__ = _node("Less"), _node("Greater")
    __le__, __ge__ = _node("LessOrEqual"), _node("GreaterOrEqual")
    __and__, __or__, __invert__ = _node("And"), _node("Or"), _node("Not")
    eq, minimum, maximum = _node("Equal"), _node("Min"), _node("Max")
    __mod__, cumsum = _node("Mod"), _node("CumSum")
    where = _node("Where")  # of a condition
    sigmoid, tanh, relu, round = map(_node, ("Sigmoid", "Tanh", "Relu", "Round"))
    long, float = _node("Cast", to=TensorProto.INT64), _node("Cast", to=TensorProto.FLOAT)
    sum = _node("ReduceSum", keepdims=0)
    take = _node("Gather", axis=0)  # of a vector
    put = _node("ScatterND")  # at indices (n, 1), these rows

    def within(self, graph: "Graph") -> "Value":
        """Return this value of an outer graph as one of `graph`, which gets the nodes over it."""
        inside = Value(graph, self.name)
        inside.is_vector, inside.length = self.like.is_vector, self.like.length
        return inside

    def __rsub__(self, other: Operand) -> "Value":
        return innermost(self, other).op("Sub", other, self).shaped_as(self, other)

    def __getitem__(self, rows: slice) -> "Value":
        ends = (0 if rows.start is None else rows.start, END if rows.stop is None else rows.stop)
        return self.op("Slice", *(end if isinstance(end, Value) else [end] for end in ends), [0])

    def narrow(self, dim: int, start: int, length: int) -> "Value":
        return self.op("Slice", [start], [start + length], [dim])

    def index_select(self, dim: int, index: "Value | int") -> "Value":
        rows = self.op("Gather", index, axis=dim)
        if self.like.is_vector and isinstance(index, Value) and index.like.is_vector:
            rows.like = index.like
        return rows

    select = index_select  # by a number the dimension is gone

    def masked_select(self, mask: "Value") -> "Value":
        """Of a vector."""
        return self.op("Compress", mask, axis=0).as_vector()

    def scatter(self, dim: int, index: "Value", source: "Value") -> "Value":
        return self.op("ScatterElements", index, source, axis=dim).shaped_as(self)

    def scatter_add(self, dim: int, index: "Value", source: "Value") -> "Value":
        sums = self.op("ScatterElements", index, source, axis=dim, reduction="add")
        return sums.shaped_as(self)

    index_copy, index_add = scatter, scatter_add  # of vectors these are the same

    def index_fill(self, dim: int, index: "Value", value: int) -> "Value":
        return self.scatter(dim, index, index.full_like(value))

    def sums_before(self) -> "Value":
        return self.op("CumSum", 0, exclusive=1)

    def clamp(self, min: Operand, max: Operand | None = None) -> "Value":
        return self.op("Clip", min, *([] if max is None else [max]))

    def flip(self, dims: list[int]) -> "Value":
        return self.op("Slice", [-1], [-END], dims, [-1])

    def argsort(self, stable: bool = True, descending: bool = False) -> "Value":
        """Of a vector of whole numbers, made distinct because TopK is not stable."""
        size, place = self.size(0), Value.arange(self.size(0))
        distinct = self * size - place if descending else self * size + place
        largest = int(descending)
        order = distinct.graph.ops("TopK", distinct, size, outputs=2, axis=0, largest=largest)[1]
        return order.shaped_as(self)

    def size(self, dim: int) -> "Value":
        length = self.like.length if dim == 0 else None
        size = length or self.like.op("Shape", start=dim, end=dim + 1)
        size.is_number = True
        return size

    def largest(self, least: int) -> "Value":
        """Return the maximum of a vector's numbers and `least`, as a size."""
        # Without `least`, the maximum of no numbers would be the smallest int64.
        greatest = Value.cat([self, self.graph.constant([least])]).op("ReduceMax", keepdims=1)
        greatest.is_number = True
        return greatest

    def view(self, *sizes: Any) -> "Value":
        shape: Sizes = sizes[0] if isinstance(sizes[0], list) else sizes
        return self.op("Reshape", vector_of(self, shape), allowzero=int(-1 not in shape))

    def flatten(self) -> "Value":
        return self.op("Reshape", [-1])

    def squeeze(self, dim: int) -> "Value":
        return self.op("Squeeze", [dim])

    def unsqueeze(self, dim: int) -> "Value":
        return self.op("Unsqueeze", [dim])

    def transpose(self, one: int, other: int) -> "Value":
        """Of a matrix."""
        return self.op("Transpose", perm=[other, one])

    def new_zeros(self, sizes: Sizes) -> "Value":
        zeros = vector_of(self, sizes).op("ConstantOfShape", value=_whole(0))
        alone = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], Value) else None
        return zeros.as_vector(alone) if alone else zeros

    def full_like(self, value: int) -> "Value":
        shape = self.size(0) if self.like.is_vector else self.like.op("Shape")
        return shape.op("ConstantOfShape", value=_whole(value)).shaped_as(self)

    zeros_like, ones_like = partialmethod(full_like, 0), partialmethod(full_like, 1)

    def masked_fill(self, mask: "Value", value: int) -> "Value":
        return mask.op("Where", value, self).shaped_as(self)

    def addmm(self, rows: "Value", weight: "Value") -> "Value":
        return rows.op("Gemm", weight, self)

    @staticmethod
    def arange(*ends: Operand, device: None = None) -> "Value":
        first, last = ends if len(ends) == 2 else (0, ends[0])
        start, end = (x.squeeze(0) if isinstance(x, Value) else x for x in (first, last))
        numbers = innermost(start, end).op("Range", start, end, 1)
        length = last if isinstance(first, int) and first == 0 and isinstance(last, Value) else None
        return numbers.as_vector(length)

    @staticmethod
    def cat(values: "Sequence[Value]", dim: int = 0) -> "Value":
        return innermost(*values).op("Concat", *values, axis=dim)

    @staticmethod
    def stack(values: "Sequence[Value]", dim: int) -> "Value":
        return Value.cat([value.unsqueeze(dim) for value in values], dim)


def innermost(*operands: Operand) -> "Graph":
    """Return the innermost graph of these values; it can read those of the graphs around it."""
    graphs = [operand.graph for operand in operands if isinstance(operand, Value)]
    return max(graphs, key=lambda graph: graph.depth)


def vector_of(like: "Value | Graph", sizes: Sizes) -> Value:
    """Return sizes as one vector, in this graph, or in the innermost of these and of a value."""
    graph = innermost(like, *sizes) if isinstance(like, Value) else like
    numbers = [size for size in sizes if isinstance(size, int)]
    if len(numbers) == len(sizes):
        return graph.constant(np.array(numbers, np.int64))
    parts = [size if isinstance(size, Value) else graph.constant([size]) for size in sizes]
    return parts[0] if len(parts) == 1 else graph.op("Concat", *parts, axis=0)


def _whole(value: int) -> TensorProto:
    return helper.make_tensor("value", TensorProto.INT64, [1], [value])
