"""Reads the wire format of protocol buffers without a schema: the fields of a message, without
copying them."""

import numpy as np

Value = int | memoryview
"""An unsigned 64-bit integer, or the bytes of a string, of packed numbers or of a message."""

_VARINT, _BYTES, _WIDTHS = 0, 2, {1: 8, 5: 4}  # wire types, and the bytes of those of fixed width
_LONGEST = 10  # bytes of an integer


class DamagedError(ValueError):
    """Bytes that are not the message they should be."""


class Message:
    """The fields of a message, by number, in order. Methods raise DamagedError for a field of
    another type."""

    def __init__(self) -> None:
        self.fields: dict[int, list[tuple[int, Value]]] = {}

    def all(self, number: int) -> list[memoryview]:
        """The bytes of every field of this number."""
        return [_bytes(number, kind, value) for kind, value in self.fields.get(number, ())]

    def one(self, number: int) -> memoryview | None:
        """The bytes of a field that may occur once."""
        if number not in self.fields:  # as most are
            return None
        values = self.all(number)
        if len(values) > 1:  # protocol buffers would take the last, or merge them
            raise DamagedError(f"field {number} occurs {len(values)} times")
        return values[0]

    def text(self, number: int) -> str:
        """A string that may occur once; empty if it does not."""
        value = self.one(number)
        return "" if value is None else str(value, "utf-8")

    def integer(self, number: int) -> int:
        """A signed integer that may occur once; 0 if it does not."""
        if number not in self.fields:
            return 0
        values = self.integers(number, most=1)
        return values[0] if values else 0

    def integers(self, number: int, *, most: int) -> list[int]:
        """The signed 64-bit integers of a field, one by one or packed. Raises DamagedError if there
        are more than `most`."""
        if self.count(number) > most:
            raise DamagedError(
                f"field {number} has {self.count(number):,} numbers; expected at most {most:,}"
            )
        integers: list[int] = []
        for kind, value in self.fields.get(number, ()):
            if isinstance(value, int):
                integers.append(value)
                continue
            packed, position = _bytes(number, kind, value), 0
            while position < len(packed):
                item, position = _varint(packed, position)
                integers.append(item)
        return [item - (1 << 64) if item >> 63 else item for item in integers]

    def count(self, number: int) -> int:
        """How many numbers `integers` would give."""
        total = 0
        for kind, value in self.fields.get(number, ()):
            if isinstance(value, int):
                total += 1
            else:  # the last byte of an integer is the one below 0x80
                packed = np.frombuffer(_bytes(number, kind, value), np.uint8)
                total += int(np.count_nonzero(packed < 0x80))
        return total

    def fixed(self, number: int) -> list[memoryview]:
        """The fixed-width numbers of a field, one by one or packed, as pieces of bytes."""
        values = [value for _, value in self.fields.get(number, ())]
        pieces = [value for value in values if not isinstance(value, int)]
        if len(pieces) < len(values):
            raise DamagedError(f"field {number} is of another type")
        return pieces


class ProtobufReader:
    """Reads messages with at most `limit` fields in all, so that a small file cannot take long."""

    def __init__(self, limit: int):
        self._limit = self._left = limit

    def read(self, data: memoryview) -> Message:
        """The fields of a message. Raises DamagedError if it ends early or has too many fields."""
        message = Message()
        position, end = 0, len(data)
        while position < end:
            if (key := data[position]) < 0x80:  # as most are: a call would take longer
                position += 1
            else:
                key, position = _varint(data, position)
            number, kind = key >> 3, key & 7
            value: Value
            if kind == _VARINT:
                value, position = _varint(data, position)
            else:
                if kind == _BYTES:
                    if position < end and (length := data[position]) < 0x80:
                        position += 1
                    else:
                        length, position = _varint(data, position)
                elif kind in _WIDTHS:
                    length = _WIDTHS[kind]
                else:
                    raise DamagedError(f"wire type {kind}")
                value = data[position : position + length]
                position += length
            if position > end or not 0 < number < 1 << 29:
                raise DamagedError("it ends early" if position > end else f"field number {number}")
            self._left -= 1
            if self._left < 0:
                raise DamagedError(f"it has more than {self._limit:,} fields")
            message.fields.setdefault(number, []).append((kind, value))
        return message


def _bytes(number: int, kind: int, value: Value) -> memoryview:
    if kind != _BYTES or isinstance(value, int):
        raise DamagedError(f"field {number} is of another type")
    return value


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    """An unsigned 64-bit integer and the position behind it."""
    if position < len(data) and (byte := data[position]) < 0x80:  # as most are
        return byte, position + 1
    value = 0
    for number, byte in enumerate(data[position : position + _LONGEST]):
        value |= (byte & 0x7F) << 7 * number
        if byte < 0x80:
            if value >> 64:
                raise DamagedError("an integer of more than 64 bits")
            return value, position + number + 1
    raise DamagedError("it ends within an integer")
