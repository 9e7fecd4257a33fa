"""Writes a bundle again with other files, for the scripts that make some of them anew."""

from collections.abc import Mapping
from pathlib import Path

from thinstack.bundle import Bundle
from thinstack.bundle.manifest import CONFIG_FILE
from thinstack.bundle.writing import write_bundle


def files_of(given: Bundle) -> dict[str, bytes]:
    """The files of a bundle but its configuration, by name."""
    return {name: given.read(name) for name in given.manifest.files.keys() - {CONFIG_FILE}}


def write_again(given: Bundle, folder: Path, files: Mapping[str, bytes]) -> None:
    """Write these files to the folder, in place of the bundle there, with the configuration, the
    figures and the dates of the bundle that is given."""
    write_bundle(
        folder,
        dict(sorted(files.items())),
        config=given.config,
        metrics=given.manifest.metrics,
        data=given.manifest.data,
        created=given.manifest.created,
    )
