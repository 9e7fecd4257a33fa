"""Bundles on the Hugging Face Hub: `hf://user/name` or `hf://user/name@revision`."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from thinstack._version import __version__
from thinstack.bundle.manifest import MANIFEST_FILE
from thinstack.bundle.reading import Bundle, read_folder, read_manifest
from thinstack.errors import BundleError, ThinstackError, needs_extra, raised_by_signal_handler

PREFIX: Final = "hf://"
LIBRARY: Final = {"library_name": "thinstack", "library_version": __version__}
_NAME = r"[A-Za-z0-9_][\w.-]*"
_ADDRESS = re.compile(rf"{PREFIX}({_NAME}/{_NAME})(?:@((?!\S*\.\.)[^@\s]+))?", re.ASCII)
_COMMIT = re.compile("[0-9a-f]{40}")
_MEANINGS: Final = {  # errors of the hub, a subclass before its base
    "GatedRepoError": "request access on its page, then log in with hf auth login",
    "RepositoryNotFoundError": "no such repository, or it is private: log in with hf auth login",
    "RevisionNotFoundError": "no such revision: choose a branch, a tag or a commit, or omit it",
    "EntryNotFoundError": f"not a bundle (no {MANIFEST_FILE}): push one with thinstack push",
}


def parse_address(text: str) -> tuple[str, str]:
    """Parse an address into repository and revision. Raises BundleError for an invalid one."""
    if (match := _ADDRESS.fullmatch(text)) is None:
        raise BundleError(f"{text!r:.200}: expected hf://user/name or hf://user/name@revision")
    return match[1], match[2] or "main"


def is_address(path_or_name: str | Path) -> bool:
    """Whether a string looks like an address."""
    return isinstance(path_or_name, str) and path_or_name.startswith(PREFIX)


def hub_library() -> Any:
    """Import the module `huggingface_hub`. Raises MissingExtraError if it is not installed."""
    with needs_extra("hub", "huggingface_hub"):
        import huggingface_hub.errors
        import huggingface_hub.utils
    return huggingface_hub


def fetch(address: str) -> Bundle:
    """Return the bundle at an address. Downloads it if its folder is incomplete or damaged.

    A commit that is in the cache needs no network. For a branch or tag, the last known commit is
    used if the hub does not respond within `HF_HUB_ETAG_TIMEOUT` seconds (10). Raises BundleError
    if the bundle does not exist or cannot be downloaded, MissingExtraError without huggingface_hub.
    """
    (repository, revision), hub = parse_address(address), hub_library()
    with hub_errors(address):
        commit = _commit(address, repository, revision)
        folder = hub.cached_assets_path("thinstack", repository, commit)
    with suppress(BundleError):
        return read_folder(folder)
    damaged = folder if (folder / MANIFEST_FILE).exists() else None
    with hub_errors(address, damaged), hub.utils.WeakFileLock(f"{folder}.lock"):
        with suppress(BundleError):  # another process may have been faster
            return read_folder(folder)
        ask_commit(repository, commit)
        # Without force, the library retries for minutes to get a missing file, without a timeout.
        how = {"revision": commit, "local_dir": folder, "force_download": True, **LIBRARY}
        hub.hf_hub_download(repository, MANIFEST_FILE, **how)
        try:
            names = [*read_manifest(folder).files]
            hub.snapshot_download(repository, **how, allow_patterns=names)
            return read_folder(folder)
        except BundleError as error:
            raise BundleError(f"{address}, as uploaded by its author: {error}") from None


def _commit(address: str, repository: str, revision: str) -> str:
    """Return the commit of a revision now, or when the hub last responded."""
    if _COMMIT.fullmatch(revision):
        return revision
    hub = hub_library()
    ref: Path = hub.cached_assets_path("thinstack", repository, "refs") / revision
    try:
        with hub_errors(address):
            commit = ask_commit(repository, revision)
    except BundleError as error:
        absent = (hub.errors.RevisionNotFoundError, hub.errors.EntryNotFoundError)
        if isinstance(error.__context__, absent) or not ref.is_file():
            raise
        return ref.read_text(encoding="ascii")
    with suppress(OSError):  # a read-only cache
        ref.parent.mkdir(parents=True, exist_ok=True)
        ref.write_text(commit, encoding="ascii")
    return commit


def ask_commit(repository: str, revision: str) -> str:
    """Request the commit of a revision first, because this ends after `HF_HUB_ETAG_TIMEOUT`,
    whereas the library's own requests retry for minutes."""
    hub = hub_library()
    url = hub.hf_hub_url(repository, MANIFEST_FILE, revision=revision)
    limit = hub.constants.HF_HUB_ETAG_TIMEOUT
    commit = str(hub.get_hf_file_metadata(url, timeout=limit, **LIBRARY).commit_hash)
    if _COMMIT.fullmatch(commit):
        return commit
    raise ValueError("the reply has no commit; check HF_ENDPOINT and your proxy")


@contextmanager
def hub_errors(address: str, damaged: Path | None = None) -> Iterator[None]:
    """Convert errors of the library to BundleErrors of one line, which suggest deleting the
    `damaged` path. Errors of a signal handler, such as a timeout, propagate."""
    try:
        yield
    except ThinstackError:
        raise
    except Exception as error:
        remedy = f"; the cached copy is damaged: delete {damaged}" if damaged else ""
        raise BundleError(f"{address}: {_problem(error)}{remedy}") from None


def _problem(error: BaseException) -> str:
    """Explain an error of the library. Raises that of a signal handler, which it may wrap."""
    cause: BaseException | None = error
    while cause is not None:
        if raised_by_signal_handler(cause):
            raise cause
        cause = cause.__context__
    while isinstance(error, ValueError) and error.__cause__ is not None:  # which explains it
        error = error.__cause__
    errors = hub_library().errors
    for name, meaning in _MEANINGS.items():
        if isinstance(error, getattr(errors, name)):
            return meaning
    what = f"{type(error).__name__}: {' '.join(str(error).split()):.300}"
    if isinstance(error, errors.HfHubHTTPError):
        return f"the hub refused the request: {what}; if you have access, log in with hf auth login"
    return f"the hub cannot be reached: {what}; check the connection, HF_HUB_OFFLINE and the disk"
