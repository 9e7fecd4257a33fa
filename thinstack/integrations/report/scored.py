"""A report over rows of aspects that a run over a corpus has written, without scoring again."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from thinstack.core.scale import Scale
from thinstack.errors import InputError, StoppedError, shown
from thinstack.integrations.corpora.inputs import Corpus, open_corpus
from thinstack.integrations.corpora.rows import Columns as TextColumns
from thinstack.integrations.corpora.run import Progress
from thinstack.integrations.corpora.run_manifest import MANIFEST, RunManifest, as_planned
from thinstack.integrations.corpora.shards import shards_of
from thinstack.integrations.report.collect import Collector
from thinstack.integrations.report.entries import Entry, Kind, corpus_entries
from thinstack.integrations.report.plan import Plan, plan_of, read_again
from thinstack.integrations.report.readings import Mention, Reading
from thinstack.integrations.report.report import Report
from thinstack.integrations.report.run import TOLD, Tell, nobody
from thinstack.integrations.report.scored_rows import AspectRow, ScoredFolder
from thinstack.integrations.report.summary import Asked, report_of
from thinstack.integrations.report.tally import Span, side_of
from thinstack.text.sentences import splitter

_KINDS: Final[dict[str, Kind]] = {"missing": "empty", "failed": "failed", "killed": "failed"}


def is_scored(path: Path) -> bool:
    """Whether a path is the folder of a run over a corpus."""
    return (path / MANIFEST).is_file()


def report_scored(
    folder: ScoredFolder, asked: Asked, texts: Path | None = None, tell: Tell = nobody
) -> Report:
    """The report of rows of aspects. `texts`: the table that was scored, for quotes, groups and
    dates; it has the rows in the same order.

    The side of a text is that of most of its mentions. Raises InputError for a table that other
    rows were scored of, as `plan_of` does, and for rows without any text.
    """
    plan = Plan(folder.manifest.rows)
    pairs: Iterable[tuple[Entry, list[AspectRow]]]
    if texts is None:
        pairs = ((Entry(f"id {rows[0].id}", ""), rows) for rows in folder.texts())
    else:
        corpus = _corpus_of(folder.manifest, texts)

        def source() -> Iterator[Entry]:
            return corpus_entries(corpus, asked.columns)

        plan = plan_of(source, asked.columns, lambda rows: tell(Progress(rows)))
        pairs = _joined(read_again(source, plan), folder.texts())
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
    for kind, place, why in folder.failed():
        found.unread(_KINDS.get(kind, "row"), place, why)
    if not found.all.texts:
        raise InputError(f"{folder.path}: expected scored texts, found none: nothing to report")
    return report_of(asked, plan, found, of_mentions=True)


def _corpus_of(manifest: RunManifest, table: Path) -> Corpus:
    """The table that was scored, which is read as it was then. Raises InputError for another."""
    read = {"encoding", "separator", "header", "paragraphs"}
    corpus = open_corpus(table, **manifest.settings.model_dump(include=read))
    columns = TextColumns(manifest.settings.text, manifest.settings.id)
    shards = as_planned(shards_of(corpus._replace(columns=columns).rows()), manifest)
    try:
        same = sum(1 for _ in shards) == len(manifest.shards)
    except StoppedError:
        same = False
    if not same:
        raise InputError(
            f"{table}: expected the table that was scored, found other ids or texts: name that "
            "table with --texts, or score this one"
        )
    return corpus


def _joined(
    entries: Iterable[Entry], scored: Iterator[list[AspectRow]]
) -> Iterator[tuple[Entry, list[AspectRow]]]:
    """The rows of a table that have scores, with them."""
    rows = next(scored, None)
    for number, entry in enumerate(entries):
        if rows is not None and rows[0].row == number:
            if rows[0].id != entry.id:
                found = f"the scored rows have the id {shown(rows[0].id, 40)}"
                raise InputError(f"{entry.place}: {found} for it: score the table again")
            yield entry, rows
            rows = next(scored, None)


class _RowReader:
    """Reads the rows of a text. `labels`: those of the run."""

    def __init__(self, labels: Sequence[str]):
        scale = Scale.of(labels)
        self._sides = dict(zip(labels, scale.sides, strict=True)) if scale else {}
        self._cut = splitter()

    def __call__(self, entry: Entry, rows: Sequence[AspectRow]) -> Reading:
        """The reading of a text, whose side is that of most mentions."""
        starts: list[tuple[int, str]] = []
        if entry.text and rows[0].text is not None:
            (sentences,) = self._cut([entry.text])
            starts = [(each.start, each.text) for each in sentences]
        mentions = [self._mention(entry, row, starts) for row in rows if row.text is not None]
        side = side_of(mention.side for mention in mentions)
        mean = sum(mention.polarity for mention in mentions) / max(len(mentions), 1)
        return Reading(side, mean, mentions)

    def _mention(
        self, entry: Entry, row: AspectRow, sentences: Sequence[tuple[int, str]]
    ) -> Mention:
        start, end, why = row.start or 0, row.end or 0, (row.because_start, row.because_end)
        shift, sentence = start, ""
        if entry.text:
            shift, sentence = dict(enumerate(sentences)).get(row.sentence or 0, (0, ""))
            _check_inside(entry, row.text or "", start - shift, sentence)
            _check_inside(entry, row.because or "", (row.because_start or 0) - shift, sentence)
        because = [place - shift for place in why if place is not None]
        return Mention(
            term=row.text or "",
            named=False,
            side=self._sides.get(row.label or "", 0),
            polarity=row.polarity or 0.0,
            sentence=sentence,
            place=Span(start - shift, end - shift),
            because=Span(*because) if because else None,
            said=row.because,
        )


def _check_inside(entry: Entry, text: str, start: int, sentence: str) -> None:
    """Raise InputError unless a text of a row is at its place in the sentence."""
    if text and (start < 0 or not sentence.startswith(text, start)):
        raise InputError(
            f"{entry.place}: expected the text that was scored, with {shown(text, 40)} in it, "
            f"found {shown(sentence, 40)} there: name the table that was scored with --texts, or "
            "score this one again"
        )
