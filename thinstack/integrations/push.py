"""Uploads a bundle to the Hugging Face hub."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from thinstack._version import __version__
from thinstack.bundle import Bundle, open_bundle, write_bundle
from thinstack.bundle.hub.front_matter import CardConfig, front_matter, has_front_matter
from thinstack.bundle.hub.hub_cache import Address
from thinstack.bundle.hub.remote import check_reachable, hub_library, told
from thinstack.bundle.manifest import (
    CARD_FILE,
    CASES_FILE,
    CONFIG_FILE,
    MANIFEST_FILE,
    TOKENIZER_FILE,
)
from thinstack.bundle.origin import is_own
from thinstack.data.words.wordpiece import WordpieceVocabulary, tokenizer_json
from thinstack.errors import BundleError, InputError
from thinstack.runtime.reference import check_cases

MAIN = "main"


class Pushed(NamedTuple):
    """An uploaded bundle: the address of its commit, its page on the hub, and the files that were
    added or changed for the hub."""

    address: Address
    url: str
    changed: list[str]


def push(
    model: str | Path,
    repository: str,
    *,
    private: bool = False,
    revision: str | None = None,
    isolated: bool | None = None,
) -> Pushed:
    """Upload a bundle, given by its folder or name, to the repository "user/name".

    If the repository does not exist, it is made, `private` or public; so is the branch `revision`.
    The bundle must open, and give the answers in its reference cases, on which it runs `isolated`
    as `Predictor` has it. If it lacks something that the hub expects, the upload adds it: front
    matter in the card, `id2label` in the configuration, `tokenizer.json` for word pieces. The
    bundle on disk stays as it is. Raises InputError for a name that cannot be a repository's, and
    BundleError for a bundle that cannot be used, or that the hub refuses.
    """
    hub, bundle = hub_library(), open_bundle(model)
    address = _address(repository, revision)
    if CASES_FILE in bundle.manifest.files:
        agreement = check_cases(bundle, isolated=isolated)
        if not agreement.holds:
            answers = f"scores differ by {agreement.largest:.2g} from those of its reference cases"
            mend = "`thinstack doctor` tells more; export it again"
            raise BundleError(f"{bundle.path}: {answers}: {mend}")
    check_reachable(address)
    with TemporaryDirectory() as folder:
        added = _additions(bundle, repository.partition("/")[2])
        if added:
            bundle = _with(bundle, added, Path(folder) / "model")
        with told(address):
            api = hub.HfApi(library_name="thinstack", library_version=__version__)
            api.create_repo(repository, private=private or None, exist_ok=True)
            if revision not in (None, MAIN):
                api.create_branch(repository, branch=revision, exist_ok=True)
            commit = api.upload_folder(
                repo_id=repository,
                folder_path=bundle.path,
                revision=revision,
                commit_message=f"A bundle of thinstack {bundle.manifest.producer.version}",
                allow_patterns=[MANIFEST_FILE, *bundle.manifest.files],
            )
    return Pushed(address._replace(revision=commit.oid), commit.commit_url, sorted(added))


def _address(repository: str, revision: str | None) -> Address:
    try:
        address = Address.parse(f"hf://{repository}")
    except BundleError:
        address = None
    if address is None or address.revision is not None:
        raise InputError(f"{repository!r:.200}: expected a repository as user/name")
    return address._replace(revision=revision)


def _with(bundle: Bundle, added: dict[str, bytes], path: Path) -> Bundle:
    """The bundle with these files, and a configuration as it is written today."""
    files = {name: bundle.read(name) for name in bundle.manifest.files} | added
    del files[CONFIG_FILE]
    noted = {name: getattr(bundle.manifest, name) for name in ("metrics", "data", "created")}
    return write_bundle(path, files, config=bundle.config, own=is_own(bundle), **noted)


def _additions(bundle: Bundle, name: str) -> dict[str, bytes]:
    """The files that a bundle lacks, or has otherwise than the hub expects them."""
    files, added = bundle.manifest.files, dict[str, bytes]()
    card = bundle.read(CARD_FILE).decode("utf-8", "replace") if CARD_FILE in files else ""
    if not has_front_matter(card):
        text = card or f"# {name}\n\n{bundle.manifest.data}\n"
        added[CARD_FILE] = f"{_head(bundle, name)}\n{text}".encode()
    vocabulary = bundle.vocabulary()
    if isinstance(vocabulary, WordpieceVocabulary) and TOKENIZER_FILE not in files:
        added[TOKENIZER_FILE] = tokenizer_json(vocabulary)
    return added


def _head(bundle: Bundle, name: str) -> str:
    """Front matter by what the manifest tells."""
    metrics = bundle.manifest.metrics
    figures = [_tables(metrics.get(key)) for key in ("development", "over_seeds")]
    reported = "the development data of its recipe"
    return front_matter(name, bundle.config, CardConfig(), *figures, reported=reported)


def _tables(found: Any) -> dict[str, dict[str, Any]]:
    """Figures by source; none if a manifest has something else there, as it may."""
    sources = found.items() if isinstance(found, dict) else ()
    return {source: figures for source, figures in sources if isinstance(figures, dict)}
