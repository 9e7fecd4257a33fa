"""Uploads a bundle to the Hugging Face Hub."""

from contextlib import suppress
from pathlib import Path

from thinstack.bundle import open_bundle
from thinstack.bundle.hub import LIBRARY, PREFIX, ask_commit, hub_errors, hub_library, parse_address
from thinstack.bundle.manifest import CASES_FILE
from thinstack.bundle.reading import pack
from thinstack.errors import BundleError
from thinstack.runtime.reference import check_cases


def push(
    model: str | Path,
    repository: str,
    *,
    private: bool = False,
    revision: str | None = None,
    isolated: bool | None = None,
) -> tuple[str, str]:
    """Upload a bundle, given by its folder or name, to the repository "user/name". Returns the
    address of its commit and its page on the hub.

    Creates the repository, `private` or public, and the branch `revision` if they do not exist. The
    bundle must open and reproduce its reference cases, on which it runs `isolated` as for
    `Predictor`. Its files are uploaded unchanged. Raises BundleError for a bundle that is unusable
    or rejected.
    """
    address = f"{PREFIX}{repository}"
    parse_address(f"{address}@{revision or 'main'}")  # a repository with a revision is rejected
    hub, bundle = hub_library(), open_bundle(model)
    if CASES_FILE in bundle.manifest.files:
        agreement = check_cases(bundle, isolated=isolated)
        if not agreement.holds:
            far = f"scores differ by {agreement.largest:.2g} from its reference cases"
            raise BundleError(f"{bundle.path}: {far}: export it again; run `thinstack doctor`")
    files = [hub.CommitOperationAdd(*file) for file in pack(bundle).items()]
    with hub_errors(address):
        with suppress(hub.errors.HfHubHTTPError):  # it may not exist yet
            ask_commit(repository, revision or "main")
        api = hub.HfApi(**LIBRARY)
        api.create_repo(repository, private=private or None, exist_ok=True)
        if revision not in (None, "main"):
            api.create_branch(repository, branch=revision, exist_ok=True)
        commit = api.create_commit(
            repository,
            files,
            commit_message=f"A bundle of thinstack {bundle.manifest.producer.version}",
            revision=revision,
        )
    return f"{address}@{commit.oid}", commit.commit_url
