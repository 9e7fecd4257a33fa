"""The manifest of a run, which lies beside its rows. A run continues only with the same input, the
same model and the same settings.

Each shard is compared with what was counted first, before it is scored. So rows that are written
are always of the input that the manifest describes, and a run may go on from them.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from thinstack._version import __version__
from thinstack.bundle import Bundle, open_bundle
from thinstack.core.config import Aggregation, TreeSource
from thinstack.core.config.base import Strict, problems
from thinstack.data.files.writing import write_atomically
from thinstack.data.tables.dialects import Separator
from thinstack.errors import DataError, InputError, StoppedError, ThinstackError
from thinstack.integrations.corpora.inputs import Corpus, digest
from thinstack.integrations.corpora.part_files import PartFormat
from thinstack.integrations.corpora.rows import DEFAULT_TEXT
from thinstack.integrations.corpora.scoring import Output
from thinstack.integrations.corpora.shards import Shard, rows_digest

MANIFEST: Final = "manifest.json"

Name = Annotated[str, Field(min_length=0)]  # without limits, pydantic takes what is no Unicode


class Settings(Strict):
    """The settings that change the rows."""

    text: Name = DEFAULT_TEXT
    id: Name | None = None
    encoding: Name = "utf-8"
    separator: Separator | None = None
    header: bool | None = None
    paragraphs: bool = False
    output: Output = "sentences"
    format: PartFormat = "jsonl"
    source: TreeSource = "auto"
    classes: int | None = None
    abstain: float | None = None
    max_words: int = 400
    aggregation: Aggregation | None = None


class InputFile(Strict):
    """A file of the input."""

    bytes: int
    sha256: str


class Finished(Strict):
    """How a run ended: how many rows of the input have scores, and how many are in `errors/`."""

    scored: int
    failed: int


class RunManifest(Strict):
    """A run over a corpus.

    `model` is the digest of its bundle's manifest. Each shard of the input has its number of
    rows in `shards`, and their digest in `digests`. `finished` is set with the last shard. Rows of
    schema 1 have neither text nor polarity.
    """

    kind: Literal["scored corpus"] = "scored corpus"
    schema_version: Literal[1, 2] = 2
    thinstack: str = __version__
    input: dict[str, InputFile]
    model: str
    labels: tuple[str, ...]
    settings: Settings
    shards: tuple[int, ...]
    digests: tuple[str, ...] = ()
    finished: Finished | None = None

    @property
    def rows(self) -> int:
        """The number of rows of the input."""
        return sum(self.shards)

    def write(self, folder: Path) -> None:
        """Write the manifest to the folder."""
        write_atomically(folder / MANIFEST, self.model_dump_json(indent=2) + "\n")

    def check_same(self, other: "RunManifest", folder: Path) -> None:
        """Raise InputError unless `other`, found in the folder, describes the same run."""
        mine, theirs = (
            _flat(each.model_dump(exclude={"finished"}, mode="json")) for each in (self, other)
        )
        names = [name for name in {**theirs, **mine} if mine.get(name) != theirs.get(name)]
        if not names:
            return
        name = names[0]
        more = f" (and {', '.join(names[1:])})" if len(names) > 1 else ""
        raise InputError(
            f"{folder}: holds rows of another run: its {name} is {theirs.get(name)!r:.80}, but now "
            f"it is {mine.get(name)!r:.80}{more:.200}; name another folder with --out"
        )


def read_run_manifest(folder: Path) -> RunManifest | None:
    """The manifest in a folder, or None without one."""
    try:
        data = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        return None
    try:
        return RunManifest.model_validate_json(data)
    except ValidationError as error:
        raise InputError(
            f"{folder / MANIFEST}: expected the manifest of scored rows, found another file "
            f"({problems(error, most=1)}); name another folder with --out"
        ) from None


def _flat(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested fields by their path, such as "input.texts.csv.sha256"."""
    settings: dict[str, Any] = {}
    for name, value in data.items():
        inner = value if isinstance(value, dict) else {}
        settings |= _flat(inner, f"{prefix}{name}.") if inner else {f"{prefix}{name}": value}
    return settings


def input_files(corpus: Corpus) -> dict[str, InputFile]:
    """The files of a corpus as a manifest describes them."""
    return {
        name: InputFile(sha256=digest(path), bytes=path.stat().st_size)
        for name, path in corpus.files.items()
    }


def as_planned(shards: Iterable[Shard], manifest: RunManifest) -> Iterator[Shard]:
    """The shards as long as each is what the manifest says. Raises StoppedError for one whose rows
    are others, or cannot be read any more. A manifest of an earlier version of thinstack has only
    the numbers of rows."""
    sizes, digests = dict(enumerate(manifest.shards)), dict(enumerate(manifest.digests))
    try:
        for shard in shards:
            known, size = digests.get(shard.number), sizes.get(shard.number)
            if len(shard.rows) != size or (known and rows_digest(shard.rows) != known):
                before = sum(manifest.shards[: shard.number])
                raise _input_changed(f"of its rows from {before + 1:,} on, some are others")
            yield shard
    except DataError as error:  # of a file that could be read when its rows were counted
        raise _input_changed(str(error)) from None


def check_input(corpus: Callable[[], Corpus], manifest: RunManifest) -> None:
    """Raise StoppedError if a file of the corpus, which `corpus` looks for again, is another than
    the manifest says, is new or is gone."""
    try:
        files = input_files(corpus())
    except (ThinstackError, OSError) as error:
        raise _input_changed(str(error)) from None
    for name in {**manifest.input, **files}:
        before, now = manifest.input.get(name), files.get(name)
        if before != now:
            how = "has another content" if before and now else "is new" if now else "is gone"
            raise _input_changed(f"{name!r:.200} {how}")


def opened_again(name: str, digest: str) -> Bundle:
    """The bundle of a name or folder. Raises StoppedError unless its manifest has this digest."""
    try:
        bundle = open_bundle(name)
    except (ThinstackError, OSError) as error:
        raise _changed("model", str(error)) from None
    if bundle.manifest.digest != digest:
        raise _changed("model", f"{bundle.path} holds another bundle")
    return bundle


def _input_changed(how: str) -> StoppedError:
    return _changed("input", how, "; if another program writes to it, score a copy")


def _changed(what: str, how: str, more: str = "") -> StoppedError:
    return StoppedError(
        f"the {what} has changed since the run began: {how}. The rows that are written are of the "
        f"{what} as it was, and are not called finished: name another folder with --out and start "
        f"again, or put the old {what} back and run the same command again{more}"
    )
