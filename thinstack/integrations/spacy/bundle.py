"""A bundle in memory: how a spaCy component keeps its model and hands it on."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import srsly  # type: ignore[import-untyped]

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.manifest import MANIFEST_FILE, Manifest
from thinstack.errors import BundleError

__all__ = ["Files", "from_bytes", "pack", "to_bytes", "unpacked", "write"]

Files = dict[str, bytes]
"""The content of every file of a bundle, the manifest included, by its name in the bundle."""

_SOURCE = "the saved tree_sentiment"


def pack(bundle: Bundle) -> Files:
    """All files of a bundle. Raises BundleError if one has changed since it was opened."""
    return {name: bundle.read(name) for name in bundle.manifest.files} | {
        MANIFEST_FILE: bundle.manifest.to_bytes()
    }


def write(files: Files, folder: Path) -> None:
    """Write a bundle to `folder`, in place of one that is there. Other files in it stay."""
    for name in _names(folder):
        (folder / name).unlink(missing_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def to_bytes(files: Files) -> bytes:
    """The files of a bundle as one string of bytes."""
    packed: bytes = srsly.msgpack_dumps(files)
    return packed


def from_bytes(data: bytes) -> Files:
    """What `to_bytes` was given; only its form is checked. Raises BundleError for another."""
    try:
        files = srsly.msgpack_loads(data)
    except Exception as error:  # msgpack raises errors of many kinds
        raise BundleError(f"{_SOURCE}: not what to_bytes writes: {error}") from None
    if not isinstance(files, dict) or not all(isinstance(x, bytes) for x in files.values()):
        raise BundleError(f"{_SOURCE}: not what to_bytes writes, expected the files of a bundle")
    return files


@contextmanager
def unpacked(files: Files) -> Iterator[Bundle]:
    """The bundle of these files, in a folder that is gone afterwards.

    Raises BundleError unless they are exactly what their manifest says.
    """
    manifest = Manifest.parse(files.get(MANIFEST_FILE, b""), source=_SOURCE)
    odd = ", ".join(sorted(set(files) ^ {*manifest.files, MANIFEST_FILE}))
    if odd:  # names that a manifest lists cannot lead out of the folder
        raise BundleError(f"{_SOURCE}: its manifest lists other files than there are: {odd}")
    with tempfile.TemporaryDirectory() as folder:
        write(files, Path(folder))
        yield open_bundle(folder)


def _names(folder: Path) -> list[str]:
    """The files of the bundle in `folder`, if it holds one."""
    path = folder / MANIFEST_FILE
    try:
        return [*Manifest.parse(path.read_bytes(), source=str(path)).files, MANIFEST_FILE]
    except (OSError, BundleError):
        return []
