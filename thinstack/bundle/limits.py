"""Limits on the size of a bundle's files, which are checked before any file is read."""

from typing import Final

from thinstack.errors import BundleError

_KIB, _MIB, _GIB = 1 << 10, 1 << 20, 1 << 30

MANIFEST_BYTES: Final = _MIB
MOST_FILES: Final = 1000
MOST_BYTES: Final = 8 * _GIB
"""Of all files of a bundle together."""
MOST_ENTRIES: Final = 3_000_000
"""Of a vocabulary; GloVe's largest table has 2.2 million words."""

_LIMITS = {
    "config.json": 256 * _KIB,
    "vocabulary.txt": 32 * _MIB,
    "tokenizer.json": 128 * _MIB,
    "distances.json": 8 * _MIB,
    "relabel.json": _MIB,
    "cases.json": 16 * _MIB,
    "verification.json": 16 * _MIB,
    "README.md": 4 * _MIB,
    "onnx/model.onnx": 2 * _GIB - 1,  # the most that a protocol buffer can be
}
_HEADER = _MIB


def size_limit(name: str) -> int:
    """The number of bytes that the file of this name may have."""
    return _LIMITS.get(name, 4 * _GIB)


def check_safetensors(content: bytes, *, source: str) -> None:
    """Raise BundleError unless a safetensors file holds its whole header, and the header is no
    larger than 10,000 tensors need.

    A file starts with the length of its header, as 8 bytes, the lowest first.
    """
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > len(content) - 8:
        problem = f"{len(content):,} bytes cannot hold a header of {length:,}"
        raise BundleError(f"{source}: not a safetensors file: {problem}")
    if length > _HEADER:
        raise BundleError(f"{source}: a header of {length:,} bytes; expected at most {_HEADER:,}")
