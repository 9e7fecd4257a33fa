"""Runs over corpora: scores files into a folder of rows, and resumes a run that was interrupted."""

import warnings
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from thinstack.bundle import open_bundle
from thinstack.data.files.outputs import check_apart
from thinstack.data.files.writing import locked
from thinstack.data.tables.table_rows import check_columns
from thinstack.errors import DataError, InputError, StoppedError, ThinstackError, outside
from thinstack.integrations.corpora.inputs import Corpus, open_corpus, spooled_corpus
from thinstack.integrations.corpora.output_files import (
    SPOOL,
    OutFolder,
    check_new_file,
    first_reason,
    join_parts,
    remove_parts,
)
from thinstack.integrations.corpora.run_manifest import (
    Progress,
    RunManifest,
    Settings,
    Shard,
    Tell,
    changed,
    plan,
    read_run_manifest,
    shards_of,
)
from thinstack.integrations.corpora.scored_rows import check_format
from thinstack.integrations.corpora.scoring import TextScorer
from thinstack.integrations.corpora.workers import ModelSource, score_shard, score_side_by_side
from thinstack.runtime.aspects import name_of
from thinstack.runtime.mentions import warn_of_unmentioned


@dataclass(frozen=True, slots=True)
class Request:
    """The settings of a run.

    Attributes:
        input: a file, a folder, or a stream of lines. The lines are texts, or JSON if a column is
            named; with a separator or a header to name, they are a table.
        out: the folder for the rows.
        file: the single file for the rows, if any, which replaces the folder at the end.
        named: whether the user has named a column; files without columns are then rejected.
        jobs: the number of processes; 0 means this process, which a row may kill.
        fail_after: the maximum share of failed rows; the run stops above it.
        repeated_ids: whether several rows may have the same id.
        keep: the columns of a table to copy, in addition to its "id"; None means all.
        bom: whether the single file starts with a byte order mark, as Excel needs it.
    """

    input: Path | BinaryIO
    out: Path
    settings: Settings
    model: ModelSource
    file: Path | None = None
    named: bool = False
    jobs: int = 1
    fail_after: float = 0.01
    repeated_ids: bool = False
    keep: tuple[str, ...] | None = ()
    bom: bool = False

    def corpus(self, spool: Path, read_before: Corpus | None = None) -> Corpus:
        """Return the files to read. A stream is copied to `spool`, unless it is `read_before`."""
        settings = self.settings
        reading = settings.model_dump(include={"encoding", "separator", "header", "paragraphs"})
        if isinstance(self.input, Path):
            return open_corpus(self.input, settings.reads if self.named else None, **reading)
        return read_before or spooled_corpus(
            self.input, spool, settings.reads, named=self.named, **reading
        )


def score_corpus(request: Request, tell: Tell) -> Progress:
    """Score a corpus, or the rest of it, and report the progress to `tell`.

    Raises InputError for an invalid request, if the folder belongs to another run, or if the single
    file exists, at the start or at the end; OSError if rows cannot be written; StoppedError if too
    many rows fail, if the input or the model changes meanwhile, or if a row is lost. Written rows
    are kept, and the same request resumes the run.
    """
    folder = OutFolder(request.out, request.settings.format)
    used = [request.input] if isinstance(request.input, Path) else []
    check_apart(request.out, "--out", used)
    if request.file:
        check_new_file(request.file, used)
    scorer = request.model.scorer(request.settings)
    check_format(folder.format, scorer.layout)
    folder.check()
    with locked(folder.path), folder.tidied():
        run = _Run(request, folder, scorer, tell)
        last = run.score(tell)
        run.finish(last)
    if request.file:
        remove_parts(folder)  # if the lock was in the way, as on Windows
    if not last.before:
        counts = zip(scorer.about, last.mentions, strict=False)
        warn_of_unmentioned(name_of(term) for term, count in counts if not count)
    return last


