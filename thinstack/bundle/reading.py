"""Reads bundles. A file is read only if every byte is as the manifest says, and no pickle is ever
read."""

import hashlib
import json
import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from thinstack.bundle.hub.remote import fetch, is_address, mend
from thinstack.bundle.limits import MANIFEST_BYTES, MOST_ENTRIES
from thinstack.bundle.manifest import (
    CONFIG_FILE,
    DISTANCES_FILE,
    MANIFEST_FILE,
    MEND,
    RELABEL_FILE,
    VOCABULARY_FILE,
    FileRecord,
    Manifest,
    check_schema,
)
from thinstack.core.config import SCHEMA_VERSION, ModelConfig
from thinstack.core.config.base import problems
from thinstack.data.files.content import FileContent
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import (
    BundleError,
    ConfigError,
    DataError,
    UnknownNameError,
    raised_by_signal_handler,
    shown,
)
from thinstack.text.distance_table import DistanceTable

BUNDLED = Path(__file__).parent / "bundled"
MORE = "pip install a package that brings it along, or give the path of a bundle's folder"
_NAMES = TypeAdapter(dict[str, str])


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle with files that match its manifest. `open_bundle` and `write_bundle` make it.

    `path` is absolute, so the bundle can be read wherever the process goes. A bundle in memory has
    `contents`, the bytes of its files by name, and its `path` only tells where it came from.
    """

    path: Path
    config: ModelConfig
    manifest: Manifest
    contents: Mapping[str, bytes] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.contents is None:
            object.__setattr__(self, "path", self.path.absolute())

    def read(self, name: str) -> bytes:
        """The content of a file of the bundle, such as `onnx/model.onnx`, checked by its digest.

        Raises BundleError if the bundle has no such file or the file has changed.
        """
        if self.contents is None:
            return _read(self.path, self.manifest, name)
        _record(self.path, self.manifest, name)
        return self.contents[name]

    def distances(self) -> DistanceTable | None:
        """The table that makes trees, if there is one. Raises BundleError if the file is not such a
        table."""
        if DISTANCES_FILE not in self.manifest.files:
            return None
        source = str(self.path / DISTANCES_FILE)
        try:
            return DistanceTable.from_bytes(self.read(DISTANCES_FILE), source=source)
        except DataError as error:
            raise BundleError(str(error)) from None

    def relabel(self) -> dict[str, str]:
        """The recipe's names for the classes in the training files, "" for a class that was left
        out. Empty if the classes were not renamed. Raises BundleError if the file does not hold
        such names."""
        if RELABEL_FILE not in self.manifest.files:
            return {}
        try:
            return _NAMES.validate_json(self.read(RELABEL_FILE), strict=True)
        except ValidationError as error:
            source = self.path / RELABEL_FILE
            raise BundleError(f"{source}: {problems(error, most=1)}; {MEND}") from None

    def vocabulary(self) -> WordVocabulary | WordpieceVocabulary:
        """The vocabulary, of the kind that the configuration names. Raises BundleError if the
        bundle has no such vocabulary."""
        kind = WordVocabulary if self.config.embedding.kind == "words" else WordpieceVocabulary
        path, content = self.path / VOCABULARY_FILE, self.read(VOCABULARY_FILE)
        if (entries := content.count(b"\n")) > MOST_ENTRIES:
            raise BundleError(f"{path}: {entries:,} entries; expected at most {MOST_ENTRIES:,}")
        try:
            vocabulary = kind.load(FileContent(path, content))
        except DataError as error:
            raise BundleError(str(error)) from None
        _check_digest(path, vocabulary.digest(), self.manifest.files[VOCABULARY_FILE])
        return vocabulary


def open_bundle(path_or_name: str | Path) -> Bundle:
    """Open a bundle: by the path of its folder, by name, or by its address on the Hugging Face hub.

    thinstack and other installed packages bring bundles along that have names. A string without a
    path separator is a name if there is such a bundle, and else a folder; `./sst` is always a
    folder. `hf://user/name` and `hf://user/name@revision` are addresses, from which
    `thinstack.bundle.hub.remote.fetch` downloads.

    Raises UnknownNameError, which lists the known names; PluginError if two packages bring the name
    along, or if its folder is missing; BundleError if a file is missing, damaged, a link, or not
    listed in the manifest (hidden files may be), or if the schema is too new; MissingExtraError for
    an address without huggingface_hub.
    """
    if not is_address(path_or_name):
        return _opened(_locate(path_or_name))
    address = str(path_or_name)
    folder = fetch(address)
    try:
        return _opened(folder)
    except BundleError:
        if not mend(address, folder):
            raise
    try:
        return _opened(folder)
    except BundleError as error:
        problem = "it was downloaded again, so its author must upload it again"
        raise BundleError(f"{address}: {error}; {problem}") from None


def _opened(folder: Path) -> Bundle:
    manifest = read_manifest(folder)
    for name, record in manifest.files.items():
        path = _checked_path(folder, name, record)
        with _readable(path), path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        _check_digest(path, digest, record)
    for name in unlisted(folder, manifest):
        if not any(part.startswith(".") for part in name.split("/")):
            problem = "not listed in the manifest; move what is no part of the bundle out of it"
            raise BundleError(f"{folder / name}: {problem}")
    return _checked(folder, manifest, _read(folder, manifest, CONFIG_FILE))


def unpacked(files: Mapping[str, bytes], source: str) -> Bundle:
    """The bundle with these files, the manifest included, in memory. `source` leads every message.
    Raises BundleError unless the files are exactly as their manifest says."""
    manifest, path = Manifest.parse(files.get(MANIFEST_FILE, b""), source=source), Path(source)
    odd = sorted(set(files) ^ {*manifest.files, MANIFEST_FILE})
    if odd:
        listed = f"{', '.join(odd):.200}"
        raise BundleError(f"{source}: its manifest and its files differ: {listed}; {MEND}")
    for name, record in manifest.files.items():
        place = f"{source}: {name}"
        _check_size(place, len(files[name]), record)
        _check_digest(place, hashlib.sha256(files[name]).hexdigest(), record)
    _record(path, manifest, CONFIG_FILE)
    return _checked(path, manifest, files[CONFIG_FILE], files)


def _checked(
    path: Path, manifest: Manifest, config: bytes, contents: Mapping[str, bytes] | None = None
) -> Bundle:
    _record(path, manifest, VOCABULARY_FILE)
    return Bundle(path, _config(config, str(path / CONFIG_FILE), manifest), manifest, contents)


def bundled_names() -> list[str]:
    """Names of the bundles that thinstack brings along."""
    return [folder.name for folder in bundled_folders()]


def bundled_folders() -> list[Path]:
    """Their folders."""
    return sorted(path.parent for path in BUNDLED.glob(f"*/{MANIFEST_FILE}"))


def installed_name(folder: Path) -> str | None:
    """The name of the installed bundle in this folder, None if it is another folder."""
    if folder.parent == BUNDLED:
        return folder.name
    from thinstack.plugins.manager import manager

    bundles = manager().specs("bundle")
    names = Counter(bundle.name for bundle in bundles)
    own = (each.name for each in bundles if each.folder == folder and names[each.name] == 1)
    return next(own, None)


def is_installed(path_or_name: str | Path) -> bool:
    """Whether `open_bundle` takes it for the name of an installed bundle. Raises PluginError as
    `open_bundle` does."""
    try:
        return _plain(path_or_name) and _named(str(path_or_name)).is_dir()
    except UnknownNameError:
        return False


def aside(folder: Path) -> Path:
    """The folder that a bundle is moved to while another takes its place."""
    folder = folder.resolve()
    return folder.parent / f".{folder.name}.thinstack-old"


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder. Raises BundleError if it is missing or cannot be read."""
    path = folder / MANIFEST_FILE
    with _readable(path, missing=f"{folder}: not a bundle, it has no {MANIFEST_FILE}"):
        size = _file_size(path)
        if size > MANIFEST_BYTES:
            raise BundleError(f"{path}: {size:,} bytes; a manifest has at most {MANIFEST_BYTES:,}")
        return Manifest.parse(path.read_bytes(), source=str(path))


