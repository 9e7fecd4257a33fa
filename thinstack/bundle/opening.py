"""Opens bundles by path, name or address, and finds the installed ones."""

import os
from collections import Counter
from pathlib import Path

from thinstack.bundle.hub import fetch, is_address
from thinstack.bundle.manifest import MANIFEST_FILE
from thinstack.bundle.reading import Bundle, read_folder
from thinstack.errors import BundleError, UnknownNameError, shown

BUNDLED = Path(__file__).parent / "bundled"
MORE = "pip install a package that provides it, or pass the path of a bundle folder"
SEPARATE = {
    name: f"pip install ./models/thinstack-{name} in a clone of thinstack's repository"
    for name in ("sentiment-context", "sentiment-open", "aspects", "aspects-small", "vectors")
}
"""How to install the models in the repository that do not ship with thinstack."""


def open_bundle(path_or_name: str | Path) -> Bundle:
    """Open a bundle: by the path of its folder, by name, or by its address on the Hugging Face Hub.

    Bundles that ship with thinstack and other installed packages have names. A string without a
    path separator is a name if there is such a bundle, and otherwise a folder; `./sentiment` is
    always a folder. `hf://user/name` and `hf://user/name@revision` are addresses, from which
    `thinstack.bundle.hub.fetch` downloads.

    Raises UnknownNameError, which lists the known names; PluginError if two packages use the name,
    or if its folder is missing; BundleError as `read_folder` does, for a newer schema, and if
    thinstack's own files are missing; MissingExtraError for an address without huggingface_hub.
    """
    if is_address(path_or_name):
        return fetch(str(path_or_name))
    return read_folder(_locate(path_or_name))


def bundled_names() -> list[str]:
    """List the names of the bundles that ship with thinstack."""
    return [folder.name for folder in bundled_folders()]


def bundled_folders() -> list[Path]:
    """List the folders of the bundles that ship with thinstack."""
    return sorted(path.parent for path in BUNDLED.glob(f"*/{MANIFEST_FILE}"))


def installed_name(folder: Path) -> str | None:
    """Return the name of the installed bundle in this folder, None for any other folder."""
    if folder.parent == BUNDLED:
        return folder.name
    from thinstack.plugins.manager import manager

    bundles = manager().specs("bundle")
    names = Counter(bundle.name for bundle in bundles)
    here = (bundle.name for bundle in bundles if bundle.folder == folder)
    return next((name for name in here if names[name] == 1), None)


def is_installed(path_or_name: str | Path) -> bool:
    """Whether this is the name of an installed bundle, as for `open_bundle`. Raises PluginError."""
    try:
        return _may_be_name(path_or_name) and _named(str(path_or_name)).is_dir()
    except UnknownNameError:
        return False


def aside(folder: Path) -> Path:
    """Return the folder to which a bundle is moved while it is replaced."""
    folder = folder.resolve()
    return folder.parent / f".{folder.name}.thinstack-old"


def _may_be_name(path_or_name: str | Path) -> bool:
    return isinstance(path_or_name, str) and not ("/" in path_or_name or os.sep in path_or_name)


def _locate(path_or_name: str | Path) -> Path:
    if not BUNDLED.is_dir():
        raise BundleError(
            f"{BUNDLED} is missing: reinstall thinstack, not as a zip "
            "file; when you build with PyInstaller, add --collect-data thinstack"
        )
    problem: Exception | None = None
    if _may_be_name(path_or_name):
        try:
            return _named(str(path_or_name))
        except UnknownNameError as error:
            problem = error
    try:
        folder = Path(path_or_name)
        for candidate in (folder, aside(folder)):
            if candidate.is_dir():
                return candidate
        if folder.is_file():
            problem = BundleError(f"{folder}: expected a bundle folder, found a file")
    except (OSError, ValueError, RuntimeError, TypeError) as error:
        expected = f"expected the name, folder or address of a bundle: {error!s:.200}"
        raise BundleError(f"{shown(path_or_name, 200)}: {expected}") from None
    raise problem or BundleError(
        f"{folder}: no such folder; `thinstack plugins` lists the models you can load by name"
    )


def _named(name: str) -> Path:
    if name in bundled_names():
        return BUNDLED / name
    # Imported late: thinstack's own bundles start without the search for third-party ones.
    from thinstack.plugins.manager import manager

    try:
        folder: Path = manager().find("bundle", name).folder
    except UnknownNameError as error:
        more = SEPARATE.get(name, MORE)
        raise UnknownNameError("model", name, error.known, [more, *error.more]) from None
    return folder
