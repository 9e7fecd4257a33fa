"""The tensors of an ONNX file. Their numbers must be in the file itself."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle.gate.protobuf import DamagedError, ProtobufReader

# ONNX's number of a type: numpy's name of it, and the field that its numbers are in where they are
# not raw bytes.
_NAMES = {1: ("<f4", 4), 10: ("<f2", 5), 11: ("<f8", 10)}  # floats
_NAMES |= {3: ("|i1", 5), 5: ("<i2", 5), 6: ("<i4", 5), 7: ("<i8", 7), 9: ("|b1", 5)}  # and bool
_NAMES |= {2: ("|u1", 5), 4: ("<u2", 5), 12: ("<u4", 11), 13: ("<u8", 11)}
_TYPES = {kind: (np.dtype(name), field) for kind, (name, field) in _NAMES.items()}
_INTEGER_FIELDS = (5, 7, 11)
_DIMS, _TYPE, _NAME, _RAW, _EXTERNAL, _LOCATION = 1, 2, 8, 9, 13, 14


def read_tensor(reader: ProtobufReader, span: slice) -> tuple[str, NDArray[Any]]:
    """The name and the numbers of a `TensorProto`. Raw bytes are not copied.

    Raises ValueError unless the tensor has a numeric type, holds its data itself, and has as much
    data as its shape says.
    """
    message = reader.read(span)
    name = message.text(_NAME)
    if _EXTERNAL in message.fields or message.integer(_LOCATION):
        raise DamagedError(f"tensor {name!r:.80} keeps its data in another file")
    kind = message.integer(_TYPE)
    if kind not in _TYPES:
        problem = f"has elements of type {kind}, which are no numbers that thinstack reads"
        raise DamagedError(f"tensor {name!r:.80} {problem}")
    dtype, field = _TYPES[kind]
    if raw := message.one(_RAW):
        flat = np.frombuffer(memoryview(reader.content)[raw[0]], dtype)
    elif field in _INTEGER_FIELDS:
        # float16 is stored as the integer of the same bits.
        half = dtype.kind == "f"
        bits = message.integers(field).astype(np.uint16 if half else dtype)
        flat = bits.view(np.float16) if half else bits
    else:
        flat = np.frombuffer(message.numbers(field), dtype)
    shape = message.integers(_DIMS).tolist()
    if min(shape, default=0) < 0 or math.prod(shape) != flat.size:
        problem = f"has the shape {shape!r:.200}, but {flat.size:,} numbers"
        raise DamagedError(f"tensor {name!r:.80} {problem}")
    return name, flat.reshape(shape)
