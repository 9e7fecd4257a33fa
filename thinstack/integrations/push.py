"""Uploads a bundle to the Hugging Face hub."""

from contextlib import suppress
from pathlib import Path

from thinstack.bundle import Bundle, manifest, open_bundle
from thinstack.bundle.front_matter import front_matter
from thinstack.bundle.hub import LIBRARY, PREFIX, ask_commit, hub_errors, hub_library, parse_address
from thinstack.bundle.origin import is_own, note_own
from thinstack.bundle.reading import pack
from thinstack.bundle.writing import seal
from thinstack.data.words.wordpiece import WordpieceVocabulary, tokenizer_json
from thinstack.errors import BundleError
from thinstack.runtime.reference import check_cases


def push(
    model: str | Path,
    repository: str,
    *,
    private: bool = False,
    revision: str | None = None,
    isolated: bool | None = None,
) -> tuple[str, str, list[str]]:
    """Upload a bundle, given by its folder or name, to the repository "user/name". Returns the
    address of its commit, its page on the hub, and the files that were added for the hub.

    If the repository does not exist, it is made, `private` or public; so is the branch `revision`.
    The bundle must open, and give the answers in its reference cases, on which it runs `isolated`
    as `Predictor` has it. If it lacks something that the hub expects, the upload adds it: front
    matter in the card, `id2label` in the configuration, `tokenizer.json` for word pieces. The
    bundle on disk stays as it is. Raises BundleError for one that cannot be used or is refused.
    """
    address = f"{PREFIX}{repository}"
    parse_address(f"{address}@{revision or 'main'}")  # where no revision may be in its name
    hub, bundle = hub_library(), open_bundle(model)
    if manifest.CASES_FILE in bundle.manifest.files:
        agreement = check_cases(bundle, isolated=isolated)
        if not agreement.holds:
            far = f"scores differ by {agreement.largest:.2g} from those of its reference cases"
            raise BundleError(f"{bundle.path}: {far}: export it again; see `thinstack doctor`")
    added = _additions(bundle, repository.partition("/")[2])
    pushed = _with(bundle, added) if added else bundle
    files = [hub.CommitOperationAdd(*file) for file in pack(pushed).items()]
    with hub_errors(address):
        with suppress(hub.errors.HfHubHTTPError):  # such as that there is no such repository yet
            ask_commit(repository, revision or "main")
        api = hub.HfApi(**LIBRARY)
        api.create_repo(repository, private=private or None, exist_ok=True)
        if revision not in (None, "main"):
            api.create_branch(repository, branch=revision, exist_ok=True)
        commit = api.create_commit(
            repository,
            files,
            commit_message=f"A bundle of thinstack {pushed.manifest.producer.version}",
            revision=revision,
        )
    return f"{address}@{commit.oid}", commit.commit_url, sorted(added)


def _with(bundle: Bundle, added: dict[str, bytes]) -> Bundle:
    """The bundle with these files, and a configuration as it is written today, in memory."""
    files = {name: bundle.read(name) for name in bundle.manifest.files} | added
    del files[manifest.CONFIG_FILE]
    noted = {name: getattr(bundle.manifest, name) for name in ("metrics", "data", "created")}
    whole = seal(files, config=bundle.config, **noted)
    if is_own(bundle):
        note_own(whole)
    return whole


def _additions(bundle: Bundle, name: str) -> dict[str, bytes]:
    """The files that a bundle lacks, or has otherwise than the hub expects them."""
    files, added = bundle.manifest.files, dict[str, bytes]()
    card = bundle.read(manifest.CARD_FILE) if manifest.CARD_FILE in files else b""
    if not (card.startswith(b"---\n") and b"\n---\n" in card):
        figures = [bundle.manifest.metrics.get(key) for key in ("development", "over_seeds")]
        head = front_matter(name, bundle.config, *figures, reported="the development data")
        added[manifest.CARD_FILE] = head.encode() + b"\n" + (card or f"# {name}\n".encode())
    vocabulary = bundle.vocabulary()
    if isinstance(vocabulary, WordpieceVocabulary) and manifest.TOKENIZER_FILE not in files:
        added[manifest.TOKENIZER_FILE] = tokenizer_json(vocabulary)
    return added
