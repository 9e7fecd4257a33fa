"""The worker process that runs a model within limits that it sets for itself, and the messages
between it and its parent.

`thinstack.runtime.isolated` starts it. It ends when the parent ends or closes the pipe, even if a
forked child of the parent keeps the pipe open. Its start takes only as long as importing numpy and
onnxruntime.

A message is the length of its JSON (4 bytes, little-endian), the JSON, and the bytes of each array
in order. The JSON is an object whose `arrays` contains the name, type and shape of each array.
Nothing is unpickled, because the other process may be under the model's control.
"""

import json
import math
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack._onnxruntime import import_onnxruntime
from thinstack.errors import BundleError, DeviceError, MissingExtraError, described
from thinstack.runtime.session import start_session

if sys.platform != "win32":
    import resource

MOST_SENT: Final = 1 << 33
"""Maximum bytes of arrays in one message to the worker: an ONNX file."""
LOOK: Final = 1.0
"""Seconds between two checks that the parent is alive."""
MOST_TEXT: Final = 1 << 24
"""Maximum bytes of the JSON of a message."""
_MOST_ARRAYS, _MOST_AXES = 64, 64
_TYPES = frozenset({"bool", "float16", "float32", "float64"}) | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


class Message(NamedTuple):
    """The data of a message, and its arrays by name."""

    data: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]


def write_message(
    file: BinaryIO, data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a message. Raises ValueError for a non-numeric array, OSError if the other process is
    gone."""
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
    """Read the next message, with at most `most` bytes of arrays in total.

    Raises EOFError if there is none or it is truncated, ValueError if it is malformed.
    """
    size = int.from_bytes(_exactly(file, 4), "little")
    if size > MOST_TEXT:
        raise ValueError(f"a message of {size:,} bytes; the limit is {MOST_TEXT:,}")
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
            raise ValueError(f"not an array: {name!r:.80} of {kind:.40} {shape!r:.200}")
        left -= (needed := math.prod(shape) * np.dtype(kind).itemsize)
        if left < 0:
            raise ValueError(f"the arrays exceed {most:,} bytes")
        arrays[name] = np.frombuffer(_exactly(file, needed), kind).reshape(shape)
    return Message(data, arrays)


def _exactly(file: BinaryIO, size: int) -> bytearray:
    content = bytearray(size)
    if file.readinto(content) < size:  # type: ignore[attr-defined]
        raise EOFError("the other process is gone")
    return content


def main(owner: int) -> None:
    """Answer requests until standard input closes or the process `owner` ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    requests, replies = _pipes()
    write_message(replies, {}, {})  # started: later failures are the model's
    waiting: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, waiting), daemon=True).start()
    if sys.platform != "win32":  # Windows has no fork, and the parent's process id stays the same
        threading.Thread(target=_end_with, args=(owner,), daemon=True).start()
    session: Any = None
    while True:
        message = waiting.get()
        try:
            if session is None:
                session, data = _loaded(message)
                arrays: Mapping[str, Any] = {}
            else:
                _allow_seconds(message.data["seconds"])
                names = message.data["outputs"]
                outputs = session.run(names, dict(message.arrays))
                arrays = dict(zip(names, outputs, strict=True))
                data = {"warning": session.warning}
            write_message(replies, data, arrays)
        except MissingExtraError as error:
            _refuse(replies, error, error.package, error.extra)
        except MemoryError:
            _refuse(replies, BundleError(), "it needs more memory than the limit")
        except (BundleError, DeviceError) as error:
            _refuse(replies, error, str(error))
        except BrokenPipeError:
            return
        except Exception as error:  # whatever happens, the parent waits for an answer
            _refuse(replies, BundleError(), described(error))


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes for requests and replies, apart from the streams that libraries print to."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "r+b") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
    return requests, replies


def _listen(requests: BinaryIO, waiting: "queue.SimpleQueue[Message]") -> None:
    """Queue incoming messages, and end the process when the pipe closes, even during a run."""
    try:
        while True:
            waiting.put(read_message(requests, most=MOST_SENT))
    finally:
        os._exit(0)


def _end_with(owner: int) -> None:
    """End the process soon after its parent `owner` ends."""
    while os.getppid() == owner:
        time.sleep(LOOK)
    os._exit(0)


def _loaded(message: Message) -> tuple[Any, dict[str, Any]]:
    """Return the session of a file, and its description for the parent."""
    asked = message.data
    model, on_gpu = (message.arrays[name].tobytes() for name in ("model", "on_gpu"))
    _allow_seconds(asked["seconds"])
    if asked["memory"]:
        import_onnxruntime()  # before the limits, which exclude its own memory
        _allow_memory(asked["memory"])
    session = start_session(model, asked["device"], asked["source"], on_gpu)
    return session, {
        "device": session.device,
        "warning": session.warning,
        "inputs": session.inputs,
        "outputs": session.outputs,
        "metadata": session.metadata,
    }


def _refuse(replies: BinaryIO, error: Exception, *arguments: str) -> None:
    texts = [f"{argument:.2000}" for argument in arguments]
    write_message(replies, {"error": type(error).__name__, "arguments": texts}, {})


def _allow_seconds(seconds: int) -> None:
    """Limit this process to this many more seconds of processor time, if the system supports it."""
    if sys.platform != "win32":
        _limit(resource.RLIMIT_CPU, int(time.process_time()) + seconds + 1)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _allow_memory(size: int) -> None:
    """Limit this process to this many more bytes of memory, if the system supports it."""
    if sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as file:
            taken = int(file.read().split()[0]) * resource.getpagesize()
        _limit(resource.RLIMIT_AS, taken + size)


def _limit(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
