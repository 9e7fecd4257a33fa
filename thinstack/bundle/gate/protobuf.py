"""Parses the wire format of protocol buffers without a schema: locates the fields of a message
without copying them."""

import numpy as np
from numpy.typing import NDArray

Field = int | slice
"""An unsigned 64-bit integer, or the position of the bytes of any other value in the content."""

_VARINT, _BYTES, _WIDTHS = 0, 2, {1: 8, 5: 4}  # wire types, and the sizes of fixed-width ones
_LONGEST, _MOST_PACKED = 10, 1 << 22  # maximum bytes of a varint, and of a packed field


class DamagedError(ValueError):
    """Malformed bytes of a message."""


class Message:
    """The fields of a message, by number, in order. Methods raise DamagedError for a field of
    another type."""

    def __init__(self, content: bytes, fields: dict[int, list[Field]]) -> None:
        self._content, self.fields = content, fields

    def all(self, number: int) -> list[slice]:
        """Return the positions of all fields with this number."""
        if (fields := self.fields.get(number)) is None:  # the usual case
            return []
        spans = [field for field in fields if isinstance(field, slice)]
        if len(spans) < len(fields):
            raise DamagedError(f"field {number} is of another type")
        return spans

    def one(self, number: int) -> list[slice]:
        """Like `all`, for a field that may occur once."""
        if len(spans := self.all(number)) > 1:  # protocol buffers would use the last, or merge
            raise DamagedError(f"field {number} occurs {len(spans)} times")
        return spans

    def text(self, number: int) -> str:
        """Return a string that may occur once; empty if missing."""
        spans = self.one(number)
        return str(self._content[spans[0]], "utf-8") if spans else ""

    def numbers(self, number: int) -> bytes:
        """Return the fixed-width numbers of a field, repeated or packed."""
        return b"".join(self._content[span] for span in self.all(number))

    def integers(self, number: int) -> NDArray[np.int64]:
        """Return the signed integers of a field, repeated or packed."""
        fields = self.fields.get(number, [])
        if any(isinstance(field, slice) for field in fields):
            parts = [_unpacked(self._content[span]) for span in self.all(number)]
            return np.concatenate(parts).view(np.int64)
        return np.array(fields, np.uint64).view(np.int64)

    def integer(self, number: int) -> int:
        """Return an integer that may occur once; 0 if missing."""
        match self.fields.get(number, [0]):
            case [int(value)]:
                return value
        raise DamagedError(f"field {number} is not one integer")


class ProtobufReader:
    """Reads messages with at most `limit` fields in total, to bound the time for a small file."""

    def __init__(self, content: bytes, limit: int):
        self.content = content
        self._limit = self._left = limit

    def read(self, span: slice | None = None) -> Message:
        """Parse a message: the whole content, or a field. Raises DamagedError if it ends early or
        has too many fields."""
        content, fields, left = self.content, dict[int, list[Field]](), self._left
        position, end = (0, len(content)) if span is None else (span.start, span.stop)
        while position < end:
            key, position = content[position], position + 1
            if key > 0x7F:  # rare, and a call takes longer than all the rest
                key, position = _varint(content, position - 1)
            number, kind = key >> 3, key & 7
            value: Field
            if kind in _WIDTHS:
                length = _WIDTHS[kind]
            elif position < end and (length := content[position]) < 0x80:
                position += 1
            else:
                length, position = _varint(content, position)
            if kind == _VARINT:
                value = length
            elif kind == _BYTES or kind in _WIDTHS:
                value = slice(position, position + length)
                position += length
            else:
                raise DamagedError(f"unknown wire type {kind}")
            if position > end or not 0 < number < 1 << 29:
                raise DamagedError("it ends early" if position > end else f"field number {number}")
            left -= 1
            if left < 0:
                raise DamagedError(f"it has more than {self._limit:,} fields")
            if number in fields:
                fields[number].append(value)
            else:
                fields[number] = [value]
        self._left = left
        return Message(content, fields)


def _varint(content: bytes, position: int) -> tuple[int, int]:
    """Parse an unsigned 64-bit integer. Returns it and the position after it."""
    value = 0
    for number, byte in enumerate(content[position : position + _LONGEST]):
        value |= (byte & 0x7F) << 7 * number
        if byte < 0x80:
            if value >> 64:
                raise DamagedError("an integer of more than 64 bits")
            return value, position + number + 1
    raise DamagedError("it ends within an integer")


def _unpacked(packed: bytes) -> NDArray[np.uint64]:
    if len(packed) > _MOST_PACKED:
        raise DamagedError(f"{len(packed):,} bytes of integers; the limit is {_MOST_PACKED:,}")
    digits = np.frombuffer(packed, np.uint8)
    ends = np.flatnonzero(digits < 0x80)
    if not len(digits):
        return np.zeros(0, np.uint64)
    sizes = np.diff(ends, prepend=-1)
    if digits[-1] > 0x7F or sizes.max() > _LONGEST:
        raise DamagedError("it ends within an integer")
    places = np.arange(len(digits)) - np.repeat(ends - sizes + 1, sizes)
    values = (digits & 0x7F).astype(np.uint64) << (7 * places).astype(np.uint64)
    return np.add.reduceat(values, ends - sizes + 1)
