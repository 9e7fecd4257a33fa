"""Checks ONNX files before they are run, and reads their weights, without the package onnx.

Field numbers are from https://github.com/onnx/onnx/blob/main/onnx/onnx.proto (IR version 8).
"""

from collections import ChainMap
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from numpy.typing import NDArray

from thinstack.bundle.gate.onnx_structure import Inner, Node, body_inputs, check_structure
from thinstack.bundle.gate.onnx_tensor import Tensor
from thinstack.bundle.gate.onnx_values import Made, Value, Values, form_of
from thinstack.bundle.gate.operators import OPERATORS, UnlistedOperatorError, check_operator
from thinstack.bundle.gate.protobuf import DamagedError, Message, ProtobufReader
from thinstack.errors import BundleError

MOST_FIELDS = 200_000
"""The most fields that a file may have in all its messages. The bundled model has 3,000."""
MOST_NODES = 10_000
"""The most nodes that a file may have in all its graphs. Runtimes take seconds to load more."""
DEEPEST, DEEPEST_FOR_GPU = 16, 32
"""The deepest that graphs may be nested. A loop in a loop makes three graphs, the steps of a file
for GPUs 31."""
LARGEST = 1 << 31
"""The most numbers that a value may be declared to have."""


def check_onnx(
    content: bytes, *, source: str, allow: Collection[str] = (), for_gpu: bool = False
) -> None:
    """Raise BundleError unless this ONNX file is of the kind that thinstack writes, complete, and
    harmless to load. `source` names the file. `allow`: further operators that it may have, with any
    attributes. `for_gpu`: whether it is to run on a GPU, which may cut by sizes that it computes.

    docs/runtimes.md ("Files of others") lists what is refused. So is a file that cannot be read or
    has names that are not UTF-8. So are tensors that are sparse, are no numbers or do not fit their
    shape. So is a value that no earlier node made, or that is declared to have more than LARGEST
    numbers.

    The check does not bound what a file uses when it runs, because that depends on its inputs.
    """
    with _reading(source) as reader:
        _Check(reader, frozenset(allow), for_gpu).model(content)


def initializers(content: bytes, *, source: str = "the ONNX file") -> dict[str, NDArray[Any]]:
    """The weights of the main graph by name, as new arrays. Raises BundleError if they cannot be
    read."""
    with _reading(source) as reader:
        graph = reader.read(graph_of(reader.read(memoryview(content))))
        tensors = [Tensor(reader.read(data)) for data in graph.all(5)]
        return {tensor.name: tensor.array() for tensor in tensors}


@contextmanager
def _reading(source: str) -> Iterator[ProtobufReader]:
    """A reader of the file that `source` names; ValueErrors become BundleErrors."""
    try:
        yield ProtobufReader(MOST_FIELDS)
    except ValueError as error:
        listed = not isinstance(error, UnlistedOperatorError)  # else it says itself what to do
        mend = "; export the model again with thinstack" if listed else ""
        raise BundleError(f"{source}: no ONNX file that thinstack reads: {error}{mend}") from None


def graph_of(model: Message) -> memoryview:
    """The bytes of the main graph of a file. Raises DamagedError without one."""
    graph = model.one(7)
    if graph is None:
        raise DamagedError("there is no graph in it")
    return graph


class _Inside(NamedTuple):
    """What is known of the tensors in the attributes of a node; its graphs and the attributes
    themselves, by name."""

    constants: list[Value]
    graphs: dict[str, Inner]
    attributes: dict[str, Message]


