"""The rows of aspects that a run over a corpus has written, which a report reads without scoring
them again. They are checked as they are read."""

from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple, Self

from pydantic import ConfigDict, Field, ValidationError, model_validator

from thinstack.core.config.base import Strict, problems
from thinstack.core.scale import Scale
from thinstack.data.tables.table import Table
from thinstack.errors import DataError, InputError, StoppedError, shown
from thinstack.integrations.corpora.inputs import Corpus, open_corpus
from thinstack.integrations.corpora.output_files import OutFolder
from thinstack.integrations.corpora.run_manifest import (
    MANIFEST,
    RunManifest,
    as_planned,
    read_run_manifest,
    shards_of,
)
from thinstack.integrations.report.rows import (
    Fault,
    Kind,
    Mention,
    ReportOptions,
    Span,
    TextRow,
    corpus_rows,
    side_of,
)
from thinstack.text.sentences import splitter

_Place = Annotated[int, Field(ge=0)]
_KINDS: Final[dict[str, Kind]] = {"missing": "empty", "failed": "failed", "killed": "failed"}
_AGAIN: Final = "Score the texts again into another folder"


def is_scored(path: Path) -> bool:
    """Whether a path is the folder of a run over a corpus."""
    return (path / MANIFEST).is_file()


class AspectRow(Strict):
    """A row of an aspect, as docs/corpora.md has its columns; of a text without one, only the id
    and the number of the text's own row."""

    model_config = ConfigDict(extra="ignore")

    id: str
    row: _Place
    sentence: _Place | None
    start: _Place | None
    end: _Place | None
    because_start: _Place | None
    because_end: _Place | None
    text: str | None
    because: str | None
    label: str | None
    polarity: Annotated[float, Field(ge=-1, le=1)] | None

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Each text has the characters of its place, and there is nothing without a term."""
        places = (self.start, self.end), (self.because_start, self.because_end)
        for text, (start, end) in zip((self.text, self.because), places, strict=True):
            size = None if start is None or end is None else end - start
            if text == "" or size != (text and len(text)) or (start is None) != (end is None):
                raise ValueError("a text and its place do not belong together")
        parts = {part is not None for part in (self.text, self.sentence, self.polarity)}
        if len(parts) > 1 or ((self.because or self.label) and not self.text):
            raise ValueError("a part of the term is missing")
        return self


class _FailedRow(Strict):
    """A row of the input that has no scores."""

    id: str | None
    kind: Literal["row", "id", "missing", "not_text", "too_long", "failed", "killed"]
    message: str


class ScoredFolder(NamedTuple):
    """The rows of aspects in a folder, and how they were made. `table`: the one that was scored,
    for quotes, groups and dates, if a user names it."""

    path: Path
    manifest: RunManifest
    table: Corpus | None = None

    @classmethod
    def opened(cls, path: Path, table: Path | None = None) -> Self:
        """Raises InputError for a folder whose rows are no aspects or whose run has not ended, and
        for labels that are no scale of sentiment. Raises it also for a table that other rows were
        scored of."""
        manifest = read_run_manifest(path)
        if manifest is None:
            raise InputError(f"{path}: expected a folder of scored rows, found no {MANIFEST}")
        if (output := manifest.settings.output) != "aspects":
            raise InputError(
                f"{path}: expected rows of aspects, found rows of {output}: score with --output "
                "aspects, or report on the texts themselves"
            )
        if (finished := manifest.finished) is None:
            raise InputError(
                f"{path}: expected a finished run, found one that stopped: run the same "
                "command again to finish it"
            )
        counts = finished.scored, finished.failed, *manifest.shards
        if sum(counts) != 2 * manifest.rows or min(counts) < 0:
            raise InputError(f"{path / MANIFEST}: its row counts do not add up. {_AGAIN}")
        if Scale.of(manifest.labels) is None:
            raise InputError(
                f"{path}: expected labels of sentiment, found {', '.join(manifest.labels):.80}"
            )
        return cls(path, manifest, None if table is None else _scored_table(manifest, table))

    def rows(self, options: ReportOptions) -> Iterator[TextRow]:
        """The rows of the table that has been scored, with what their texts say: those with scores
        in the order of the input, then those that have failed.

        Raises InputError for rows that the run has not written, and unless each text is in the
        scores or the errors.
        """
        return chain(self._scored(options), self._failed())

    def _scored(self, options: ReportOptions) -> Iterator[TextRow]:
        read, texts = _AspectReader(self.manifest.labels), self._texts()
        if self.table is None:
            for aspects in texts:
                yield read(TextRow(f"id {aspects[0].id}", ""), aspects)
            return
        columns, scored = options._replace(text=self.manifest.settings.text), next(texts, None)
        for number, row in enumerate(corpus_rows(self.table, columns)):
            if scored is not None and scored[0].row == number:
                yield read(row, scored)
                scored = next(texts, None)
        if scored is not None:
            raise InputError(f"{self.path}: row {scored[0].row} is not in the table. {_AGAIN}")

    def _texts(self) -> Iterator[list[AspectRow]]:
        """The rows of each text that has scores, in the order of the input."""
        files, first = OutFolder(self.path, self.manifest.settings.format), 0
        for number, size in enumerate(self.manifest.shards):
            part, texts, last = files.part(number), 0, first - 1
            for place, rows in groupby(self._rows(part), lambda row: row.row):
                aspects = [*rows]
                starts = [row.start or 0 for row in aspects]
                in_order = starts == sorted({*starts}) and last < place < first + size
                if not in_order or len({row.id for row in aspects}) > 1:
                    raise _damaged(part, f"row {place} of the input is out of order")
                texts, last = texts + 1, place
                yield aspects
            failed = files.failed(number)
            if texts + failed != size:
                counts = f"{texts:,} in it and {failed:,} in the errors"
                raise _damaged(part, f"expected {size:,} rows of the input, found {counts}")
            first += size

    def _rows(self, part: Path) -> Iterator[AspectRow]:
        try:
            for record in Table(part).records(tuple(AspectRow.model_fields)):
                if isinstance(record, list):
                    continue
                if record.problem:
                    raise record.problem
                cells = {name: None if cell == "" else cell for name, cell in record.cells.items()}
                row = AspectRow.model_validate(cells)
                if row.label not in (None, *self.manifest.labels):
                    raise DataError(f"the label {row.label!r:.60} is none of the run")
                yield row
        except DataError as error:
            raise _damaged(part, str(error)) from None
        except ValidationError as error:
            raise _damaged(part, problems(error, most=1)) from None

    def _failed(self) -> Iterator[TextRow]:
        """The rows of the input that have failed."""
        for number in range(len(self.manifest.shards)):
            part = OutFolder(self.path, "jsonl").failed_part(number)
            for line in part.read_bytes().splitlines() if part.exists() else ():
                try:
                    row = _FailedRow.model_validate_json(line)
                except ValidationError as error:
                    raise _damaged(part, problems(error, most=1)) from None
                fault = Fault(_KINDS.get(row.kind, "row"), row.message)
                yield TextRow(f"id {row.id}", "", faults=(fault,))


def _damaged(part: Path, what: str) -> InputError:
    return InputError(f"{part}: these rows have changed since they were written: {what}. {_AGAIN}")


def _scored_table(manifest: RunManifest, table: Path) -> Corpus:
    """The table that was scored, which is read as it was then. Raises InputError for another."""
    read = {"encoding", "separator", "header", "paragraphs"}
    corpus = open_corpus(table, **manifest.settings.model_dump(include=read))
    columns = manifest.settings.reads
    shards = as_planned(shards_of(corpus._replace(columns=columns).rows()), manifest)
    try:
        same = sum(1 for _ in shards) == len(manifest.shards) == len(manifest.digests)
    except StoppedError:
        same = False
    if not same:
        raise InputError(
            f"{table}: expected the table that was scored, found other ids or texts: name that "
            "table with --texts, or score this one"
        )
    return corpus


class _AspectReader:
    """Reads the rows of aspects of a text. `labels`: those of the run."""

    def __init__(self, labels: Sequence[str]):
        scale = Scale.of(labels)
        self._sides = dict(zip(labels, scale.sides, strict=True)) if scale else {}
        self._cut = splitter()

    def __call__(self, row: TextRow, aspects: Sequence[AspectRow]) -> TextRow:
        """The row with what its text says, whose side is that of most mentions."""
        starts: list[tuple[int, str]] = []
        if row.text and aspects[0].text is not None:
            (sentences,) = self._cut([row.text])
            starts = [(sentence.start, sentence.text) for sentence in sentences]
        mentions = tuple(
            self._mention(row, aspect, starts) for aspect in aspects if aspect.text is not None
        )
        mean = sum(mention.polarity for mention in mentions) / max(len(mentions), 1)
        return row._replace(side=side_of(mentions), polarity=mean, mentions=mentions)

    def _mention(
        self, row: TextRow, aspect: AspectRow, sentences: Sequence[tuple[int, str]]
    ) -> Mention:
        start, end = aspect.start or 0, aspect.end or 0
        shift, sentence = start, ""
        if row.text:
            shift, sentence = dict(enumerate(sentences)).get(aspect.sentence or 0, (0, ""))
            _check_inside(row, aspect.text or "", start - shift, sentence)
            _check_inside(row, aspect.because or "", (aspect.because_start or 0) - shift, sentence)
        decides = aspect.because_start, aspect.because_end
        because = [place - shift for place in decides if place is not None]
        return Mention(
            term=aspect.text or "",
            named=False,
            side=self._sides.get(aspect.label or "", 0),
            polarity=aspect.polarity or 0.0,
            sentence=sentence,
            place=Span(start - shift, end - shift),
            because=Span(*because) if because else None,
            said=aspect.because,
        )


def _check_inside(row: TextRow, text: str, start: int, sentence: str) -> None:
    """Raise InputError unless a text of a row is at its place in the sentence."""
    if text and (start < 0 or not sentence.startswith(text, start)):
        raise InputError(
            f"{row.place}: expected the text that was scored, with {shown(text, 40)} in it, "
            f"found {shown(sentence, 40)} there: name the table that was scored with --texts, or "
            "score this one again"
        )
