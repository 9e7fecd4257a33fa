"""Checks ONNX files before they are run, and reads their weights, without the package onnx.

Field numbers are from https://github.com/onnx/onnx/blob/main/onnx/onnx.proto (IR version 8).
"""

import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle.gate.protobuf import DamagedError, Message, ProtobufReader
from thinstack.errors import BundleError

MOST_FIELDS: Final = 200_000
"""Maximum number of fields of a file in all its messages. The bundled model has 3,000."""
MOST_NODES: Final = 10_000
"""Maximum number of nodes of a file in all its graphs. Runtimes take seconds to load more."""
DEEPEST: Final = 32
"""Maximum nesting depth of graphs. The steps of a file for GPUs make 31."""

_NAMES_OF_OPERATORS = """
    Abs Add And ArgMax BatchNormalization Cast Clip Compress Concat Constant ConstantOfShape
    CumSum DequantizeLinear Div Einsum Equal Erf Expand Gather GatherElements GatherND Gemm
    Greater GreaterOrEqual Identity If LSTM LayerNormalization Less LessOrEqual Log LogSoftmax
    Loop MatMul Max Min Mod Mul Not QuantizeLinear Range ReduceMax ReduceSum Relu Reshape Round
    ScatterElements ScatterND Shape Sigmoid Slice Softmax Split Sqrt Squeeze Sub Tanh TopK
    Transpose Unique Unsqueeze Where
"""
OPERATORS: Final = frozenset(_NAMES_OF_OPERATORS.split())
"""The allowed operators: exactly those that the models of thinstack need. An export that needs
another one fails. `tests/export/test_operators.py` exports every registered part, and fails if no
export needs some of them."""

# The number of an ONNX type: its name in numpy, and the field of its values if they are not raw
# bytes.
_NAMES = {1: ("<f4", 4), 10: ("<f2", 5), 11: ("<f8", 10)}  # floats
_NAMES |= {3: ("|i1", 5), 5: ("<i2", 5), 6: ("<i4", 5), 7: ("<i8", 7), 9: ("|b1", 5)}  # and bool
_NAMES |= {2: ("|u1", 5), 4: ("<u2", 5), 12: ("<u4", 11), 13: ("<u8", 11)}
_TYPES = {kind: (np.dtype(name), field) for kind, (name, field) in _NAMES.items()}
_INTEGER_FIELDS = (5, 7, 11)
_DIMS, _TYPE, _NAME, _RAW, _EXTERNAL, _LOCATION = 1, 2, 8, 9, 13, 14

_FOREIGN = {20: "a training graph", 25: "functions"}  # fields of a model
_SPARSE_WEIGHTS = {15: "sparse weights"}  # of a graph
_SPARSE = {22: "sparse tensors", 23: "sparse tensors"}  # of an attribute
_HOLDING = {5, 6, 10, 11, *_SPARSE}  # fields of an attribute with tensors and graphs


def check_onnx(content: bytes, *, source: str, allow: Collection[str] = ()) -> None:
    """Raise BundleError unless this ONNX file is self-contained and has only operators that the
    models of thinstack need. `source` names the file. `allow`: additional operators.

    docs/third-party-models.md lists what is rejected. Isolation limits what a file does when a
    runtime loads or runs it.
    """
    with reading_onnx(content, source) as reader:
        model = reader.read()
        _refuse(model, _FOREIGN)
        for entry in map(reader.read, model.all(14)):
            entry.text(1), entry.text(2)
        _check_graphs(reader, graph_of(model), OPERATORS.union(allow))


def initializers(content: bytes, *, source: str = "the ONNX file") -> dict[str, NDArray[Any]]:
    """Return the weights of the main graph by name, as new arrays. Raises BundleError if they
    cannot be read."""
    with reading_onnx(content, source) as reader:
        weights = reader.read(graph_of(reader.read())).all(5)
        tensors = dict(_read_tensor(reader, span) for span in weights)
        return {name: item.astype(item.dtype.newbyteorder("=")) for name, item in tensors.items()}


