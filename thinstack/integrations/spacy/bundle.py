"""A bundle as one string of bytes, in which a spaCy component hands its model on."""

import srsly  # type: ignore[import-untyped]

from thinstack.bundle.reading import Files
from thinstack.errors import BundleError, raised_by_signal_handler

SOURCE = "the saved tree_sentiment"
"""What messages about such a bundle begin with."""

OTHER = "found other bytes; save the pipeline again"


def to_bytes(files: Files) -> bytes:
    """The files of a bundle as one string of bytes."""
    packed: bytes = srsly.msgpack_dumps(files)
    return packed


def from_bytes(data: bytes) -> Files:
    """The files that `to_bytes` was given. Only their form is checked. Raises BundleError for other
    bytes."""
    try:
        files = srsly.msgpack_loads(data)
    except Exception as error:  # msgpack raises errors of many kinds
        if raised_by_signal_handler(error):
            raise
        problem = f"{OTHER} ({error!s:.200})"
        raise BundleError(f"{SOURCE}: expected the files of a bundle, {problem}") from None
    plain = isinstance(files, dict) and all(
        isinstance(name, str) and isinstance(content, bytes) for name, content in files.items()
    )
    if not plain:
        raise BundleError(f"{SOURCE}: expected the files of a bundle, {OTHER}")
    found: Files = files
    return found
