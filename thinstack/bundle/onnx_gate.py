"""Checks ONNX files before they are run, and reads their weights, without the package onnx.

Field numbers are from https://github.com/onnx/onnx/blob/main/onnx/onnx.proto (IR version 8).
"""

import math
from collections import ChainMap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from numpy.typing import NDArray

from thinstack.bundle.onnx_tensor import Tensor
from thinstack.bundle.protobuf import DamagedError, Message, Reader
from thinstack.errors import BundleError

__all__ = ["check_onnx", "initializers"]

MOST_FIELDS = 200_000
"""Fields of all messages of a file at most; the bundled model has 3,000."""
DEEPEST = 16
"""Graphs within graphs at most; a loop in a loop is three."""
MOST_MADE = 1 << 25
"""Numbers at most that nodes make of constants alone, beyond four times as many as the file stores.
A runtime computes them while it loads the file, and a few bytes can stand for any number of them.
"""
_SHORT = 64  # numbers of a shape, at most
_HUGE = 1 << 63

# Operators whose output is as large as the numbers of an input say, and which one that is (of
# Range, all of them).
_SHAPED = {"ConstantOfShape": 0, "Expand": 1, "Tile": 1, "Range": 0}
# Operators whose outputs are no larger than their first input, and those whose output is no larger
# than all multiplied.
_SHRINKING = frozenset(
    """Abs Cast Ceil Clip Cos CumSum DequantizeLinear Erf Exp Flatten Floor Identity IsInf IsNaN
    LayerNormalization LeakyRelu Log LogSoftmax Neg Not QuantizeLinear Reciprocal ReduceL2 ReduceMax
    ReduceMean ReduceMin ReduceProd ReduceSum Relu Reshape Round ScatterElements ScatterND Selu
    Shape Sigmoid Sign Sin Size Slice Softmax Softplus Split Sqrt Squeeze Tanh Transpose Trilu
    Unsqueeze""".split()  # noqa: SIM905
)
_BROADCASTING = frozenset(
    """Add And Div Einsum Equal Gather GatherElements GatherND Gemm Greater GreaterOrEqual Less
    LessOrEqual MatMul Max MatMulInteger Mean Min Mod Mul Or Pow PRelu Sub Sum Where
    Xor""".split()  # noqa: SIM905
)


def check_onnx(content: bytes, *, source: str) -> None:
    """Raise BundleError unless this ONNX file is of the kind that thinstack writes, complete, and
    harmless to load. `source` names the file.

    Refused are:

    - files that cannot be read;
    - tensors that keep their data in another file, are sparse, are not numbers, or are not as long
      as their shape says;
    - operators of other domains than ONNX's own, functions and training graphs;
    - nodes that read a value that no earlier node made;
    - graphs nested deeper than DEEPEST;
    - constants that stand for more than MOST_MADE numbers;
    - weights that are NaN.

    The check does not bound what a file uses when it runs, because that depends on its inputs.
    """
    with _reading(source) as reader:
        _Check(reader).model(content)


def initializers(content: bytes, *, source: str = "the ONNX file") -> dict[str, NDArray[Any]]:
    """The weights of the main graph by name, as new arrays. Raises BundleError if they cannot be
    read."""
    with _reading(source) as reader:
        graph = reader.read(_graph(reader.read(memoryview(content))))
        tensors = [Tensor(reader.read(data)) for data in graph.all(5)]
        return {tensor.name: tensor.array() for tensor in tensors}


@contextmanager
def _reading(source: str) -> Iterator[Reader]:
    """A reader of the file that `source` names; ValueErrors become BundleErrors."""
    try:
        yield Reader(MOST_FIELDS)
    except ValueError as error:
        problem = f"no ONNX file that thinstack reads: {error}"
        raise BundleError(f"{source}: {problem}; export the model again with thinstack") from None


def _graph(model: Message) -> memoryview:
    graph = model.one(7)
    if graph is None:
        raise DamagedError("there is no graph in it")
    return graph


class _Value(NamedTuple):
    """What is known of a value before the graph runs: its size at most, and few numbers."""

    size: int
    numbers: tuple[float, ...] | None = None

    @classmethod
    def of(cls, tensor: Tensor) -> "_Value":
        short = tensor.size <= _SHORT and tensor.dtype.kind in "iuf"
        # An axis of none counts: a sum along it, say, is as large as the others.
        size = math.prod(max(axis, 1) for axis in tensor.shape)
        return cls(size, tuple(tensor.array().ravel().tolist()) if short else None)


Values = ChainMap[str, _Value | None]
"""The values that a node may read, by name; None is known of what depends on the model's inputs."""