@contextmanager
def reading_onnx(content: bytes, source: str) -> Iterator[ProtobufReader]:
    """Yield a reader of the file that `source` names; ValueErrors become BundleErrors."""
    try:
        yield ProtobufReader(content, MOST_FIELDS)
    except ValueError as error:
        problem = f"not an ONNX file that thinstack can read: {error}"
        raise BundleError(f"{source}: {problem}; export the model again with thinstack") from None


def graph_of(model: Message) -> slice:
    """Return the position of the main graph of a file. Raises DamagedError without one."""
    for graph in model.one(7):
        return graph
    raise DamagedError("it contains no graph")


def _check_graphs(reader: ProtobufReader, main: slice, operators: Collection[str]) -> None:
    left, nodes = [(main, 1)], 0
    while left:
        span, depth = left.pop()
        if depth > DEEPEST:
            raise DamagedError(f"its graphs are nested too deep (limit {DEEPEST})")
        graph = reader.read(span)
        _refuse(graph, _SPARSE_WEIGHTS)
        for value in map(reader.read, (*graph.all(11), *graph.all(12))):
            value.text(1)
        for weight in graph.all(5):
            _read_tensor(reader, weight)
        nodes += len(graph.all(1))
        if nodes > MOST_NODES:
            raise DamagedError(f"it has more than {MOST_NODES:,} nodes")
        for node in map(reader.read, graph.all(1)):
            _check_operator(node, operators)
            for attribute in map(reader.read, node.all(5)):
                if attribute.fields.keys().isdisjoint(_HOLDING):  # the usual case
                    continue
                _refuse(attribute, _SPARSE)
                for tensor in (*attribute.one(5), *attribute.all(10)):
                    _read_tensor(reader, tensor)
                left += [(inner, depth + 1) for inner in (*attribute.one(6), *attribute.all(11))]


def _check_operator(node: Message, operators: Collection[str]) -> None:
    name, domain = node.text(4), node.text(7)
    if domain not in ("", "ai.onnx"):
        problem = f"it needs operator {name!r:.40} of the domain {domain!r:.80}"
        raise DamagedError(f"{problem}; only ONNX's own operators are supported")
    if name not in operators:
        raise DamagedError(
            f"it needs the operator {name!r:.80}, which no thinstack model needs "
            f"(isolated=True with allow_operators=[{name!r:.80}] runs it in a separate "
            "process)"
        )


def _refuse(message: Message, fields: dict[int, str]) -> None:
    for number, what in fields.items():
        if number in message.fields:
            raise DamagedError(f"it has {what}, which thinstack never writes")


def _read_tensor(reader: ProtobufReader, span: slice) -> tuple[str, NDArray[Any]]:
    """Return the name and the values of a `TensorProto`. Raw bytes are not copied.

    Raises ValueError unless the tensor has a numeric type, contains its data itself, and has the
    amount of data that its shape requires.
    """
    message = reader.read(span)
    name = message.text(_NAME)
    if _EXTERNAL in message.fields or message.integer(_LOCATION):
        raise DamagedError(f"tensor {name!r:.80} stores its data in another file")
    kind = message.integer(_TYPE)
    if kind not in _TYPES:
        problem = f"has elements of type {kind}, which is not a supported number type"
        raise DamagedError(f"tensor {name!r:.80} {problem}")
    dtype, field = _TYPES[kind]
    if raw := message.one(_RAW):
        flat = np.frombuffer(memoryview(reader.content)[raw[0]], dtype)
    elif field in _INTEGER_FIELDS:
        # float16 is stored as the integer with the same bits.
        half = dtype.kind == "f"
        bits = message.integers(field).astype(np.uint16 if half else dtype)
        flat = bits.view(np.float16) if half else bits
    else:
        flat = np.frombuffer(message.numbers(field), dtype)
    shape = message.integers(_DIMS).tolist()
    if min(shape, default=0) < 0 or math.prod(shape) != flat.size:
        problem = f"has shape {shape!r:.200}, but {flat.size:,} numbers"
        raise DamagedError(f"tensor {name!r:.80} {problem}")
    return name, flat.reshape(shape)
