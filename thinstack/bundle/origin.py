"""Ownership of models, which decides whether they are isolated.

A model is the user's own if every byte of its bundle is that of an installed bundle, or of one that
this user wrote on this machine. Names and paths are ignored, so all processes agree.

A digest in a bundle does not prove its origin, because the author of a bundle also writes the
digest. Therefore a user folder contains a note for each bundle with a model that was written here:
an empty file named after the digest of the manifest, which covers every byte of the bundle. If the
notes are lost, the models are isolated.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from thinstack.bundle.opening import BUNDLED, bundled_folders
from thinstack.bundle.reading import Bundle, read_manifest
from thinstack.errors import BundleError


def is_isolated(bundle: Bundle, asked: bool | None, allow_operators: Collection[str] = ()) -> bool:
    """Whether a model runs in separate processes: `asked`, or by default (None) if it is
    third-party or has `allow_operators`."""
    if asked is not None:
        return asked
    return bool(allow_operators) or not is_own(bundle)


def is_own(bundle: Bundle) -> bool:
    """Whether the model is the user's own."""
    if bundle.contents is None and bundle.path.parent == BUNDLED:  # it was read from there
        return True
    with suppress(OSError, RuntimeError):
        if _note_of(bundle).is_file():
            return True
    return bundle.manifest.digest in _installed()


def note_own(bundle: Bundle) -> None:
    """Register a bundle as written by this user. Does nothing if the note cannot be written."""
    with suppress(OSError, RuntimeError):  # no home folder, or a read-only one
        path = _note_of(bundle)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def _note_of(bundle: Bundle) -> Path:
    """Return the path of a bundle's note, in the state folder of the XDG Base Directory
    Specification, or its counterpart on Windows."""
    named = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    state = Path(named) if named and Path(named).is_absolute() else Path.home() / ".local" / "state"
    return state / "thinstack" / "trained" / bundle.manifest.digest


def _installed() -> Iterator[str]:
    """Yield the digests of the installed bundles, those of thinstack first, because those of other
    distributions take longer to find."""
    yield from map(_digest, bundled_folders())
    from thinstack.plugins.manager import manager

    yield from (_digest(bundle.folder) for bundle in manager().specs("bundle"))


def _digest(folder: Path) -> str:
    try:
        return read_manifest(folder).digest
    except BundleError:
        return ""
