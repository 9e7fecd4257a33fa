"""Where a bundle comes from: from thinstack, an installed distribution or a training run of this
user, or from anybody else.

A digest in a bundle tells nothing of it, because whoever makes a bundle writes the digest too. So a
folder of this user holds a note for each bundle that was trained here. A note is an empty file, and
its name is the digest of the manifest, which covers every byte of the bundle. If the notes are
lost, the models run in processes of their own, which takes more time to start.
"""

import os
from contextlib import suppress
from pathlib import Path

from thinstack.bundle.reading import Bundle, is_installed

__all__ = ["is_own", "note_trained"]


def note_trained(bundle: Bundle) -> None:
    """Note that this bundle was trained here. Where no note can be written, there is none."""
    with suppress(OSError, RuntimeError):  # no home, or one that cannot be written
        path = _note_of(bundle)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def is_own(path_or_name: str | Path, bundle: Bundle) -> bool:
    """Whether `bundle`, which `path_or_name` named, came with thinstack or with another installed
    distribution, or was trained here. Raises PluginError as `open_bundle` does."""
    if is_installed(path_or_name):
        return True
    try:
        return _note_of(bundle).is_file()
    except (OSError, RuntimeError):
        return False


def _note_of(bundle: Bundle) -> Path:
    """The note of a bundle, in the folder for what a program keeps of a user's work: that of the
    XDG Base Directory Specification, or its counterpart on Windows."""
    told = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    state = Path(told) if told and Path(told).is_absolute() else Path.home() / ".local" / "state"
    return state / "thinstack" / "trained" / bundle.manifest.digest
