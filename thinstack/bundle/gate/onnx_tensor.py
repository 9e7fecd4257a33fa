"""The tensors of an ONNX file. Their numbers must be in the file itself."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle.gate.protobuf import DamagedError, Message

_MOST_AXES, _MOST_INTEGERS = 64, 1 << 20
# ONNX's number of a type: numpy's name of it, and the field that its numbers are in where they are
# not raw bytes.
_TYPES = {1: ("<f4", 4), 10: ("<f2", 5), 11: ("<f8", 10)}  # floats
_TYPES |= {3: ("|i1", 5), 5: ("<i2", 5), 6: ("<i4", 5), 7: ("<i8", 7), 9: ("|b1", 5)}  # and bool
_TYPES |= {2: ("|u1", 5), 4: ("<u2", 5), 12: ("<u4", 11), 13: ("<u8", 11)}
_INTEGER_FIELDS = (5, 7, 11)
_RAW_DATA, _EXTERNAL_DATA, _DATA_LOCATION = 9, 13, 14


class Tensor:
    """A `TensorProto` that is not decoded yet.

    Attributes:
        name: its name in the graph, or empty.
        dtype, shape: the type and shape of `array`.
        size: how many numbers it has.

    Raises DamagedError unless the tensor has a numeric type, holds its data itself, and has as much
    data as its shape says.
    """

    def __init__(self, message: Message):
        self._message = message
        self.name = message.text(8)
        if _EXTERNAL_DATA in message.fields or message.integer(_DATA_LOCATION) != 0:
            problem = "keeps its data in another file, which is never read"
            raise DamagedError(f"tensor {self.name!r:.80} {problem}")
        kind = message.integer(2)
        if kind not in _TYPES:
            problem = f"has elements of type {kind}, which are no numbers that thinstack reads"
            raise DamagedError(f"tensor {self.name!r:.80} {problem}")
        name, self._field = _TYPES[kind]
        self.dtype = np.dtype(name)
        self.shape = tuple(message.integers(1, most=_MOST_AXES))
        self.size = math.prod(self.shape)
        self._raw = message.one(_RAW_DATA)
        if min(self.shape, default=0) < 0 or self._stored() != self.size:
            problem = f"has the shape {self.shape}, but {self._stored():,} numbers"
            raise DamagedError(f"tensor {self.name!r:.80} {problem}")

    def array(self) -> NDArray[Any]:
        """The numbers as a new array. Raises DamagedError for a million or more that are not raw
        bytes."""
        if self._raw is not None:
            flat = np.frombuffer(self._raw, self.dtype)
        elif self._field in _INTEGER_FIELDS:
            numbers = np.array(self._message.integers(self._field, most=_MOST_INTEGERS), np.int64)
            # float16 is stored as the integer of the same bits.
            bits = numbers.astype(np.uint16 if self.dtype.kind == "f" else self.dtype)
            flat = bits.view(np.float16) if self.dtype.kind == "f" else bits
        else:
            flat = np.frombuffer(b"".join(self._message.fixed(self._field)), self.dtype)
        return flat.reshape(self.shape).astype(self.dtype.newbyteorder("="))

    def has_nan(self) -> bool:
        """Whether a number is NaN. Raw bytes are not copied."""
        if self.dtype.kind != "f" or not self.size:
            return False
        if self._raw is None:
            return bool(np.isnan(self.array()).any())
        if self.dtype.itemsize == 2:  # numpy is slow with float16 itself
            bits = np.frombuffer(self._raw, "<u2")
            parts = np.array_split(bits, 1 + bits.size // (1 << 20))
            return any(bool(((part & 0x7FFF) > 0x7C00).any()) for part in parts)
        return bool(np.isnan(np.frombuffer(self._raw, self.dtype).min()))

    def _stored(self) -> int:
        """How many numbers are there, -1 if they end within one."""
        if self._raw is None and self._field in _INTEGER_FIELDS:
            return self._message.count(self._field)
        pieces = self._message.fixed(self._field) if self._raw is None else [self._raw]
        whole, rest = divmod(sum(map(len, pieces)), self.dtype.itemsize)
        return -1 if rest else whole
