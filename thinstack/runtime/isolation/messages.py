"""Messages between a process and the one that runs a model for it: data as JSON, and arrays as raw
bytes. Nothing is unpickled, because the other process may have come under the model's control.

A message is the length of its JSON (4 bytes, the lowest first), the JSON, and the bytes of each
array in order. The JSON is an object; `arrays` in it has name, type and shape of each array.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_TEXT: Final = 1 << 24
"""Bytes of the JSON of a message, at most."""
_MOST_ARRAYS, _MOST_AXES = 64, 64
_TYPES = frozenset({"bool", "float16", "float32", "float64"}) | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


class Message(NamedTuple):
    """What a message says, and its arrays by name."""

    data: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]


def write_message(
    file: BinaryIO, data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a message. Raises ValueError for an array that is not of numbers, OSError if the other
    process is gone."""
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    headers = [(name, array.dtype.name, array.shape) for name, array in whole.items()]
    if odd := [kind for _, kind, _ in headers if kind not in _TYPES]:
        raise ValueError(f"an array of {odd[0]}; expected numbers")
    text = json.dumps({**data, "arrays": headers}).encode()
    file.write(len(text).to_bytes(4, "little"))
    file.write(text)
    for array in whole.values():
        file.write(array.data.cast("B") if array.size else b"")
    file.flush()


def read_message(file: BinaryIO, *, most: int) -> Message:
    """The next message, with arrays of at most `most` bytes together.

    Raises EOFError if there is none or it ends early, ValueError if it is no such message.
    """
    size = int.from_bytes(_exactly(file, 4), "little")
    if size > MOST_TEXT:
        raise ValueError(f"a message of {size:,} bytes; expected at most {MOST_TEXT:,}")
    try:
        data = json.loads(_exactly(file, size))
        headers = [(str(name), str(kind), [*shape]) for name, kind, shape in data.pop("arrays")]
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"no message: {error!r}") from None
    if len(headers) > _MOST_ARRAYS:
        raise ValueError(f"a message of {len(headers)} arrays")
    arrays, left = {}, most
    for name, kind, shape in headers:
        whole = all(type(axis) is int and 0 <= axis <= most for axis in shape)
        if kind not in _TYPES or not whole or len(shape) > _MOST_AXES:
            raise ValueError(f"no array: {name!r:.80} of {kind:.40} {shape!r:.200}")
        left -= (needed := math.prod(shape) * np.dtype(kind).itemsize)
        if left < 0:
            raise ValueError(f"arrays of more than {most:,} bytes")
        arrays[name] = np.frombuffer(_exactly(file, needed), kind).reshape(shape)
    return Message(data, arrays)


def _exactly(file: BinaryIO, size: int) -> bytearray:
    content = bytearray(size)
    view, position = memoryview(content), 0
    while position < size:
        count = file.readinto(view[position:])  # type: ignore[attr-defined]
        if not count:
            raise EOFError("the other process is gone")
        position += count
    return content