def unlisted(folder: Path, manifest: Manifest) -> list[str]:
    """Names, relative to `folder`, of the files and links in it that the manifest does not list."""
    found = []
    for top, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(top) / name).is_symlink()]
        found += [(Path(top) / name).relative_to(folder).as_posix() for name in files + links]
    return sorted(set(found) - set(manifest.files) - {MANIFEST_FILE})


def _plain(path_or_name: str | Path) -> bool:
    """Whether it may be a name."""
    return isinstance(path_or_name, str) and not ("/" in path_or_name or os.sep in path_or_name)


def _locate(path_or_name: str | Path) -> Path:
    unknown: UnknownNameError | None = None
    if _plain(path_or_name):
        try:
            return _named(str(path_or_name))
        except UnknownNameError as error:
            unknown = error
    try:
        folder = Path(path_or_name)
        for candidate in (folder, aside(folder)):
            if candidate.is_dir():
                return candidate
        is_file = folder.is_file()
    except (OSError, ValueError, RuntimeError, TypeError) as error:
        problem = f"expected the name, folder or address of a bundle: {error!s:.200}"
        raise BundleError(f"{shown(path_or_name, 200)}: {problem}") from None
    if is_file:
        raise BundleError(f"{folder}: expected the folder of a bundle, found a file")
    if unknown is not None:
        raise unknown
    raise BundleError(
        f"{folder}: no such folder; `thinstack plugins` lists the models that have names"
    )


