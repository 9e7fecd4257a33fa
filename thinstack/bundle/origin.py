"""Whose a model is, and whether it is therefore isolated.

A model is the user's own if every byte of its bundle is that of an installed bundle, or of one that
this user wrote on this machine. A name or a path does not matter, so all processes agree.

A digest in a bundle tells nothing of its origin, because whoever makes a bundle writes the digest
too. So a folder of this user holds a note for each bundle with a model that was written here. A
note is an empty file, and its name is the digest of the manifest, which covers every byte of the
bundle. If the notes are lost, the models are isolated.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from thinstack.bundle.opening import BUNDLED, bundled_folders
from thinstack.bundle.reading import Bundle, read_manifest
from thinstack.errors import BundleError


def is_isolated(bundle: Bundle, asked: bool | None, allow_operators: Collection[str] = ()) -> bool:
    """Whether a model runs in processes of its own. `asked` says so. With None, it does unless it
    is the user's own, and it does with `allow_operators`."""
    if asked is not None:
        return asked
    return bool(allow_operators) or not is_own(bundle)


def is_own(bundle: Bundle) -> bool:
    """Whether the model is the user's own."""
    if bundle.contents is None and bundle.path.parent == BUNDLED:  # as it was read from there
        return True
    with suppress(OSError, RuntimeError):
        if _note_of(bundle).is_file():
            return True
    return bundle.manifest.digest in _installed()


def note_own(bundle: Bundle) -> None:
    """Note that this user made this bundle. Where no note can be written, there is none."""
    with suppress(OSError, RuntimeError):  # no home, or one that cannot be written
        path = _note_of(bundle)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def _note_of(bundle: Bundle) -> Path:
    """The note of a bundle, in the folder for what a program keeps of a user's work: that of the
    XDG Base Directory Specification, or its counterpart on Windows."""
    named = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    state = Path(named) if named and Path(named).is_absolute() else Path.home() / ".local" / "state"
    return state / "thinstack" / "trained" / bundle.manifest.digest


def _installed() -> Iterator[str]:
    """The digests of the installed bundles. Those of thinstack come first, because finding those of
    other distributions takes longer."""
    yield from map(_digest, bundled_folders())
    from thinstack.plugins.manager import manager

    yield from (_digest(bundle.folder) for bundle in manager().specs("bundle"))


def _digest(folder: Path) -> str:
    try:
        return read_manifest(folder).digest
    except BundleError:
        return ""
