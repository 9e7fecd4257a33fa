"""What a run was asked for, kept beside its rows: it goes on only over the same input, by the same
model and settings."""

from pathlib import Path
from typing import Any, Final, Literal

from pydantic import ValidationError

from thinstack._version import __version__
from thinstack.config import TreeSource
from thinstack.config.base import Strict, problems
from thinstack.corpora.parts import PartFormat
from thinstack.corpora.rows import DEFAULT_TEXT
from thinstack.corpora.scoring import Output
from thinstack.data.files import write_atomically
from thinstack.errors import InputError

__all__ = ["MANIFEST", "Finished", "InputFile", "RunManifest", "Settings", "read_manifest"]

MANIFEST: Final = "manifest.json"


class Settings(Strict):
    """What changes the rows."""

    text: str = DEFAULT_TEXT
    id: str | None = None
    encoding: str = "utf-8"
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
    """How a run ended: rows of the input that have scores, and those under `errors/`."""

    scored: int
    failed: int


class RunManifest(Strict):
    """A run. `model` is the digest of the manifest of its bundle, `shards` the rows of each shard
    of the input. `finished` comes with the last shard."""

    kind: Literal["scored corpus"] = "scored corpus"
    schema_version: Literal[1] = 1
    thinstack: str = __version__
    input: dict[str, InputFile]
    model: str
    labels: tuple[str, ...]
    settings: Settings
    shards: tuple[int, ...]
    finished: Finished | None = None

    @property
    def rows(self) -> int:
        """Rows of the input."""
        return sum(self.shards)

    def write(self, folder: Path) -> None:
        """Put it into the folder. Raises OSError."""
        write_atomically(folder / MANIFEST, self.model_dump_json(indent=2) + "\n")

    def check_same(self, other: "RunManifest", folder: Path) -> None:
        """Raise InputError unless `other`, which is found in the folder, is of the same run."""
        mine, theirs = (
            _flat(each.model_dump(exclude={"finished"}, mode="json")) for each in (self, other)
        )
        names = [name for name in {**theirs, **mine} if mine.get(name) != theirs.get(name)]
        if not names:
            return
        name = names[0]
        more = f" (and {', '.join(names[1:])})" if len(names) > 1 else ""
        raise InputError(
            f"{folder}: holds rows of another run: its {name} is {theirs.get(name)!r:.80}, here it "
            f"is {mine.get(name)!r:.80}{more:.200}; name another folder with --out"
        )


def read_manifest(folder: Path) -> RunManifest | None:
    """The manifest in a folder, None where there is none. Raises InputError for another's."""
    try:
        data = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        return None
    try:
        return RunManifest.model_validate_json(data)
    except ValidationError as error:
        raise InputError(
            f"{folder / MANIFEST}: expected that of scored rows, found another "
            f"({problems(error, most=1)}); name another folder with --out"
        ) from None


def _flat(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested fields by their path, such as "input.texts.csv.sha256"."""
    found: dict[str, Any] = {}
    for name, value in data.items():
        inner = value if isinstance(value, dict) else {}
        found |= _flat(inner, f"{prefix}{name}.") if inner else {f"{prefix}{name}": value}
    return found
