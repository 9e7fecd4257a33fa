"""Reads bundles. Every file must match the manifest byte for byte, and pickles are never read."""

import hashlib
import io
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from thinstack.bundle.manifest import (
    CONFIG_FILE,
    GPU_FILE,
    MANIFEST_BYTES,
    MANIFEST_FILE,
    MEND,
    MOST_ENTRIES,
    ONNX_FILE,
    RELABEL_FILE,
    VOCABULARY_FILE,
    FileRecord,
    Manifest,
    check_schema,
)
from thinstack.core.config import SCHEMA_VERSION, ModelConfig
from thinstack.core.config.base import problems
from thinstack.data.files.paths import FileContent
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import BundleError, ConfigError, DataError, raised_by_signal_handler

_NAMES = TypeAdapter(dict[str, str])


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle with files that match its manifest, as `open_bundle` and `write_bundle` return it.

    `path` is absolute, so the bundle can be read after a change of directory. A bundle in memory
    has `contents`, the bytes of its files by name, and its `path` only names its origin.
    """

    path: Path
    config: ModelConfig
    manifest: Manifest
    contents: Mapping[str, bytes] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.contents is None:
            object.__setattr__(self, "path", self.path.absolute())

    def read(self, name: str) -> bytes:
        """Return the content of a file of the bundle, such as `onnx/model.onnx`. Raises BundleError
        if the bundle has no such file or the file has changed."""
        return _read(self.path, self.manifest, name, self.contents)

    def for_gpu(self) -> bytes:
        """Return the content of the file for GPUs (`thinstack.bundle.gpu_file`), empty if there is
        none. Raises BundleError as `read` does."""
        return self.read(GPU_FILE) if GPU_FILE in self.manifest.files else b""

    @property
    def reads_pairs(self) -> bool:
        """Whether the ONNX file contains a model of text pairs; False without one. Raises
        BundleError as `read` does."""
        if ONNX_FILE not in self.manifest.files:
            return False
        from thinstack.bundle.gpu_file import metadata  # an ONNX reader that few calls need

        source = str(self.path / ONNX_FILE)
        return metadata(self.read(ONNX_FILE), source).get("reads") == "pairs"

    def relabel(self) -> dict[str, str]:
        """The recipe's names for the classes in the training files, "" for a class that was left
        out; empty if the classes were not renamed. Raises BundleError for an invalid file."""
        if RELABEL_FILE not in self.manifest.files:
            return {}
        try:
            return _NAMES.validate_json(self.read(RELABEL_FILE), strict=True)
        except ValidationError as error:
            source = self.path / RELABEL_FILE
            raise BundleError(f"{source}: {problems(error, most=1)}; {MEND}") from None

    def vocabulary(self) -> WordVocabulary | WordpieceVocabulary:
        """Load the vocabulary. Raises BundleError if it is not of the kind in the configuration."""
        kind = WordVocabulary if self.config.embedding.kind == "words" else WordpieceVocabulary
        path, content = self.path / VOCABULARY_FILE, self.read(VOCABULARY_FILE)
        if (entries := content.count(b"\n")) > MOST_ENTRIES:
            raise BundleError(f"{path}: {entries:,} entries; the limit is {MOST_ENTRIES:,}")
        try:
            vocabulary = kind.load(FileContent(path, lambda: content))
        except DataError as error:
            raise BundleError(str(error)) from None
        _check_digest(path, vocabulary.digest(), self.manifest.files[VOCABULARY_FILE])
        return vocabulary


def read_folder(folder: Path) -> Bundle:
    """Open the bundle in a folder. Raises BundleError if a file is missing, damaged, a link, or not
    listed in the manifest (hidden files may be)."""
    manifest = read_manifest(folder)
    for name in manifest.files:
        with _opened(folder, manifest, name) as (file, record):
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        _check_digest(folder / name, digest, record)
    for name in unlisted(folder, manifest):
        if not any(part.startswith(".") for part in name.split("/")):
            problem = "not in the manifest; move files that do not belong to the bundle out of it"
            raise BundleError(f"{folder / name}: {problem}")
    return _checked(folder, manifest)


Files = dict[str, bytes]
"""The content of every file of a bundle, including the manifest, by its name in the bundle."""


def pack(bundle: Bundle) -> Files:
    """Read all files of a bundle. Raises BundleError if one has changed since it was opened."""
    return {name: bundle.read(name) for name in bundle.manifest.files} | {
        MANIFEST_FILE: bundle.manifest.to_bytes()
    }


def unpacked(files: Mapping[str, bytes], source: str) -> Bundle:
    """Create a bundle in memory from these files, including the manifest. `source` is the prefix of
    messages. Raises BundleError unless the files match their manifest exactly."""
    manifest, path = Manifest.parse(files.get(MANIFEST_FILE, b""), source=source), Path(source)
    if odd := sorted(set(files) ^ {*manifest.files, MANIFEST_FILE}):
        problem = f"its manifest and files differ: {', '.join(odd):.200}"
        raise BundleError(f"{source}: {problem}; {MEND}")
    for name, record in manifest.files.items():
        place = f"{source}: {name}"
        _check_size(place, len(files[name]), record)
        _check_digest(place, hashlib.sha256(files[name]).hexdigest(), record)
    return _checked(path, manifest, files)


def _checked(path: Path, manifest: Manifest, contents: Mapping[str, bytes] | None = None) -> Bundle:
    """Return a bundle whose files match the manifest, with its configuration."""
    source = str(path / CONFIG_FILE)
    _record(path, manifest, VOCABULARY_FILE)
    content = _read(path, manifest, CONFIG_FILE, contents)
    try:
        raw = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{source}: invalid JSON: {error}") from None
    if isinstance(raw, dict):
        check_schema(raw, SCHEMA_VERSION, source=source, producer=manifest.producer.model_dump())
    try:
        return Bundle(path, ModelConfig.parse(raw, source=source), manifest, contents)
    except ConfigError as error:
        raise BundleError(f"{error!s:.2000}") from None


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder. Raises BundleError if it is missing or cannot be read."""
    path = folder / MANIFEST_FILE
    with _readable(path, missing=f"{folder}: not a bundle (no {MANIFEST_FILE})"):
        size = _file_size(path)
        if size > MANIFEST_BYTES:
            raise BundleError(f"{path}: {size:,} bytes; the manifest limit is {MANIFEST_BYTES:,}")
        return Manifest.parse(path.read_bytes(), source=str(path))


