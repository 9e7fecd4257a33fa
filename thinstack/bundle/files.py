"""A bundle in memory, as the content of its files, for programs that send one elsewhere."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from thinstack.bundle.manifest import MANIFEST_FILE, MEND, Manifest
from thinstack.bundle.reading import Bundle, open_bundle
from thinstack.errors import BundleError

__all__ = ["Files", "pack", "unpacked", "write"]

Files = dict[str, bytes]
"""The content of every file of a bundle, the manifest included, by its name in the bundle."""


def pack(bundle: Bundle) -> Files:
    """The content of all files of a bundle. Raises BundleError if a file has changed since the
    bundle was opened."""
    return {name: bundle.read(name) for name in bundle.manifest.files} | {
        MANIFEST_FILE: bundle.manifest.to_bytes()
    }


def write(files: Files, folder: Path) -> None:
    """Write a bundle to `folder`, replacing the bundle there. Other files in the folder stay."""
    for name in _names(folder):
        (folder / name).unlink(missing_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@contextmanager
def unpacked(files: Files, source: str) -> Iterator[Bundle]:
    """The bundle with these files, in a folder that is removed afterwards.

    Raises BundleError, starting with `source`, unless the files are exactly as their manifest says.
    """
    manifest = Manifest.parse(files.get(MANIFEST_FILE, b""), source=source)
    odd = sorted(set(files) ^ {*manifest.files, MANIFEST_FILE})
    if odd:  # names that a manifest lists cannot lead out of the folder
        listed = f"{', '.join(odd):.200}"
        raise BundleError(f"{source}: its manifest and its files differ: {listed}; {MEND}")
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