class _Check:
    """Reads a whole file once and raises ValueError at the first thing that must not be there."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._stored = self._made = 0

    def model(self, content: bytes) -> None:
        model = self._reader.read(memoryview(content))
        for number, what in ((20, "a training graph"), (25, "functions")):
            if number in model.fields:
                raise DamagedError(f"it has {what}, which thinstack never writes")
        for data in model.all(8):
            _check_domain(self._reader.read(data).text(1))
        self._graph(_graph(model), ChainMap(), depth=1)

    def _graph(self, data: memoryview, outer: Values, *, depth: int) -> None:
        if depth > DEEPEST:
            raise DamagedError(f"its graphs are nested deeper than {DEEPEST}")
        graph = self._reader.read(data)
        if 15 in graph.fields:
            raise DamagedError("it has sparse weights, which thinstack never writes")
        values = outer.new_child()
        for weight in map(self._tensor, graph.all(5)):
            if weight.has_nan():
                raise DamagedError(f"weight {weight.name!r:.80} holds NaN")
            _define(values, weight.name, _Value.of(weight))
        for declared in graph.all(11):
            value = self._reader.read(declared)
            values[value.text(1)] = None
            if depth == 1:
                self._check_axes(value)
        for node in graph.all(1):
            self._node(self._reader.read(node), values, depth)

    def _check_axes(self, declared: Message) -> None:
        """A runtime that loads a file may compute what depends on an input's fixed size alone."""
        message: Message | None = declared
        for number in (2, 1, 2):  # type, tensor type, shape
            content = message.one(number) if message is not None else None
            message = None if content is None else self._reader.read(content)
        for axis in message.all(1) if message is not None else ():
            if 1 in self._reader.read(axis).fields:
                name = f"{declared.text(1)!r:.80}"
                raise DamagedError(f"input {name} has a fixed size, which thinstack never writes")

    def _tensor(self, data: memoryview) -> Tensor:
        tensor = Tensor(self._reader.read(data))
        self._stored += tensor.size
        return tensor

    def _node(self, node: Message, values: Values, depth: int) -> None:
        operator = node.text(4)
        _check_domain(node.text(7), operator)
        inputs, made = [], None
        for name in _names(node, 1):
            if name not in values:
                problem = f"{name!r:.80}, which nothing before it made"
                raise DamagedError(f"node {operator!r:.40} reads {problem}")
            inputs.append(values[name])
        constants, has_graphs = self._attributes(node, values, depth)
        if operator == "Constant":
            if len(constants) > 1:
                raise DamagedError("a constant has two values")
            made = constants[0] if constants else _Value(1)
        elif not inputs:
            problem = "reads nothing, so no input says how much it makes"
            raise DamagedError(f"node {operator!r:.40} {problem}")
        else:
            made = None if has_graphs else self._made_of(operator, inputs)
        for output in _names(node, 2):
            _define(values, output, made)

    def _attributes(self, node: Message, values: Values, depth: int) -> tuple[list[_Value], bool]:
        """The tensors and numbers of a node's attributes, and whether there are graphs."""
        constants, has_graphs = [], False
        for data in node.all(5):
            attribute = self._reader.read(data)
            if attribute.fields.keys() & {22, 23}:
                raise DamagedError("it has sparse tensors, which thinstack never writes")
            tensors = [attribute.one(5), *attribute.all(10)]
            constants += [_Value.of(self._tensor(item)) for item in tensors if item is not None]
            for number in (3, 8):
                if count := attribute.count(number):
                    short = count <= _SHORT
                    numbers = tuple(attribute.integers(number, most=count)) if short else None
                    constants.append(_Value(count, numbers))
            if floats := sum(map(len, attribute.fixed(7))):
                constants.append(_Value(floats // 4))
            for graph in (attribute.one(6), *attribute.all(11)):
                if graph is not None:
                    has_graphs = True
                    self._graph(graph, values, depth=depth + 1)
        return constants, has_graphs

    def _made_of(self, operator: str, inputs: list[_Value | None]) -> _Value | None:
        """What a node makes of its inputs, counted if all of them, or only its shape, are
        constant."""
        known = [value for value in inputs if value is not None]
        fixed = len(known) == len(inputs)
        if operator in _SHAPED:
            size = _shaped_size(operator, inputs)
            if fixed and size is None:
                problem = "reads a size that is computed of constants; expected the size itself"
                raise DamagedError(f"node {operator!r:.40} {problem}")
        else:
            size = _most(operator, [value.size for value in known]) if fixed else None
        if size is None:
            return None
        self._made += size
        if self._made > MOST_MADE + 4 * self._stored:
            problem = f"makes {size:,} numbers of constants alone; more than {MOST_MADE:,} in all"
            raise DamagedError(f"node {operator!r:.40} {problem}")
        return _Value(size) if fixed else None


def _most(operator: str, sizes: list[int]) -> int:
    """How many numbers an operator makes at most of inputs of these sizes."""
    if operator in _SHRINKING:
        return sizes[0]
    if operator in _BROADCASTING:
        return math.prod(sizes)
    if operator == "Concat":
        return sum(sizes)
    problem = "reads nothing but constants; expected what it makes of them in its place"
    raise DamagedError(f"node {operator!r:.40} {problem}")


def _shaped_size(operator: str, inputs: list[_Value | None]) -> int | None:
    """How many numbers an operator of _SHAPED makes, if its inputs tell."""
    if operator == "Range":
        bounds = [value.numbers[0] for value in inputs if value is not None and value.numbers]
        if len(bounds) < 3:
            return None
        start, end, step = bounds[:3]
        steps = (end - start) / step if step else 0
        return max(0, math.ceil(min(steps, _HUGE)))
    place = _SHAPED[operator]
    data, shape = inputs[0], inputs[place] if place < len(inputs) else None
    if shape is None or shape.numbers is None:
        return None
    repeats = data.size if data is not None and place else 1
    return repeats * math.prod(int(min(number, _HUGE)) for number in shape.numbers if number > 1)


def _names(node: Message, number: int) -> list[str]:
    """The names of a node's inputs or outputs, without those that are left out."""
    return [str(name, "utf-8") for name in node.all(number) if name]


def _define(values: Values, name: str, value: _Value | None) -> None:
    if name in values:
        raise DamagedError(f"two of its values are called {name!r:.80}")
    values[name] = value


def _check_domain(domain: str, operator: str = "") -> None:
    if domain not in ("", "ai.onnx"):
        what = f"operator {operator!r:.40}" if operator else "operators"
        raise DamagedError(f"it needs {what} of the domain {domain!r:.80}; expected ONNX's own")
