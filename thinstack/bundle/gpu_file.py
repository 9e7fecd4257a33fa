"""The ONNX file for GPUs of a bundle. It omits the weights that are in the file for CPUs; the two
are joined on loading."""

import hashlib

from thinstack.bundle.gate.onnx_gate import graph_of, reading_onnx
from thinstack.bundle.manifest import MEND
from thinstack.errors import BundleError

HOST_NODES = "host_nodes"
"""The metadata key for the names of the nodes that run on the host, one per line."""
BESIDE = "beside"
"""The metadata key for the digest of the file for CPUs."""

_GRAPH, _WEIGHTS, _METADATA = 7, 5, 14  # fields of a model, of its graph, of a model


def digest(content: bytes) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def joined(content: bytes, beside: bytes, *, source: str) -> bytes:
    """Add the weights of the file for CPUs to the file for GPUs. Raises BundleError if either
    cannot be read, or if the first belongs to another file. `source` names the two."""
    if metadata(content, source).get(BESIDE) != digest(beside):
        raise BundleError(f"{source}: the second file does not belong to the first; {MEND}")
    with reading_onnx(content, source) as reader, reading_onnx(beside, source) as other:
        weights = other.read(graph_of(other.read())).all(_WEIGHTS)
        model = reader.read()
        graph = content[graph_of(model)], *(_field(_WEIGHTS, beside[weight]) for weight in weights)
        fields = [_field(_GRAPH, b"".join(graph))]
        for number, values in sorted(model.fields.items()):
            for value in values if number != _GRAPH else ():
                fields.append(_field(number, value if isinstance(value, int) else content[value]))
    return b"".join(fields)


def metadata(content: bytes, source: str = "the ONNX file") -> dict[str, str]:
    """Return the metadata of an ONNX file. Raises BundleError if it cannot be read."""
    with reading_onnx(content, source) as reader:
        entries = map(reader.read, reader.read().all(_METADATA))
        return {entry.text(1): entry.text(2) for entry in entries}


def host_nodes(content: bytes) -> str:
    """Return the names of the nodes that run on the host, one per line; empty for a file for CPUs.
    The file must have passed `check_onnx`."""
    return metadata(content).get(HOST_NODES, "")


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    groups = []
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])
