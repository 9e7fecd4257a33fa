"""Bundles on the Hugging Face hub: downloads them, and tells its errors."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from thinstack.bundle.hub.hub_cache import Address, Repository, damaged_files
from thinstack.bundle.manifest import MANIFEST_FILE
from thinstack.errors import BundleError, needs_extra, raised_by_signal_handler

_SHOWN: Final = 300  # characters of an error of the hub


def fetch(text: str) -> Path:
    """Download the bundle at an address, and give its folder. Its content is not checked yet.

    Only files that the manifest lists are downloaded, and only those that the cache of
    `huggingface_hub` lacks. Their sizes are compared with the manifest before. A commit that is in
    the cache needs no network. For a branch or tag, the newest known commit is taken if the hub
    cannot be reached, or gives no answer in `HF_HUB_ETAG_TIMEOUT` seconds (by default 10). Raises
    BundleError if there is no such bundle or it cannot be downloaded, MissingExtraError without
    huggingface_hub.
    """
    address = Address.parse(text)
    hub = hub_library()
    repository = Repository(hub, address)
    if repository.is_pinned and (folder := repository.kept(repository.revision)).is_dir():
        return folder
    try:
        return repository.newest()
    except BundleError:
        raise
    except Exception as error:
        problem, elsewhere = _problem(hub, error)
        if elsewhere and (known := repository.known()) is not None:
            return known
        raise BundleError(f"{address}: {problem}") from None


def mend(text: str, folder: Path) -> bool:
    """Download the damaged files of a folder that `fetch` gave once more. False if none is
    damaged. Raises BundleError, which names the folder to delete."""
    address = Address.parse(text)
    hub = hub_library()
    repository, damaged = Repository(hub, address), damaged_files(folder)
    if not damaged:
        return False
    try:
        repository.replace(folder.name, damaged)
        if damaged == [MANIFEST_FILE] and (others := damaged_files(folder)):  # which it tells of
            repository.replace(folder.name, others)
    except Exception as error:
        why = error if isinstance(error, BundleError) else _problem(hub, error)[0]
        raise BundleError(
            f"{address}: its copy in the cache is damaged ({folder / damaged[0]}), and it cannot "
            f"be downloaded again ({why}): delete {repository.folder}, and try again"
        ) from None
    return True


def hub_library() -> Any:
    """The module `huggingface_hub`. Raises MissingExtraError if it is not installed."""
    with needs_extra("hub", "huggingface_hub"):
        import huggingface_hub
        import huggingface_hub.constants
        import huggingface_hub.errors
    return huggingface_hub


def check_reachable(address: Address) -> None:
    """Raise BundleError unless the hub answers in time, whatever it says."""
    hub = hub_library()
    with told(address), suppress(hub.errors.HfHubHTTPError):
        Repository(hub, address).head(MANIFEST_FILE)


@contextmanager
def told(address: Address) -> Iterator[None]:
    """Turn an error of the library into a BundleError."""
    try:
        yield
    except BundleError:
        raise
    except Exception as error:
        raise BundleError(f"{address}: {_problem(hub_library(), error)[0]}") from None


_MEANINGS: Final = {  # of errors of the hub, a subclass before its base
    "GatedRepoError": "access to it has to be asked for on its page; then log in: hf auth login",
    "RepositoryNotFoundError": "there is no such repository, or it is private: log in with hf auth "
    "login",
    "RevisionNotFoundError": "it has no such revision: name a branch, a tag or a commit of it, or "
    "leave it out",
    "LocalTokenNotFoundError": "this needs a token: log in with hf auth login",
}
_LIBRARIES = ("huggingface_hub", "httpx", "httpx2", "httpcore", "requests", "urllib3", "hf_xet")


def _problem(hub: Any, error: Exception) -> tuple[str, bool]:
    """What an error of the library means, and whether the cache may help. Raises errors that are
    none of the library's, such as those of a signal handler."""
    _raise_if_of_a_signal(error)
    for name, meaning in _MEANINGS.items():
        if isinstance(error, getattr(hub.errors, name)):
            return meaning, name != "RevisionNotFoundError"
    if isinstance(error, hub.errors.HfHubHTTPError):
        refused = getattr(error.response, "status_code", 0) in (401, 403)
        remedy = "; log in with a token that may do this: hf auth login" if refused else ""
        return f"the hub refuses: {_line(error)}{remedy}", True
    library = type(error).__module__.partition(".")[0] in _LIBRARIES
    if not library and not isinstance(error, (OSError, ValueError, RuntimeError)):
        raise error
    what = f"{type(error).__name__}: {_line(error)}"
    silent = library or isinstance(error, (ConnectionError, TimeoutError))
    if silent and not isinstance(error, ValueError):
        problem = "not in the cache, and the hub cannot be reached: connect, or unset "
        return f"{problem}HF_HUB_OFFLINE ({what})", True
    return f"the hub cannot be used: {what}", False


def _raise_if_of_a_signal(error: BaseException | None) -> None:
    """Raise the error of a signal handler, of which the library may have made one of its own: a
    limit of time ends what waits for the hub."""
    while error is not None:
        if raised_by_signal_handler(error):
            raise error
        error = error.__context__


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:_SHOWN]