def unlisted(folder: Path, manifest: Manifest) -> list[str]:
    """List the names of the files and links in a folder that are not in the manifest."""
    names: set[str] = set()
    for top, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(top) / name).is_symlink()]
        names |= {(Path(top) / name).relative_to(folder).as_posix() for name in files + links}
    return sorted(names - set(manifest.files) - {MANIFEST_FILE})


def _record(folder: Path, manifest: Manifest, name: str) -> FileRecord:
    if name not in manifest.files:
        files = ", ".join(sorted(manifest.files)) or "no files"
        raise BundleError(f"{folder}: this bundle has no {name}; it has {files}")
    return manifest.files[name]


def _read(
    folder: Path, manifest: Manifest, name: str, contents: Mapping[str, bytes] | None
) -> bytes:
    if contents is not None:
        _record(folder, manifest, name)
        return contents[name]
    with _opened(folder, manifest, name) as (file, record):
        content = file.read(record.size + 1)  # it may have grown meanwhile
    _check_digest(folder / name, hashlib.sha256(content).hexdigest(), record)
    return content


@contextmanager
def _opened(
    folder: Path, manifest: Manifest, name: str
) -> Iterator[tuple[io.BufferedReader, FileRecord]]:
    """Open a file of the bundle. Raises BundleError if its size differs from the manifest, or if it
    is a link or in a linked folder."""
    record, path = _record(folder, manifest, name), folder / name
    for inner in list(path.parents)[: name.count("/")]:
        if inner.is_symlink():
            raise BundleError(f"{inner}: a link; a bundle may contain only plain folders and files")
    with _readable(path, missing=f"{path}: missing, though the manifest lists it; {MEND}"):
        _check_size(path, _file_size(path), record)
        with path.open("rb") as file:
            yield file, record


@contextmanager
def _readable(path: Path, *, missing: str) -> Iterator[None]:
    """Convert OSErrors of the block to BundleErrors; `missing`: the message for a missing file."""
    try:
        yield
    except OSError as error:
        if raised_by_signal_handler(error):
            raise
        gone = isinstance(error, FileNotFoundError)
        raise BundleError(missing if gone else f"{path}: cannot be read: {error}") from None


def _file_size(path: Path) -> int:
    """Size of a plain file in bytes. Links could lead out of the bundle, and pipes block."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise BundleError(f"{path}: not a plain file; a bundle may not contain links or devices")
    return status.st_size


def _check_size(path: Path | str, size: int, record: FileRecord) -> None:
    if size != record.size:
        raise BundleError(f"{path}: {size:,} bytes, but the manifest says {record.size:,}; {MEND}")


def _check_digest(path: Path | str, digest: str, record: FileRecord) -> None:
    if digest != record.sha256:
        problem = "its SHA-256 differs from the manifest's, so the file is damaged"
        raise BundleError(f"{path}: {problem}; {MEND}")
