"""Bundles on the Hugging Face hub, by an address: `hf://user/name`, or `hf://user/name@revision`."""

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from thinstack._version import __version__
from thinstack.bundle.limits import MANIFEST_BYTES
from thinstack.bundle.manifest import MANIFEST_FILE, Manifest
from thinstack.errors import BundleError, needs_extra

__all__ = ["Address", "fetch", "hub_library", "is_address", "told"]

PREFIX: Final = "hf://"
_NAME = r"[A-Za-z0-9_][\w.-]*"
_ADDRESS = re.compile(rf"{PREFIX}({_NAME}/{_NAME})(?:@((?!\S*\.\.)[^@\s]+))?", re.ASCII)
_COMMIT = re.compile("[0-9a-f]{40}")
_KEPT = "thinstack"
"""The folder beside the snapshots of a repository, in the cache of the hub, of its bundles."""
_SHOWN = 300  # characters of an error of the hub


class Address(NamedTuple):
    """A repository and a branch, tag or commit of it, None for its main branch."""

    repository: str
    revision: str | None

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read an address. Raises BundleError if the string is not an address."""
        if (match := _ADDRESS.fullmatch(text)) is None:
            expected = "expected hf://user/name or hf://user/name@revision"
            raise BundleError(f"{text!r:.200}: {expected}")
        return cls(match[1], match[2])

    def __str__(self) -> str:
        return f"{PREFIX}{self.repository}" + (f"@{self.revision}" if self.revision else "")


def is_address(path_or_name: str | Path) -> bool:
    """Whether a string is meant as an address."""
    return isinstance(path_or_name, str) and path_or_name.startswith(PREFIX)


def fetch(text: str) -> Path:
    """Download the bundle at an address, and give its folder. Its content is not checked yet.

    Only files that the manifest lists are downloaded, and only those that the cache of
    `huggingface_hub` lacks. A commit that is in the cache needs no network. For a branch or tag
    without network, the newest known commit is taken. Raises BundleError if there is no such bundle
    or it cannot be downloaded, MissingExtraError without huggingface_hub.
    """
    address = Address.parse(text)
    hub = hub_library()
    cache = Path(hub.constants.HF_HUB_CACHE) / f"models--{address.repository.replace('/', '--')}"
    known = cache / _KEPT / (address.revision or "")
    if address.revision and _COMMIT.fullmatch(address.revision) and known.is_dir():
        return known
    more = {"library_name": "thinstack", "library_version": __version__}
    with told(address):
        first = hub.snapshot_download(
            address.repository, revision=address.revision, allow_patterns=[MANIFEST_FILE], **more
        )
    snapshot = Path(first)
    manifest = _manifest(snapshot, address)
    with told(address):
        # By its commit, for the branch may move meanwhile. No name of a file holds a wildcard.
        hub.snapshot_download(
            address.repository,
            revision=snapshot.name,
            allow_patterns=[MANIFEST_FILE, *manifest.files],
            **more,
        )
    return _kept(snapshot, [MANIFEST_FILE, *manifest.files], address)


def hub_library() -> Any:
    """The module `huggingface_hub`. Raises MissingExtraError if it is not installed."""
    with needs_extra("hub", "huggingface_hub"):
        import huggingface_hub
        import huggingface_hub.constants
        import huggingface_hub.errors
    return huggingface_hub


@contextmanager
def told(address: Address) -> Iterator[None]:
    """Turn an error of the library into a BundleError."""
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError:
        problem = "access to it has to be asked for on its page; then log in: hf auth login"
    except errors.RepositoryNotFoundError:
        problem = "there is no such repository, or it is private: log in with hf auth login"
    except errors.RevisionNotFoundError:
        problem = "it has no such revision: name a branch, a tag or a commit of it, or leave it out"
    except errors.LocalTokenNotFoundError:
        problem = "this needs a token: log in with hf auth login"
    except errors.LocalEntryNotFoundError as error:
        problem = "not in the cache, and the hub cannot be reached: connect, or unset "
        problem += f"HF_HUB_OFFLINE ({_line(error)})"
    except errors.HfHubHTTPError as error:
        refused = getattr(error.response, "status_code", 0) in (401, 403)
        remedy = "; log in with a token that may do this: hf auth login" if refused else ""
        problem = f"the hub refuses: {_line(error)}{remedy}"
    except Exception as error:  # its errors, and those of what it speaks HTTP with, have no base
        problem = f"the hub cannot be used: {type(error).__name__}: {_line(error)}"
    else:
        return
    raise BundleError(f"{address}: {problem}") from None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:_SHOWN]


def _manifest(snapshot: Path, address: Address) -> Manifest:
    """Its manifest, read through the link that a snapshot has in place of a file."""
    try:
        with (snapshot / MANIFEST_FILE).open("rb") as file:
            content = file.read(MANIFEST_BYTES + 1)
    except FileNotFoundError:
        raise BundleError(f"{address}: not a bundle, it has no {MANIFEST_FILE}") from None
    if len(content) > MANIFEST_BYTES:
        raise BundleError(f"{address}: a manifest has at most {MANIFEST_BYTES:,} bytes")
    return Manifest.parse(content, source=f"{address}: {MANIFEST_FILE}")


def _kept(snapshot: Path, names: list[str], address: Address) -> Path:
    """The bundle in a folder of plain files, which take no room of their own where a file can have
    two names: a bundle with links, as a snapshot has them, would be refused."""
    folder = snapshot.parents[1] / _KEPT / snapshot.name
    if folder.is_dir():
        return folder
    staging = folder.parent / f".{folder.name}.{secrets.token_hex(4)}"
    try:
        for name in names:
            source, copy = (snapshot / name).resolve(), staging / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(source, copy)
            except FileNotFoundError:
                raise
            except OSError:  # of a file system without second names
                shutil.copyfile(source, copy)
        try:
            os.rename(staging, folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
    except FileNotFoundError as error:
        lacking = Path(error.filename or "").name
        raise BundleError(
            f"{address}: its manifest lists {lacking}, which is missing: its author must upload it "
            "again"
        ) from None
    except OSError as error:
        raise BundleError(f"{address}: cannot be stored in {folder}: {error}") from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return folder
