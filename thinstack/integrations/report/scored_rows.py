"""Rows of aspects and of errors that a run over a corpus has written, checked as they are read."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple, Self

from pydantic import ConfigDict, Field, ValidationError, model_validator

from thinstack.core.config.base import Strict, problems
from thinstack.core.scale import Scale
from thinstack.data.tables.table import Table
from thinstack.errors import DataError, InputError
from thinstack.integrations.corpora.folder import OutFolder
from thinstack.integrations.corpora.run_manifest import MANIFEST, RunManifest, read_run_manifest
from thinstack.integrations.report.entries import Columns

_Place = Annotated[int, Field(ge=0)]


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
        given = {part is not None for part in (self.text, self.sentence, self.polarity)}
        if len(given) > 1 or ((self.because or self.label) and not self.text):
            raise ValueError("a part of the term is missing")
        return self


class _FailedRow(Strict):
    """A row of the input that has no scores."""

    id: str | None
    kind: Literal["row", "id", "missing", "not_text", "too_long", "failed", "killed"]
    message: str


class ScoredFolder(NamedTuple):
    """The rows of aspects in a folder, and how they were made."""

    path: Path
    manifest: RunManifest

    @classmethod
    def opened(cls, path: Path) -> Self:
        """Raises InputError for a folder whose rows are no aspects or whose run has not ended, and
        for labels that are no scale of sentiment."""
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
                f"{path}: expected the rows of a run that has ended, found one that stopped: run "
                "the same command again to finish it"
            )
        counts = finished.scored, finished.failed, *manifest.shards
        if sum(counts) != 2 * manifest.rows or min(counts) < 0:
            raise InputError(f"{path / MANIFEST}: its numbers of rows do not add up. {_AGAIN}")
        if Scale.of(manifest.labels) is None:
            raise InputError(
                f"{path}: expected labels of sentiment, found {', '.join(manifest.labels):.80}"
            )
        return cls(path, manifest)

    def columns(self, by: str | None, over: str | None, dates: str | None) -> Columns:
        """The columns of the table that was scored."""
        return Columns(self.manifest.settings.text, by, over, dates, self.manifest.settings.id)

    def texts(self) -> Iterator[list[AspectRow]]:
        """The rows of each text that has scores, in the order of the input. Raises InputError for a
        row that the run has not written, and unless each text is in the rows or the errors."""
        files, first = OutFolder(self.path, self.manifest.settings.format), 0
        for number, size in enumerate(self.manifest.shards):
            part, texts, last = files.part(number), 0, first - 1
            for place, rows in groupby(self._rows(part), lambda row: row.row):
                text = [*rows]
                starts, same = [row.start or 0 for row in text], len({row.id for row in text}) == 1
                same &= len({*starts}) == len(starts) and starts == sorted(starts)
                if not (same and last < place < first + size):
                    raise _damaged(part, f"row {place} of the input is out of order")
                texts, last = texts + 1, place
                yield text
            failed = files.failed(number)
            if texts + failed != size:
                found = f"found {texts:,} in it and {failed:,} in the errors"
                raise _damaged(part, f"expected {size:,} rows of the input, {found}")
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

    def failed(self) -> Iterator[tuple[str, str, str]]:
        """The rows of the input that have failed: the kind, where, and why."""
        for number in range(len(self.manifest.shards)):
            part = OutFolder(self.path, "jsonl").failed_part(number)
            for line in part.read_bytes().splitlines() if part.exists() else ():
                try:
                    failed = _FailedRow.model_validate_json(line)
                except ValidationError as error:
                    raise _damaged(part, problems(error, most=1)) from None
                yield failed.kind, f"id {failed.id}", failed.message


_AGAIN: Final = "Score the texts again, into another folder"


def _damaged(part: Path, what: str) -> InputError:
    return InputError(f"{part}: these are not the rows that were written: {what}. {_AGAIN}")
