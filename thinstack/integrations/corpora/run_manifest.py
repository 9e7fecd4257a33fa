"""The manifest of a run, which is next to its rows and lists shards of a few thousand rows. A run
resumes only with the same input, model and settings."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple

import numpy as np
from pydantic import Field, ValidationError

from thinstack._version import __version__
from thinstack.core.config import Aggregation, TreeSource
from thinstack.core.config.base import Strict, problems
from thinstack.data.files.writing import write_atomically
from thinstack.data.tables.dialects import Separator
from thinstack.errors import InputError, StoppedError
from thinstack.integrations.corpora.inputs import DEFAULT_TEXT, Columns, Corpus, Row
from thinstack.integrations.corpora.scored_rows import Output, PartFormat
from thinstack.runtime.aspects import Asked
from thinstack.runtime.categories import Category
from thinstack.text.batching import in_batches

MANIFEST: Final = "manifest.json"

SHARD_ROWS: Final = 1 << 12
"""Maximum number of rows of a shard."""

SHARD_CHARACTERS: Final = 1 << 22
"""Maximum number of characters of its texts, unless it is a single text."""

Name = Annotated[str, Field(min_length=0)]  # without limits, pydantic accepts invalid Unicode


class Settings(Strict):
    """The settings that change the rows. `columns`: the columns of the input to copy. `own_id`:
    whether the column "id" of the input is the id. `categories`: the examples of each."""

    text: Name = DEFAULT_TEXT
    id: Name | None = None
    encoding: Name = "utf-8"
    separator: Separator | None = None
    header: bool | None = None
    paragraphs: bool = False
    output: Output = "sentences"
    vectors: bool = False
    format: PartFormat = "jsonl"
    source: TreeSource = "auto"
    classes: int | None = None
    abstain: float | None = None
    max_words: int = 400
    aggregation: Aggregation | None = None
    columns: tuple[Name, ...] = ()
    own_id: bool = False
    about: tuple[Name, ...] = ()
    categories: dict[str, tuple[Name, ...]] = Field(default_factory=dict)

    @property
    def reads(self) -> Columns:
        """The columns of the input to read."""
        return Columns(self.text, self.id, self.columns, self.own_id)

    @property
    def asked(self) -> Asked:
        """The terms and categories that are columns of documents."""
        return [*self.about, *(Category(name, texts) for name, texts in self.categories.items())]


class RunManifest(Strict):
    """A run over a corpus.

    `input` contains the SHA-256 of each file, `model` the digest of its bundle's manifest, and
    `shards` the number of rows of each shard. `finished` is set with the last shard: the number of
    rows of the input with scores, and the number in `errors/`.
    """

    kind: Literal["scored corpus"] = "scored corpus"
    schema_version: Literal[1] = 1
    thinstack: str = __version__
    input: dict[str, str]
    model: str
    labels: tuple[str, ...]
    settings: Settings
    shards: tuple[int, ...]
    finished: dict[Literal["scored", "failed"], int] | None = None

    @property
    def rows(self) -> int:
        """The number of rows of the input."""
        return sum(self.shards)

    def write(self, folder: Path) -> None:
        """Write the manifest to the folder."""
        write_atomically(folder / MANIFEST, self.model_dump_json(indent=2) + "\n")

    def difference(self, now: "RunManifest") -> str:
        """Describe how a requested run differs from this one; empty if it is the same."""
        files = {**self.input, **now.input}
        if other := [name for name in files if self.input.get(name) != now.input.get(name)]:
            return f"its input differs in {', '.join(other):.200}"
        before, after = (
            one.model_dump(include={"thinstack", "model", "labels", "shards"})
            | one.settings.model_dump()
            for one in (self, now)
        )
        names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        if not names:
            return ""
        name, more = names[0], f" (and {', '.join(names[1:])})" if len(names) > 1 else ""
        then, later = before.get(name), after.get(name)
        return f"its {name} is {then!r:.80}, but now it is {later!r:.80}{more:.200}"


def read_run_manifest(folder: Path) -> RunManifest | None:
    """Read the manifest of a folder; None if there is none."""
    try:
        data = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        return None
    try:
        return RunManifest.model_validate_json(data)
    except ValidationError as error:
        raise InputError(
            f"{folder / MANIFEST}: expected the manifest of scored rows, found another file "
            f"({problems(error, most=1)}); choose another folder with --out"
        ) from None


class Shard(NamedTuple):
    """Consecutive rows of a corpus, the number of the shard, and that of its first row, from 0."""

    number: int
    rows: list[Row]
    first: int = 0


def shards_of(rows: Iterable[Row]) -> Iterator[Shard]:
    """Split the rows into shards of maximum size. No shard is empty. If reading the rows fails, the
    last shard may be incomplete."""
    first = 0
    pieces = in_batches(rows, SHARD_ROWS, lambda row: len(row.text), SHARD_CHARACTERS)
    for number, piece in enumerate(pieces):
        yield Shard(number, piece, first)
        first += len(piece)


def plan(corpus: Corpus, *, repeated: bool, tell: Callable[[int], None]) -> tuple[int, ...]:
    """Count the rows of each shard. Periodically reports the rows so far.

    Raises InputError if there are no rows, or if several rows have the same id, unless `repeated`
    allows it. Also raises whatever reading the rows raises.
    """
    ids, sizes, total = bytearray(), list[int](), 0
    watched = corpus.columns.id is not None and not repeated
    for shard in shards_of(corpus.rows()):
        sizes.append(len(shard.rows))
        for row in shard.rows if watched else ():
            if row.id is not None:
                ids += _hash(row.id)
        total += len(shard.rows)
        tell(total)
    if not sizes:
        raise InputError(f"{', '.join(corpus.files):.200}: expected rows with texts, found none")
    hashes = np.frombuffer(ids, np.dtype([("a", "<u8"), ("b", "<u8")]))
    values, counts = np.unique(hashes, return_counts=True)
    if twice := {value.tobytes() for value in values[counts > 1]}:
        named = dict.fromkeys(row.id for row in corpus.rows() if row.id and _hash(row.id) in twice)
        listed = ", ".join(map(repr, [*named][:3])) + (", ..." if len(named) > 3 else "")
        raise InputError(
            f"expected unique ids in the column {corpus.columns.id!r}, found {len(twice):,} "
            f"repeated ids: {listed}; choose another column with --id, or "
            "score all rows with --allow-repeated-ids"
        )
    return tuple(sizes)


def _hash(id: str) -> bytes:
    """Return 16 bytes: a collision among a billion ids has probability 1e-21."""
    return hashlib.blake2b(id.encode(), digest_size=16).digest()


class Progress(NamedTuple):
    """The progress of a run, or the increment by a shard, in rows of the input: `done` are
    finished, of which `failed` have failed, and `before` were done before this start. `rows` is
    None during counting. `mentions`: those of each term and category since this start."""

    done: int
    failed: int = 0
    before: int = 0
    rows: int | None = None
    mentions: tuple[int, ...] = ()

    def after(self, shard: "Progress") -> "Progress":
        """Return the progress once this shard is written too."""
        both = zip_longest(self.mentions, shard.mentions, fillvalue=0)
        done, failed = self.done + shard.done, self.failed + shard.failed
        return self._replace(done=done, failed=failed, mentions=tuple(map(sum, both)))


Tell = Callable[[Progress], None]


def changed(how: str) -> StoppedError:
    """Create the error for an input or a model that has changed."""
    return StoppedError(
        f"the input or the model has changed since the run began: {how}. The rows written so "
        "far belong to the old input, and the run stays unfinished: choose another folder with "
        "--out and start again, or restore the old input and model and run the same command "
        "again; if another program writes to the input, score a copy"
    )
