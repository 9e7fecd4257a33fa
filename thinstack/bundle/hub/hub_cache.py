"""Repositories of the Hugging Face hub: their addresses, `hf://user/name` or
`hf://user/name@revision`, and the plain folders of bundles in the cache of `huggingface_hub`."""

import hashlib
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from thinstack._version import __version__
from thinstack.bundle.manifest import MANIFEST_BYTES, MANIFEST_FILE, FileRecord, Manifest
from thinstack.data.files.writing import staging
from thinstack.errors import BundleError

PREFIX: Final = "hf://"
_NAME = r"[A-Za-z0-9_][\w.-]*"
_ADDRESS = re.compile(rf"{PREFIX}({_NAME}/{_NAME})(?:@((?!\S*\.\.)[^@\s]+))?", re.ASCII)
_COMMIT = re.compile("[0-9a-f]{40}")
_KEPT = "thinstack"
"""The folder beside the snapshots of a repository, in the cache of the hub, of its bundles."""
_LIBRARY: Final = {"library_name": "thinstack", "library_version": __version__}
_AUTHOR: Final = "its author must upload it again"
_TOO_LARGE: Final = f"a manifest has at most {MANIFEST_BYTES:,} bytes"


class Address(NamedTuple):
    """A repository and a branch, tag or commit of it, None for its main branch."""

    repository: str
    revision: str | None

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read an address. Raises BundleError for any other text."""
        if (match := _ADDRESS.fullmatch(text)) is None:
            expected = "expected hf://user/name or hf://user/name@revision"
            raise BundleError(f"{text!r:.200}: {expected}")
        return cls(match[1], match[2])

    def __str__(self) -> str:
        return f"{PREFIX}{self.repository}" + (f"@{self.revision}" if self.revision else "")


def is_address(path_or_name: str | Path) -> bool:
    """Whether a string is meant as an address."""
    return isinstance(path_or_name, str) and path_or_name.startswith(PREFIX)


class Repository:
    """A repository of the hub, and its folder in the cache.

    The folder has what `huggingface_hub` puts there, `refs` and `snapshots`, and beside it `_KEPT`.
    """

    def __init__(self, hub: Any, address: Address):
        self._hub, self._address = hub, address
        name = address.repository.replace("/", "--")
        self.folder = Path(hub.constants.HF_HUB_CACHE) / f"models--{name}"
        self.revision = address.revision or "main"
        self.is_pinned = _COMMIT.fullmatch(self.revision) is not None

    def kept(self, commit: str) -> Path:
        """The folder of the plain files of a commit, whether it is there or not."""
        return self.folder / _KEPT / commit

    def head(self, name: str, revision: str = "") -> Any:
        """What the hub says of a file. Raises BundleError if there is no such file."""
        url = self._hub.hf_hub_url(
            self._address.repository, name, revision=revision or self.revision
        )
        limit = self._hub.constants.HF_HUB_ETAG_TIMEOUT
        try:
            return self._hub.get_hf_file_metadata(url, timeout=limit, **_LIBRARY)
        except self._hub.errors.EntryNotFoundError:
            problem = f"its manifest lists {name}, which is missing: {_AUTHOR}"
            if name == MANIFEST_FILE:
                problem = f"not a bundle, it has no {MANIFEST_FILE}"
            raise BundleError(f"{self._address}: {problem}") from None

    def newest(self) -> Path:
        """The folder of the commit that the revision stands for now."""
        manifest = self.head(MANIFEST_FILE)
        commit = str(manifest.commit_hash)
        if _COMMIT.fullmatch(commit) is None:
            problem = "the hub names no commit: check HF_ENDPOINT and your proxy"
            raise BundleError(f"{self._address}: {problem}")
        folder = self.kept(commit)
        if not folder.is_dir():
            if (manifest.size or 0) > MANIFEST_BYTES:
                raise BundleError(f"{self._address}: {_TOO_LARGE}")
            folder = self._downloaded(commit)
        if not self.is_pinned:
            with suppress(OSError):  # of a cache that cannot be written
                ref = self.folder / "refs" / self.revision
                ref.parent.mkdir(parents=True, exist_ok=True)
                ref.write_text(commit, encoding="ascii")
        return folder

    def known(self) -> Path | None:
        """The folder of the commit that the revision stood for when the hub was last asked, None
        if the cache has not all of it."""
        try:
            commit = self.revision
            if not self.is_pinned:
                commit = (self.folder / "refs" / commit).read_text(encoding="ascii").strip()
            if _COMMIT.fullmatch(commit) is None:
                return None
            snapshot, folder = self.folder / "snapshots" / commit, self.kept(commit)
            if not folder.is_dir():
                manifest = _manifest(snapshot / MANIFEST_FILE, self._address)
                _keep(snapshot, [MANIFEST_FILE, *manifest.files], folder, self._address)
        except (OSError, ValueError, BundleError):
            return None
        return folder

    def replace(self, commit: str, damaged: list[str]) -> None:
        """Download files of a commit again, and make a new folder of them."""
        self.head(MANIFEST_FILE, commit)  # before anything that waits for longer
        for name in damaged:
            self._get(name, commit, again=True)
        shutil.rmtree(self.kept(commit), ignore_errors=True)
        self._downloaded(commit)

    def _downloaded(self, commit: str) -> Path:
        was_there = (self.folder / "snapshots" / commit / MANIFEST_FILE).exists()
        path = self._get(MANIFEST_FILE, commit)
        try:
            manifest = _manifest(path, self._address)
        except BundleError:
            if not was_there:
                raise
            manifest = _manifest(self._get(MANIFEST_FILE, commit, again=True), self._address)
        for name, record in manifest.files.items():
            if not (path.parent / name).exists():
                size = self.head(name, commit).size
                if size not in (None, record.size):
                    problem = f"{size:,} bytes on the hub, but the manifest says {record.size:,}"
                    raise BundleError(f"{self._address}: {name} has {problem}: {_AUTHOR}")
        for name in manifest.files:
            self._get(name, commit)
        names = [MANIFEST_FILE, *manifest.files]
        return _keep(path.parent, names, self.kept(commit), self._address)

    def _get(self, name: str, commit: str, *, again: bool = False) -> Path:
        """The path of a file in the cache, downloaded if it is not there."""
        limit = self._hub.constants.HF_HUB_ETAG_TIMEOUT
        where = {"revision": commit, "etag_timeout": limit, "force_download": again}
        return Path(self._hub.hf_hub_download(self._address.repository, name, **where, **_LIBRARY))


def damaged_files(folder: Path) -> list[str]:
    """The files of a bundle that are not as its manifest says, or the manifest."""
    path = folder / MANIFEST_FILE
    try:
        manifest = Manifest.parse(path.read_bytes(), source=str(path))
    except (OSError, BundleError):
        return [MANIFEST_FILE]
    return [name for name, record in manifest.files.items() if not _is_whole(folder / name, record)]


def _is_whole(path: Path, record: FileRecord) -> bool:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == record.sha256
    except OSError:
        return False


def _manifest(path: Path, address: Address) -> Manifest:
    """A manifest, read through the link that a snapshot has in place of a file."""
    with path.open("rb") as file:
        content = file.read(MANIFEST_BYTES + 1)
    if len(content) > MANIFEST_BYTES:
        raise BundleError(f"{address}: {_TOO_LARGE}")
    return Manifest.parse(content, source=f"{address}: {MANIFEST_FILE}")


def _keep(snapshot: Path, names: list[str], folder: Path, address: Address) -> Path:
    """Put the bundle into a folder of plain files. They take no room of their own where a file can
    have two names. A bundle with links, as a snapshot has them, would be refused."""
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with staging(folder, ".{}.", "", folder=True) as new:
            for name in names:
                source, copy = (snapshot / name).resolve(), new / name
                copy.parent.mkdir(parents=True, exist_ok=True)
                try:
                    os.link(source, copy)
                except FileNotFoundError:
                    raise
                except OSError:  # of a file system without second names
                    shutil.copyfile(source, copy)
            try:
                os.rename(new, folder)
            except OSError:
                if not folder.is_dir():  # else another process was faster
                    raise
    except FileNotFoundError as error:
        lacking = Path(error.filename or "").name
        raise BundleError(
            f"{address}: its manifest lists {lacking}, which is missing: {_AUTHOR}"
        ) from None
    except OSError as error:
        raise BundleError(f"{address}: cannot be stored in {folder}: {error}") from None
    return folder