class _Run:
    """A run whose folder is locked: a new one, or that of the folder. Raises InputError if the
    folder belongs to another."""

    def __init__(self, request: Request, folder: OutFolder, scorer: TextScorer, tell: Tell):
        self.request, self.folder, self.scorer = request, folder, scorer
        corpus = request.corpus(folder.path / SPOOL)
        self.stamps = corpus.stamps()  # when the digests for the manifest were computed
        settings = _keeping(request, corpus, scorer.layout.written)
        self.corpus = corpus = corpus._replace(columns=settings.reads)
        scorer.layout = scorer.layout._replace(input_columns=settings.columns)
        before, digests = read_run_manifest(folder.path), corpus.digests()
        shards = before.shards if before else None
        if shards is None:
            repeated = request.repeated_ids
            shards = plan(corpus, repeated=repeated, tell=lambda rows: tell(Progress(rows)))
        manifest = RunManifest(
            input=digests,
            model=scorer.predictor.bundle.manifest.digest,
            labels=scorer.predictor.labels,
            settings=settings,
            shards=shards,
        )
        if before is None:
            manifest.write(folder.path)
        elif difference := before.difference(manifest):
            advice = "choose another folder with --out"
            if request.file:
                advice = f"to start again, remove {folder.path}, or choose another file with --out"
            raise InputError(f"{folder.path}: contains rows of another run: {difference}; {advice}")
        self.manifest = before or manifest

    def score(self, tell: Tell) -> Progress:
        """Score the remaining shards. Raises StoppedError as soon as too many rows have failed, and
        what `_shards` and `score_side_by_side` raise."""
        folder, shards = self.folder, self.manifest.shards
        done = folder.done().intersection(range(len(shards)))
        before = sum(shards[number] for number in done)
        now = Progress(before, sum(map(folder.failed, done)), before, self.manifest.rows)
        todo = self._shards(done) if len(done) < len(shards) else iter(())
        jobs = min(self.request.jobs, len(shards) - len(done))
        # All processes use the same files, because a branch on the hub might move meanwhile.
        bundle = self.scorer.predictor.bundle
        same: dict[str, Any] = {"name": str(bundle.path), "digest": bundle.manifest.digest}
        model = replace(self.request.model, **same)
        if jobs:
            scored = score_side_by_side(todo, jobs, model, self.manifest.settings, folder)
        else:
            scored = (score_shard(self.scorer, shard, folder) for shard in todo)
        with closing(scored) as written:
            self._report(now, tell)
            for shard in written:
                now = now.after(shard)
                self._report(now, tell)
        return now

    def _shards(self, done: Collection[int]) -> Iterator[Shard]:
        """Yield the remaining shards, except one that an error left incomplete. Raises StoppedError
        if their rows can no longer be read, or may be those of a modified file."""
        sizes = dict(enumerate(self.manifest.shards))
        try:
            for shard in shards_of(self.corpus.rows()):
                self._check_files(self.corpus)
                if shard.number not in done and sizes.get(shard.number) == len(shard.rows):
                    yield shard
        except DataError as error:  # of a file that was readable when its rows were counted
            raise changed(str(error)) from None

    def _check_files(self, corpus: Corpus) -> None:
        """Raise StoppedError if the files differ from the manifest."""
        try:
            stamps, before = corpus.stamps(), self.manifest.input
            now = before if stamps == self.stamps else corpus.digests()
        except (ThinstackError, OSError) as error:
            raise changed(str(error)) from None
        if names := [name for name in {**before, **now} if before.get(name) != now.get(name)]:
            raise changed(f"{', '.join(names):.200} differs, is new or is gone")
        self.stamps = stamps

    def _report(self, now: Progress, tell: Tell) -> None:
        tell(now)
        if now.failed > self.request.fail_after * self.manifest.rows:
            errors = self.request.out / "errors"
            raise StoppedError(
                f"{now.failed:,} of {now.rows:,} rows have failed, more than "
                f"{self.request.fail_after:.3%}; the first: {first_reason(errors)}. All are in "
                f"{errors}; to continue anyway, run the same command with a higher --fail-after"
            )

    def finish(self, last: Progress) -> None:
        """Record the end of the run, and write the single file. Raises StoppedError if the input or
        the model has changed, and unless every row of the input is in the folder."""
        request, folder, shards = self.request, self.folder, self.manifest.shards
        try:
            corpus = request.corpus(folder.path / SPOOL, self.corpus)
            model = open_bundle(self.scorer.predictor.bundle.path).manifest.digest
        except (ThinstackError, OSError) as error:
            raise changed(str(error)) from None
        self._check_files(corpus)
        if model != self.manifest.model:
            raise changed("the model is a different bundle")
        lost = sorted({*range(len(shards))} - folder.done())
        if lost or last.done != self.manifest.rows:
            raise StoppedError(
                f"expected all {self.manifest.rows:,} rows of the input in {folder.path}, found "
                f"{last.done:,}; lost shards: {lost!r:.80}. Choose another folder with --out and "
                "start again"
            )
        finished = {"scored": last.done - last.failed, "failed": last.failed}
        self.manifest.model_copy(update={"finished": finished}).write(folder.path)
        if request.file:
            join_parts(folder, len(shards), request.file, self.scorer.layout, bom=request.bom)
            remove_parts(folder)


def _keeping(request: Request, corpus: Corpus, written: Collection[str]) -> Settings:
    """Return the settings with the columns to copy. If all are, those with the name of a `written`
    one are left out, with a warning. Raises InputError if such a column is requested, and DataError
    for one that no table has."""
    settings = request.settings.model_copy(update={"own_id": request.settings.id is None})
    if request.keep == ():
        return settings
    there = corpus.table_columns()
    columns = [name for name in there if name not in settings.reads.wanted]
    if request.keep is not None:
        check_columns(", ".join(corpus.files), there, request.keep, "set others with --columns")
        columns = [*dict.fromkeys(request.keep)]
    if taken := [name for name in columns if name in written]:
        problem = f"input columns have the names of score columns: {', '.join(map(repr, taken))}"
        if request.keep is not None:
            raise InputError(f"{problem}. Rename them, or remove them from --columns")
        problem += ". They are not copied; rename them to keep them"
        warnings.warn(problem, stacklevel=outside())
    columns = [name for name in columns if name not in written]
    return settings.model_copy(update={"columns": tuple(columns)})
