"""A bundle in memory, as the content of its files, for programs that send one elsewhere."""

import errno
import shutil
from pathlib import Path

from thinstack.bundle.manifest import MANIFEST_FILE, Manifest
from thinstack.bundle.reading import Bundle
from thinstack.bundle.reading import unpacked as unpacked
from thinstack.bundle.writing import replacing_folder, write_files
from thinstack.errors import BundleError

Files = dict[str, bytes]
"""The content of every file of a bundle, the manifest included, by its name in the bundle."""


def pack(bundle: Bundle) -> Files:
    """The content of all files of a bundle. Raises BundleError if a file has changed since the
    bundle was opened."""
    return {name: bundle.read(name) for name in bundle.manifest.files} | {
        MANIFEST_FILE: bundle.manifest.to_bytes()
    }


def write(files: Files, folder: Path) -> None:
    """Write a bundle to `folder`, in place of the bundle there once all of it is written. Other
    files in the folder stay. Without files, no folder is made. Raises OSError."""
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "expected a folder to write to", str(folder))
    if not files and not folder.exists():
        return
    with replacing_folder(folder) as new:
        write_files(new, files)
        if folder.is_dir():
            _copy_others(folder, new)


def _copy_others(folder: Path, new: Path) -> None:
    """Copy what is in a folder, but not the files of the bundle there, nor what stands in the way
    of those in `new`. Links stay links."""
    ours = {folder / name for name in _names(folder)}

    def is_left_out(path: Path) -> bool:
        written = new / path.relative_to(folder)
        folders = written.is_dir() and path.is_dir() and not path.is_symlink()
        return path in ours or (written.exists() and not folders)

    def left_out(parent: str, names: list[str]) -> list[str]:
        return [name for name in names if is_left_out(Path(parent, name))]

    shutil.copytree(folder, new, symlinks=True, ignore=left_out, dirs_exist_ok=True)


def _names(folder: Path) -> list[str]:
    """The files of the bundle in `folder`, if it holds one."""
    path = folder / MANIFEST_FILE
    try:
        return [*Manifest.parse(path.read_bytes(), source=str(path)).files, MANIFEST_FILE]
    except (OSError, BundleError):
        return []
