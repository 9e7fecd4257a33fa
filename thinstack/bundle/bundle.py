"""Bundles: a model as a folder of plain files, read only if every byte is what the manifest says.
No pickle is ever read."""

import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from thinstack.bundle.limits import MANIFEST_BYTES, MOST_ENTRIES
from thinstack.bundle.manifest import (
    CONFIG_FILE,
    DISTANCES_FILE,
    MANIFEST_FILE,
    MEND,
    VOCABULARY_FILE,
    FileRecord,
    Manifest,
    check_schema,
)
from thinstack.config import SCHEMA_VERSION, ModelConfig
from thinstack.data.distances import DistanceTable
from thinstack.data.vocabulary import WordVocabulary
from thinstack.data.wordpiece import WordpieceVocabulary
from thinstack.errors import BundleError, ConfigError, DataError, UnknownNameError

__all__ = ["Bundle", "bundled_names", "open_bundle", "write_bundle"]

BUNDLED = Path(__file__).parents[1] / "bundled"


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle whose files were all found to be as its manifest says. Made by `open_bundle` and
    `write_bundle`."""

    path: Path
    config: ModelConfig
    manifest: Manifest

    def read(self, name: str) -> bytes:
        """The content of one of its files, such as `onnx/model.onnx`, checked against its digest.

        Raises BundleError if the bundle has no such file or it has changed.
        """
        return _read(self.path, self.manifest, name)

    def distances(self) -> DistanceTable | None:
        """The table that makes trees of words, if the bundle has one. Raises BundleError if the
        file holds none."""
        if DISTANCES_FILE not in self.manifest.files:
            return None
        try:
            return DistanceTable.from_bytes(
                self.read(DISTANCES_FILE), source=str(self.path / DISTANCES_FILE)
            )
        except DataError as error:
            raise BundleError(str(error)) from None

    def vocabulary(self) -> WordVocabulary | WordpieceVocabulary:
        """The vocabulary, of the kind that the configuration names. Raises BundleError if the file
        holds none."""
        kind = WordVocabulary if self.config.embedding.kind == "words" else WordpieceVocabulary
        path = self.path / VOCABULARY_FILE
        entries = self.read(VOCABULARY_FILE).count(b"\n")
        if entries > MOST_ENTRIES:
            raise BundleError(f"{path}: {entries:,} entries; expected at most {MOST_ENTRIES:,}")
        try:
            vocabulary = kind.load(path)
        except DataError as error:
            raise BundleError(str(error)) from None
        _check_digest(path, vocabulary.digest(), self.manifest.files[VOCABULARY_FILE])
        return vocabulary


def open_bundle(path_or_name: str | Path) -> Bundle:
    """Open a bundle by the path of its folder or by the name of one that thinstack brings along.

    A string without a path separator is a name if there is such a model, else a folder: `./sst` is
    always a folder. Raises UnknownNameError, which lists the known names; BundleError if anything
    is missing, damaged, not listed in the manifest (hidden files aside), a link, or of a newer
    schema.
    """
    folder = _locate(path_or_name)
    manifest = _read_manifest(folder)
    for name, record in manifest.files.items():
        path = _checked_path(folder, name, record)
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise BundleError(f"{path}: cannot be read: {error}") from None
        _check_digest(path, digest, record)
    extra = [
        name
        for name in _unlisted(folder, manifest)
        if not any(part.startswith(".") for part in name.split("/"))
    ]
    if extra:
        raise BundleError(
            f"{folder / extra[0]}: not listed in the manifest; move what is no part of the bundle "
            "out of it"
        )
    _read(folder, manifest, VOCABULARY_FILE)
    return Bundle(folder, _config(folder, manifest), manifest)


def bundled_names() -> list[str]:
    """Names of the bundles that thinstack brings along."""
    return sorted(path.parent.name for path in BUNDLED.glob(f"*/{MANIFEST_FILE}"))


def write_bundle(
    path: str | Path,
    files: Mapping[str, bytes],
    *,
    config: ModelConfig,
    metrics: Mapping[str, JsonValue] | None = None,
    data: str = "",
    created: str | None = None,
) -> Bundle:
    """Write a bundle of these files, and `config.json` and `manifest.json`, and open it.

    It is written beside `path`, checked, and then renamed, so that `open_bundle(path)` finds either
    the old bundle or the new one, whole, wherever the writer is killed. `metrics`, `data` and
    `created` are told in `Manifest`. Raises BundleError if `path` is a folder that holds anything
    but a bundle, if a name is no plain relative one, or if the files cannot be written; what was
    there is then still there.
    """
    reserved = {CONFIG_FILE, MANIFEST_FILE} & files.keys()
    if reserved:
        raise BundleError(
            f"{sorted(reserved)[0]} is written from the configuration and the manifest: leave it "
            "out of the files"
        )
    contents = {CONFIG_FILE: f"{config.model_dump_json(indent=2)}\n".encode(), **files}
    manifest = Manifest.seal(contents, metrics=metrics or {}, data=data, created=created)
    contents[MANIFEST_FILE] = manifest.to_bytes()
    target = Path(path).resolve()
    staging = target.parent / f".{target.name}.{secrets.token_hex(4)}.thinstack-new"
    try:
        _settle(target)
        _check_replaceable(target)
        _write_files(staging, contents)
        open_bundle(staging)
        _exchange(staging, target)
    except OSError as error:
        raise BundleError(f"{target}: the bundle cannot be written: {error}") from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return Bundle(target, config, manifest)


def _aside(folder: Path) -> Path:
    """Where a bundle stands while another takes its place."""
    folder = folder.resolve()
    return folder.parent / f".{folder.name}.thinstack-old"


def _settle(target: Path) -> None:
    """Finish what a writer that was killed left undone: put the old bundle back, or remove it if
    the new one is in place."""
    old = _aside(target)
    if old.is_dir() and target.exists():
        shutil.rmtree(old)
    elif old.is_dir():
        os.rename(old, target)


def _check_replaceable(target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise BundleError(f"{target}: a file; a bundle is a folder: choose another path")
    if not target.exists() or not any(target.iterdir()):
        return
    try:
        other = _unlisted(target, _read_manifest(target))
    except BundleError as error:
        raise BundleError(
            f"{target}: not empty and not a bundle that could be replaced ({error}); choose "
            "another path"
        ) from None
    if other:
        raise BundleError(
            f"{target}: holds {other[0]}, which is no part of the bundle there: move it away or "
            "choose another path"
        )


def _write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True)
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    for top, _, _ in os.walk(folder, topdown=False):
        _sync_folder(Path(top))


def _exchange(staging: Path, target: Path) -> None:
    old = _aside(target)
    if target.exists():
        os.rename(target, old)
    try:
        os.rename(staging, target)
    except OSError:
        if old.exists():
            os.rename(old, target)
        raise
    _sync_folder(target.parent)
    shutil.rmtree(old, ignore_errors=True)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _locate(path_or_name: str | Path) -> Path:
    plain = isinstance(path_or_name, str) and not ("/" in path_or_name or os.sep in path_or_name)
    if plain and path_or_name in bundled_names():
        return BUNDLED / path_or_name
    folder = Path(path_or_name)
    try:
        for candidate in (folder, _aside(folder)):
            if candidate.is_dir():
                return candidate
        is_file = folder.is_file()
    except (OSError, ValueError, RuntimeError) as error:
        raise BundleError(f"{str(folder)!r:.200}: no path of a bundle: {error}") from None
    if is_file:
        raise BundleError(f"{folder}: a file; expected the folder of a bundle")
    if plain:
        raise UnknownNameError("model", str(path_or_name), bundled_names())
    raise BundleError(
        f"{folder}: no such folder; bundled models have the names "
        f"{', '.join(bundled_names()) or '(none)'}"
    )


def _read_manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST_FILE
    try:
        size = _file_size(path)
        if size > MANIFEST_BYTES:
            raise BundleError(f"{path}: {size:,} bytes; a manifest has at most {MANIFEST_BYTES:,}")
        content = path.read_bytes()
    except FileNotFoundError:
        raise BundleError(f"{folder}: not a bundle, it has no {MANIFEST_FILE}") from None
    except OSError as error:
        raise BundleError(f"{path}: cannot be read: {error}") from None
    return Manifest.parse(content, source=str(path))


def _unlisted(folder: Path, manifest: Manifest) -> list[str]:
    """Files and links in `folder`, at any depth, that the manifest does not list, by name relative
    to it."""
    found = []
    for top, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(top) / name).is_symlink()]
        found += [(Path(top) / name).relative_to(folder).as_posix() for name in files + links]
    return sorted(set(found) - set(manifest.files) - {MANIFEST_FILE})


def _read(folder: Path, manifest: Manifest, name: str) -> bytes:
    if name not in manifest.files:
        raise BundleError(
            f"{folder}: this bundle has no {name}; it has "
            f"{', '.join(sorted(manifest.files)) or 'no files'}"
        )
    record = manifest.files[name]
    path = _checked_path(folder, name, record)
    try:
        with path.open("rb") as file:
            content = file.read(record.size + 1)  # it may have grown meanwhile
    except OSError as error:
        raise BundleError(f"{path}: cannot be read: {error}") from None
    _check_digest(path, hashlib.sha256(content).hexdigest(), record)
    return content


def _checked_path(folder: Path, name: str, record: FileRecord) -> Path:
    path = folder / name
    for inner in list(path.parents)[: name.count("/")]:
        if inner.is_symlink():
            raise BundleError(f"{inner}: a link; a bundle holds plain folders and files")
    try:
        size = _file_size(path)
    except FileNotFoundError:
        raise BundleError(f"{path}: missing, though the manifest lists it; {MEND}") from None
    except OSError as error:
        raise BundleError(f"{path}: cannot be read: {error}") from None
    if size != record.size:
        raise BundleError(f"{path}: {size:,} bytes, but the manifest says {record.size:,}; {MEND}")
    return path


def _file_size(path: Path) -> int:
    """Bytes of a plain file: a link could lead out of the bundle, and a pipe would be waited
    for."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise BundleError(
            f"{path}: not a plain file; a bundle holds no links, folders or devices in place of "
            "its files"
        )
    return status.st_size


def _check_digest(path: Path, digest: str, record: FileRecord) -> None:
    if digest != record.sha256:
        raise BundleError(
            f"{path}: its SHA-256 is not the one in the manifest, so the file is damaged; {MEND}"
        )


def _config(folder: Path, manifest: Manifest) -> ModelConfig:
    source = str(folder / CONFIG_FILE)
    try:
        raw = json.loads(_read(folder, manifest, CONFIG_FILE))
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{source}: not readable as JSON: {error}") from None
    if isinstance(raw, dict):
        check_schema(raw, SCHEMA_VERSION, source=source, producer=manifest.producer.model_dump())
    try:
        return ModelConfig.parse(raw, source=source)
    except ConfigError as error:
        raise BundleError(f"{error!s:.2000}") from None
