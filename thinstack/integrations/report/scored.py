"""A report over rows of aspects that a run over a corpus has written, without scoring again."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from thinstack.core.scale import Scale
from thinstack.data.tables.table import Table
from thinstack.errors import InputError, shown
from thinstack.integrations.corpora.inputs import Corpus, open_corpus
from thinstack.integrations.corpora.run import Progress
from thinstack.integrations.corpora.run_manifest import MANIFEST, RunManifest, read_run_manifest
from thinstack.integrations.report.collect import Collector
from thinstack.integrations.report.entries import (
    Columns,
    Entry,
    Kind,
    Plan,
    corpus_entries,
    plan_of,
)
from thinstack.integrations.report.readings import Mention, Reading
from thinstack.integrations.report.report import Report
from thinstack.integrations.report.run import TOLD, Tell, nobody
from thinstack.integrations.report.summary import Asked, report_of
from thinstack.integrations.report.tally import Span, side_of
from thinstack.text.sentences import splitter

_COLUMNS: Final = (
    *("id", "sentence", "start", "end", "because_start", "because_end"),
    *("text", "because", "label", "polarity"),
)
_KINDS: Final[dict[str, Kind]] = {"missing": "empty", "failed": "failed", "killed": "failed"}


Cells = dict[str, Any]
"""A row of an aspect, by its columns; None where there is nothing."""

ScoredText = tuple[str, list[Cells]]
"""The id of a text and its rows, one of which has no term if the text has none."""


def is_scored(path: Path) -> bool:
    """Whether a path is the folder of a run over a corpus."""
    return (path / MANIFEST).is_file()


class ScoredFolder(NamedTuple):
    """The rows of aspects in a folder, and how they were made."""

    path: Path
    manifest: RunManifest

    @classmethod
    def opened(cls, path: Path) -> "ScoredFolder":
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
        if manifest.finished is None:
            raise InputError(
                f"{path}: expected the rows of a run that has ended, found one that stopped: run "
                "the same command again to finish it"
            )
        if Scale.of(manifest.labels) is None:
            raise InputError(
                f"{path}: expected labels of sentiment, found {', '.join(manifest.labels):.80}"
            )
        return cls(path, manifest)

    def columns(self, by: str | None, over: str | None, dates: str | None) -> Columns:
        """The columns of the table that was scored."""
        return Columns(self.manifest.settings.text, by, over, dates, self.manifest.settings.id)

    def corpus(self, texts: Path) -> Corpus:
        """The table that was scored, which is read as it was then."""
        read = {"encoding", "separator", "header", "paragraphs"}
        return open_corpus(texts, **self.manifest.settings.model_dump(include=read))

    def texts(self) -> Iterator[ScoredText]:
        """The id of each text that has scores, and the rows of its aspects."""
        form = self.manifest.settings.format
        parts = (
            self.path / f"part-{number:06d}.{form}" for number in range(len(self.manifest.shards))
        )
        rows = chain.from_iterable(map(_rows, parts))
        waiting, name = list[Cells](), ""
        for row in rows:
            if waiting and (row["id"] != name or not _follows(waiting[-1], row)):
                yield name, waiting
                waiting = []
            name = row["id"]
            waiting.append(row)
        if waiting:
            yield name, waiting

    def failed(self) -> Iterator[tuple[Kind, str, str]]:
        """The rows that have failed: the kind, where, and why."""
        for part in sorted((self.path / "errors").glob("part-*.jsonl")):
            with part.open(encoding="utf-8") as lines:
                for line in lines:
                    error = json.loads(line)
                    yield _KINDS.get(error["kind"], "row"), f"id {error['id']}", error["message"]


def _rows(part: Path) -> Iterator[Cells]:
    for record in Table(part).records(_COLUMNS):
        if not isinstance(record, list):
            if record.problem:
                raise record.problem
            yield {name: None if cell == "" else cell for name, cell in record.cells.items()}


def _follows(before: Cells, row: Cells) -> bool:
    """Whether a row is of the same text as the one before, which has the same id."""
    known = before["start"] is not None and row["start"] is not None
    return known and int(row["start"]) >= int(before["end"])


def report_scored(
    folder: ScoredFolder, asked: Asked, texts: Path | None = None, tell: Tell = nobody
) -> Report:
    """The report of rows of aspects. `texts`: the table that was scored, for quotes, groups and
    dates; it has the rows in the same order.

    The side of a text is that of most of its mentions. Raises InputError for a table that other
    rows were scored of, as `plan_of` does, and for rows without any text.
    """
    plan = Plan(folder.manifest.rows)
    if texts is None:
        pairs = _alone(folder.texts())
    else:
        corpus = folder.corpus(texts)

        def source() -> Iterator[Entry]:
            return corpus_entries(corpus, asked.columns)

        plan = plan_of(source, asked.columns, lambda rows: tell(Progress(rows)))
        pairs = _joined(source(), folder.texts(), texts)
    found = Collector(plan)
    read = _RowReader(folder.manifest.labels)
    for done, (entry, rows) in enumerate(pairs, 1):
        unreadable = entry.unreadable
        for fault in entry.faults if unreadable is None else [unreadable]:
            found.unread(fault.kind, entry.place, fault.reason)
        if unreadable is None:
            found.add(entry, read(entry, rows))
        if done % TOLD == 0:
            tell(Progress(done, rows=plan.rows))
    for failed in folder.failed():
        found.unread(*failed)
    if not found.all.texts:
        raise InputError(f"{folder.path}: expected scored texts, found none: nothing to report")
    return report_of(asked, plan, found, of_mentions=True)


def _alone(scored: Iterator[ScoredText]) -> Iterator[tuple[Entry, list[Cells]]]:
    """The rows of each text, and what is known of it."""
    for name, rows in scored:
        yield Entry(f"id {name}", ""), rows


def _joined(
    entries: Iterable[Entry], scored: Iterator[ScoredText], table: Path
) -> Iterator[tuple[Entry, list[Cells]]]:
    """The rows of a table that have scores, with them."""
    name, rows = next(scored, (None, []))
    for entry in entries:
        if name is not None and entry.id == name:
            yield entry, rows
            name, rows = next(scored, (None, []))
    if name is not None:
        raise InputError(
            f"{table}: expected the table that was scored, found no row of the id "
            f"{shown(name, 60)} in its place: name that table with --texts"
        )


class _RowReader:
    """Reads the rows of a text. `labels`: those of the run."""

    def __init__(self, labels: Sequence[str]):
        scale = Scale.of(labels)
        self._sides = dict(zip(labels, scale.sides, strict=True)) if scale else {}
        self._cut = splitter()

    def __call__(self, entry: Entry, rows: Sequence[Cells]) -> Reading:
        """The reading of a text, whose side is that of most mentions."""
        starts: list[tuple[int, str]] = []
        if entry.text and rows[0]["text"] is not None:
            (sentences,) = self._cut([entry.text])
            starts = [(each.start, each.text) for each in sentences]
        mentions = [self._mention(entry, row, starts) for row in rows if row["text"] is not None]
        side = side_of(mention.side for mention in mentions)
        mean = sum(mention.polarity for mention in mentions) / max(len(mentions), 1)
        return Reading(side, mean, mentions)

    def _mention(self, entry: Entry, row: Cells, sentences: Sequence[tuple[int, str]]) -> Mention:
        term, start, end = str(row["text"]), int(row["start"]), int(row["end"])
        if entry.text and entry.text[start:end] != term:
            found = shown(entry.text[start:end], 40)
            raise InputError(
                f"{entry.place}: expected the text that was scored, with {shown(term, 40)} in it, "
                f"found {found} there: name the table that was scored with --texts"
            )
        shift, sentence = sentences[int(row["sentence"])] if sentences else (start, "")
        because = row["because_start"], row["because_end"]
        known = None if because[0] is None else Span(*(int(place) - shift for place in because))
        return Mention(
            term=term,
            named=False,
            side=self._sides.get(row["label"], 0),
            polarity=float(row["polarity"] or 0.0),
            sentence=sentence,
            place=Span(start - shift, end - shift),
            because=known,
            said=row["because"],
        )