class _Check:
    """Reads a file once, and raises ValueError at the first thing that must not be there."""

    def __init__(self, reader: ProtobufReader, allow: frozenset[str], for_gpu: bool) -> None:
        self._reader, self._allow, self._for_gpu = reader, allow, for_gpu
        self._made, self._nodes = Made(), 0

    def model(self, content: bytes) -> None:
        model = self._reader.read(memoryview(content))
        for number, what in ((20, "a training graph"), (25, "functions")):
            if number in model.fields:
                raise DamagedError(f"it has {what}, which thinstack never writes")
        for data in model.all(8):
            _check_domain(self._reader.read(data).text(1))
        for entry in map(self._reader.read, model.all(14)):  # names and values that are UTF-8
            entry.text(1), entry.text(2)
        self._graph(graph_of(model), ChainMap(), depth=1)

    def _graph(
        self, data: memoryview, outer: Values, *, depth: int, given: Sequence[Value] = ()
    ) -> Inner:
        """`outer`: the values around a graph; `given`: what is known of its inputs."""
        deepest = DEEPEST_FOR_GPU if self._for_gpu else DEEPEST
        if depth > deepest:
            raise DamagedError(f"its graphs are nested deeper than {deepest}")
        graph = self._reader.read(data)
        if 15 in graph.fields:
            raise DamagedError("it has sparse weights, which thinstack never writes")
        values = outer.new_child()
        for weight in map(self._tensor, graph.all(5)):
            if weight.has_nan():
                raise DamagedError(f"weight {weight.name!r:.80} holds NaN")
            _define(values, weight.name, Value.of(weight))
        inputs, outputs = graph.all(11), []
        for place, declared in enumerate(inputs):
            known = given[place] if place < len(given) else Value()
            values[self._declared(declared, free=depth == 1)] = known
        for node in graph.all(1):
            self._node(self._reader.read(node), values, depth)
        for declared in graph.all(12):
            name = self._declared(declared)
            if name not in values:
                raise DamagedError(f"nothing makes its output {name!r:.80}")
            outputs.append(values[name])
        for declared in graph.all(13):
            self._declared(declared)
        return Inner(len(inputs), outputs)

    def _declared(self, data: memoryview, *, free: bool = False) -> str:
        """The name of a declared value, whose shape is checked. `free`: it must have no fixed axis,
        because a runtime that loads a file may compute what depends on it alone."""
        value = self._reader.read(data)
        name, size = value.text(1), 1
        message: Message | None = value
        for number in (2, 1, 2):  # type, tensor type, shape
            content = message.one(number) if message is not None else None
            message = None if content is None else self._reader.read(content)
        for data in message.all(1) if message is not None else ():
            axis = self._reader.read(data)
            axis.text(2)
            if free and 1 in axis.fields:
                problem = "has a fixed size, which thinstack never writes"
                raise DamagedError(f"input {name!r:.80} {problem}")
            size *= max(1, axis.integer(1))
        if size > LARGEST:
            problem = f"is declared to have {size:,} numbers; expected at most {LARGEST:,}"
            raise DamagedError(f"value {name!r:.80} {problem}")
        return name

    def _tensor(self, data: memoryview) -> Tensor:
        tensor = Tensor(self._reader.read(data))
        self._made.stored += tensor.size
        return tensor

    def _node(self, node: Message, values: Values, depth: int) -> None:
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise DamagedError(f"it has more than {MOST_NODES:,} nodes")
        operator = node.text(4)
        _check_domain(node.text(7), operator)
        # A name is "" for an input or output that is left out.
        read, written = ([str(name, "utf-8") for name in node.all(number)] for number in (1, 2))
        attributes = [self._reader.read(data) for data in node.all(5)]
        if operator in OPERATORS or operator not in self._allow:
            check_operator(operator, len(read), len(written), attributes)
        try:
            places = [values[name] if name else None for name in read]
        except KeyError as error:
            problem = f"{error.args[0]!r:.80}, which nothing before it made"
            raise DamagedError(f"node {operator!r:.40} reads {problem}") from None
        inputs = [value for value in places if value is not None]
        given = body_inputs(places) if operator == "Loop" else ()
        inside = self._inside(attributes, values, depth, given)
        parts = operator, read, places, written, inside.graphs, inside.attributes
        check_structure(Node(*parts, self._for_gpu))
        value = self._value(operator, inputs, inside)
        for output in filter(None, written):
            _define(values, output, value)

    def _value(self, operator: str, inputs: list[Value], inside: _Inside) -> Value:
        """What is known of what a node makes."""
        if operator == "Constant":
            if len(inside.constants) != 1:
                raise DamagedError(f"a constant has {len(inside.constants)} values")
            return inside.constants[0]
        if not inputs:
            problem = "reads nothing, so no input says how much it makes"
            raise DamagedError(f"node {operator!r:.40} {problem}")
        if inside.graphs:
            return Value()
        size = self._made.by(operator, inputs)
        return form_of(operator, inputs, inside.attributes)._replace(size=size)

    def _inside(
        self, attributes: list[Message], values: Values, depth: int, given: Sequence[Value]
    ) -> _Inside:
        inside = _Inside([], {}, {})
        for attribute in attributes:
            if attribute.fields.keys() & {22, 23}:
                raise DamagedError("it has sparse tensors, which thinstack never writes")
            name = attribute.text(1)
            inside.attributes[name] = attribute
            for item in (attribute.one(5), *attribute.all(10)):
                if item is not None:
                    inside.constants.append(Value.of(self._tensor(item)))
            for graph in (attribute.one(6), *attribute.all(11)):
                if graph is not None:
                    inside.graphs[name] = self._graph(graph, values, depth=depth + 1, given=given)
        return inside


def _define(values: Values, name: str, value: Value) -> None:
    if name in values:
        raise DamagedError(f"two of its values are called {name!r:.80}")
    values[name] = value


def _check_domain(domain: str, operator: str = "") -> None:
    if domain not in ("", "ai.onnx"):
        what = f"operator {operator!r:.40}" if operator else "operators"
        raise DamagedError(f"it needs {what} of the domain {domain!r:.80}; expected ONNX's own")
