"""A bundle as one string of bytes: how a spaCy component hands its model on."""

import srsly  # type: ignore[import-untyped]

from thinstack.bundle.files import Files
from thinstack.errors import BundleError

__all__ = ["SOURCE", "from_bytes", "to_bytes"]

SOURCE = "the saved tree_sentiment"
"""What leads messages about a bundle that was handed on."""


def to_bytes(files: Files) -> bytes:
    """The files of a bundle as one string of bytes."""
    packed: bytes = srsly.msgpack_dumps(files)
    return packed


def from_bytes(data: bytes) -> Files:
    """What `to_bytes` was given; only its form is checked. Raises BundleError for another."""
    try:
        files = srsly.msgpack_loads(data)
    except Exception as error:  # msgpack raises errors of many kinds
        raise BundleError(f"{SOURCE}: not what to_bytes writes: {error!s:.200}") from None
    plain = isinstance(files, dict) and all(
        isinstance(name, str) and isinstance(content, bytes) for name, content in files.items()
    )
    if not plain:
        raise BundleError(f"{SOURCE}: not what to_bytes writes, expected the files of a bundle")
    found: Files = files
    return found