def _named(name: str) -> Path:
    if name in bundled_names():
        return BUNDLED / name
    # Not before: a bundle of our own starts without what finds those of others.
    from thinstack.plugins.manager import manager

    try:
        folder: Path = manager().find("bundle", name).folder
    except UnknownNameError as error:
        raise UnknownNameError("model", name, error.known, [MORE, *error.more]) from None
    return folder


def _record(folder: Path, manifest: Manifest, name: str) -> FileRecord:
    if name not in manifest.files:
        found = ", ".join(sorted(manifest.files)) or "no files"
        raise BundleError(f"{folder}: this bundle has no {name}; it has {found}")
    return manifest.files[name]


def _read(folder: Path, manifest: Manifest, name: str) -> bytes:
    record = _record(folder, manifest, name)
    path = _checked_path(folder, name, record)
    with _readable(path), path.open("rb") as file:
        content = file.read(record.size + 1)  # it may have grown meanwhile
    _check_digest(path, hashlib.sha256(content).hexdigest(), record)
    return content


def _checked_path(folder: Path, name: str, record: FileRecord) -> Path:
    path = folder / name
    for inner in list(path.parents)[: name.count("/")]:
        if inner.is_symlink():
            raise BundleError(f"{inner}: a link; a bundle holds plain folders and files")
    with _readable(path, missing=f"{path}: missing, though the manifest lists it; {MEND}"):
        _check_size(path, _file_size(path), record)
    return path


@contextmanager
def _readable(path: Path, *, missing: str = "") -> Iterator[None]:
    """Turn the block's OSErrors into BundleErrors, that of a missing file into this one."""
    try:
        yield
    except OSError as error:
        if raised_by_signal_handler(error):
            raise
        gone = missing and isinstance(error, FileNotFoundError)
        raise BundleError(missing if gone else f"{path}: cannot be read: {error}") from None


def _file_size(path: Path) -> int:
    """Bytes of a plain file: a link could lead out of the bundle, and reading a pipe waits."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise BundleError(f"{path}: not a plain file; a bundle holds no links or devices")
    return status.st_size


def _check_size(path: Path | str, size: int, record: FileRecord) -> None:
    if size != record.size:
        raise BundleError(f"{path}: {size:,} bytes, but the manifest says {record.size:,}; {MEND}")


def _check_digest(path: Path | str, digest: str, record: FileRecord) -> None:
    if digest != record.sha256:
        problem = "its SHA-256 is not the one in the manifest, so the file is damaged"
        raise BundleError(f"{path}: {problem}; {MEND}")


def _config(content: bytes, source: str, manifest: Manifest) -> ModelConfig:
    try:
        raw = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{source}: not readable as JSON: {error}") from None
    if isinstance(raw, dict):
        check_schema(raw, SCHEMA_VERSION, source=source, producer=manifest.producer.model_dump())
    try:
        return ModelConfig.parse(raw, source=source)
    except ConfigError as error:
        raise BundleError(f"{error!s:.2000}") from None
