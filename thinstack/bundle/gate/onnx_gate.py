"""Checks ONNX files before they are run, and reads their weights, without the package onnx.

Field numbers are from https://github.com/onnx/onnx/blob/main/onnx/onnx.proto (IR version 8).
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final

from numpy.typing import NDArray

from thinstack.bundle.gate.onnx_tensor import read_tensor
from thinstack.bundle.gate.operators import OPERATORS
from thinstack.bundle.gate.protobuf import DamagedError, Message, ProtobufReader
from thinstack.errors import BundleError

MOST_FIELDS: Final = 200_000
"""The most fields that a file may have in all its messages. The bundled model has 3,000."""
MOST_NODES: Final = 10_000
"""The most nodes that a file may have in all its graphs. Runtimes take seconds to load more."""
DEEPEST: Final = 32
"""The deepest that graphs may be nested. The steps of a file for GPUs make 31."""

_FOREIGN = {20: "a training graph", 25: "functions"}  # fields of a model
_SPARSE_WEIGHTS = {15: "sparse weights"}  # of a graph
_SPARSE = {22: "sparse tensors", 23: "sparse tensors"}  # of an attribute
_HOLDING = {5, 6, 10, 11, *_SPARSE}  # of an attribute: tensors and graphs


def check_onnx(content: bytes, *, source: str, allow: Collection[str] = ()) -> None:
    """Raise BundleError unless this ONNX file is whole in itself, and has only operators that the
    models of thinstack need. `source` names the file. `allow`: further operators that it may have.

    docs/third-party-models.md lists what is refused. What a file does as a runtime loads
    or runs it is for isolation to bound.
    """
    with _reading(content, source) as reader:
        model = reader.read()
        _refuse(model, _FOREIGN)
        for entry in map(reader.read, model.all(14)):
            entry.text(1), entry.text(2)
        _check_graphs(reader, graph_of(model), OPERATORS.union(allow))


def initializers(content: bytes, *, source: str = "the ONNX file") -> dict[str, NDArray[Any]]:
    """The weights of the main graph by name, as new arrays. Raises BundleError if they cannot be
    read."""
    with _reading(content, source) as reader:
        weights = reader.read(graph_of(reader.read())).all(5)
        tensors = dict(read_tensor(reader, span) for span in weights)
        return {name: each.astype(each.dtype.newbyteorder("=")) for name, each in tensors.items()}


@contextmanager
def _reading(content: bytes, source: str) -> Iterator[ProtobufReader]:
    """A reader of the file that `source` names; ValueErrors become BundleErrors."""
    try:
        yield ProtobufReader(content, MOST_FIELDS)
    except ValueError as error:
        problem = f"no ONNX file that thinstack reads: {error}"
        raise BundleError(f"{source}: {problem}; export the model again with thinstack") from None


def graph_of(model: Message) -> slice:
    """Where the main graph of a file lies. Raises DamagedError without one."""
    for graph in model.one(7):
        return graph
    raise DamagedError("there is no graph in it")


def _check_graphs(reader: ProtobufReader, main: slice, operators: Collection[str]) -> None:
    left, nodes = [(main, 1)], 0
    while left:
        span, depth = left.pop()
        if depth > DEEPEST:
            raise DamagedError(f"its graphs are nested deeper than {DEEPEST}")
        graph = reader.read(span)
        _refuse(graph, _SPARSE_WEIGHTS)
        for value in map(reader.read, (*graph.all(11), *graph.all(12))):
            value.text(1)
        for weight in graph.all(5):
            read_tensor(reader, weight)
        nodes += len(graph.all(1))
        if nodes > MOST_NODES:
            raise DamagedError(f"it has more than {MOST_NODES:,} nodes")
        for node in map(reader.read, graph.all(1)):
            _check_operator(node, operators)
            for attribute in map(reader.read, node.all(5)):
                if attribute.fields.keys().isdisjoint(_HOLDING):  # as of most
                    continue
                _refuse(attribute, _SPARSE)
                for tensor in (*attribute.one(5), *attribute.all(10)):
                    read_tensor(reader, tensor)
                left += [(inner, depth + 1) for inner in (*attribute.one(6), *attribute.all(11))]


def _check_operator(node: Message, operators: Collection[str]) -> None:
    name, domain = node.text(4), node.text(7)
    if domain not in ("", "ai.onnx"):
        problem = f"it needs operator {name!r:.40} of the domain {domain!r:.80}"
        raise DamagedError(f"{problem}; expected ONNX's own")
    if name not in operators:
        raise DamagedError(
            f"it needs the operator {name!r:.80}, which no model of thinstack needs "
            f"(isolated=True with allow_operators=[{name!r:.80}] runs it in a process of its own)"
        )


def _refuse(message: Message, fields: dict[int, str]) -> None:
    for number, what in fields.items():
        if number in message.fields:
            raise DamagedError(f"it has {what}, which thinstack never writes")
