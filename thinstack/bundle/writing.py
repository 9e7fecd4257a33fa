"""Writes bundles atomically, even if the writer is killed."""

import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from thinstack.bundle.manifest import CONFIG_FILE, MANIFEST_FILE, ONNX_FILE, Manifest
from thinstack.bundle.opening import aside
from thinstack.bundle.origin import note_own
from thinstack.bundle.reading import Bundle, Files, read_folder, read_manifest, unlisted
from thinstack.core.config import ModelConfig
from thinstack.data.files.paths import any_path
from thinstack.data.files.writing import keep_rights, staging, sync
from thinstack.errors import BundleError, DataError

_NEW = (".{}.", ".thinstack-new")


def write_bundle(
    path: str | Path,
    files: Mapping[str, bytes],
    *,
    config: ModelConfig,
    metrics: Mapping[str, JsonValue] | None = None,
    data: str = "",
    created: str | None = None,
    is_own: bool = True,
) -> Bundle:
    """Write a bundle with these files, `config.json` and `manifest.json`, and open it.

    The bundle is written next to `path`, checked, and then renamed, so that `open_bundle(path)`
    opens either the whole old bundle or the whole new one. `Manifest` describes `metrics`, `data`
    and `created`. `is_own`: whether the model is yours. If so, the bundle is registered and not
    isolated on this machine (`thinstack.bundle.origin`). Pass False for a third-party file.

    Raises BundleError if `path` is a folder that contains anything but a bundle, if a name is not a
    plain relative path, or if the files cannot be written. An old bundle then stays unchanged.
    """
    sealed = seal(files, config=config, metrics=dict(metrics or {}), data=data, created=created)
    try:
        target = any_path(path).resolve()
    except DataError as error:
        raise BundleError(str(error)) from None
    try:
        with replacing_folder(target) as new:
            check_replaceable(target)
            _write_files(new, sealed.contents or {})
            read_folder(new)
    except OSError as error:
        raise BundleError(f"{target}: cannot write the bundle: {error}") from None
    bundle = Bundle(target, config, sealed.manifest)
    if is_own and ONNX_FILE in files:
        note_own(bundle)
    return bundle


def seal(files: Mapping[str, bytes], *, config: ModelConfig, **fields: Any) -> Bundle:
    """Create a bundle in memory with these files, `config.json` and `manifest.json`, with further
    `fields` of the manifest. It can be run before it is written. Raises BundleError for invalid
    names and metrics."""
    if reserved := {CONFIG_FILE, MANIFEST_FILE} & files.keys():
        raise BundleError(f"{min(reserved)}: write_bundle writes this file; remove it from files")
    contents = {CONFIG_FILE: config.to_json().encode(), **files}
    manifest = Manifest.seal(contents, **fields)
    contents[MANIFEST_FILE] = manifest.to_bytes()
    return Bundle(Path("the new bundle"), config, manifest, contents)


@contextmanager
def replacing_folder(target: Path) -> Iterator[Path]:
    """Yield a new folder next to `target`. It replaces `target`, with the same permissions, if the
    block ends without an error, and is removed otherwise. First cleans up after a killed writer:
    restores the old folder, or removes it if it was replaced. Raises OSError."""
    target = target.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    old = aside(target)
    if old.is_dir() and target.exists():
        shutil.rmtree(old)
    elif old.is_dir():
        os.rename(old, target)
    with staging(target, *_NEW, folder=True) as new:
        yield new
        for top, _, names in os.walk(new, topdown=False):
            for path in (*(Path(top, name) for name in names), Path(top)):
                if not path.is_symlink():
                    sync(path)
        keep_rights(target, new)
        if target.exists():
            os.rename(target, old)
        try:
            os.rename(new, target)
        except OSError:
            if old.exists():
                os.rename(old, target)
            raise
        sync(target.parent)
        shutil.rmtree(old, ignore_errors=True)


def check_replaceable(target: Path) -> None:
    """Raise BundleError for a file, and for a folder that contains anything but a bundle."""
    if target.exists() and not target.is_dir():
        raise BundleError(f"{target}: expected a folder, found a file: choose another path")
    if not target.exists() or not any(target.iterdir()):
        return
    try:
        other = unlisted(target, read_manifest(target))
    except BundleError as error:
        problem = f"{target}: neither empty nor a bundle that can be replaced ({error})"
        raise BundleError(f"{problem}; choose another path") from None
    if other:
        problem = f"{target}: contains {other[0]}, which is not part of the bundle"
        raise BundleError(f"{problem}; move it away or choose another path")


def write_packed(files: Files, folder: Path) -> None:
    """Write a bundle to `folder`, atomically replacing the bundle there. Other files in the folder
    stay. Without files, no folder is created. Raises OSError."""
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "expected a folder to write to", str(folder))
    if not files and not folder.exists():
        return
    with replacing_folder(folder) as new:
        _write_files(new, files)
        if folder.is_dir():
            _copy_others(folder, new)


def _copy_others(folder: Path, new: Path) -> None:
    """Copy the contents of a folder, except the files of the bundle there and whatever conflicts
    with those in `new`. Links stay links."""
    ours = set[Path]()
    with suppress(BundleError):  # it may not contain a bundle
        ours = {folder / name for name in (*read_manifest(folder).files, MANIFEST_FILE)}

    def is_left_out(path: Path) -> bool:
        written = new / path.relative_to(folder)
        folders = written.is_dir() and path.is_dir() and not path.is_symlink()
        return path in ours or (written.exists() and not folders)

    def left_out(parent: str, names: list[str]) -> list[str]:
        return [name for name in names if is_left_out(Path(parent, name))]

    shutil.copytree(folder, new, symlinks=True, ignore=left_out, dirs_exist_ok=True)


def _write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
