"""The manifest of a run, which lies beside its rows. A run continues only with the same input, the
same model and the same settings."""

from pathlib import Path
from typing import Any, Final, Literal

from pydantic import ValidationError

from thinstack._version import __version__
from thinstack.core.config import TreeSource
from thinstack.core.config.base import Strict, problems
from thinstack.core.config.separator import Separator
from thinstack.data.files.writing import write_atomically
from thinstack.errors import InputError
from thinstack.integrations.corpora.part_files import PartFormat
from thinstack.integrations.corpora.rows import DEFAULT_TEXT
from thinstack.integrations.corpora.scoring import Output

MANIFEST: Final = "manifest.json"


class Settings(Strict):
    """The settings that change the rows."""

    text: str = DEFAULT_TEXT
    id: str | None = None
    encoding: str = "utf-8"
    separator: Separator | None = None
    header: bool | None = None
    output: Output = "sentences"
    format: PartFormat = "jsonl"
    source: TreeSource = "auto"
    classes: int | None = None
    abstain: float | None = None
    max_words: int = 400


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
    rows in `shards`, and their digest in `digests`. `finished` is set with the last shard.
    """

    kind: Literal["scored corpus"] = "scored corpus"
    schema_version: Literal[1] = 1
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
        """Write the manifest to the folder. Raises OSError."""
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
    """The manifest in a folder, or None without one. Raises InputError for a manifest of another
    kind."""
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
