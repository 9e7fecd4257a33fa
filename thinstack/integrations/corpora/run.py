"""A run over a corpus: scores its files into a folder of rows, and continues a run that stopped."""

import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from thinstack.bundle import open_bundle
from thinstack.data.files.lock import locked
from thinstack.data.files.outputs import check_apart
from thinstack.data.tables.table_rows import check_columns
from thinstack.errors import InputError, StoppedError, ThinstackError, outside
from thinstack.integrations.corpora.inputs import Corpus, open_corpus, spooled_corpus
from thinstack.integrations.corpora.output_files import (
    SPOOL,
    OutFolder,
    check_new_file,
    first_reason,
    join_parts,
    remove_parts,
)
from thinstack.integrations.corpora.part_files import check_format
from thinstack.integrations.corpora.run_manifest import (
    Finished,
    RunManifest,
    Settings,
    as_planned,
    changed,
    input_files,
    plan,
    read_run_manifest,
    shards_of,
)
from thinstack.integrations.corpora.scoring import TextScorer
from thinstack.integrations.corpora.workers import (
    ModelSource,
    Worker,
    WrittenShard,
    layout_of,
    score_shard,
    score_side_by_side,
)
from thinstack.runtime.mentions import name_of, warn_of_unmentioned


class Progress(NamedTuple):
    """How far a run is, in rows of the input: `done` are finished; of these, `failed` have failed,
    and `before` were done before the run started. `rows` is None while they are being counted.
    `mentions`: of each term and category, since then."""

    done: int
    failed: int = 0
    before: int = 0
    rows: int | None = None
    mentions: tuple[int, ...] = ()


Tell = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Request:
    """What a run is to do.

    Attributes:
        input: a file, a folder, or a stream of lines. The lines are texts, or JSON if a column is
            named; with a separator or a header to name, they are a table.
        out: the folder for the rows.
        file: what the rows are written to as one file in the end; the folder then goes.
        named: whether the user has named a column; files without columns are then refused.
        jobs: how many processes score side by side; 0 means this process, which a row may kill.
        fail_after: the run stops if more than this share of all rows fails.
        repeated_ids: whether several rows may have the same id.
        keep: the columns of a table that are written too, beside its own "id"; None means all.
        bom: whether the one file starts with a byte order mark, as Excel needs it.
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


def score_corpus(request: Request, tell: Tell) -> Progress:
    """Score a corpus, or the rest of it, and report the progress to `tell`.

    Raises InputError if the request cannot be met, if the folder belongs to another run, or if the
    one file is there already, at the start or in the end; OSError if rows cannot be written;
    StoppedError if too many rows fail, if the input or the model changes meanwhile, or if a row is
    lost. Rows that are written stay, and the same request goes on.
    """
    folder = OutFolder(request.out, request.settings.format)
    used = [request.input] if isinstance(request.input, Path) else []
    check_apart(request.out, "--out", used)
    if request.file:
        check_new_file(request.file, used)
    scorer = request.model.scorer(request.settings)
    layout = layout_of(scorer)
    check_format(folder.format, layout)
    folder.prepare()
    with locked(folder.path), _tidied(folder):
        corpus = _corpus(request, folder)
        request = replace(request, settings=_keeping(request, corpus, layout.written))
        corpus = corpus._replace(columns=request.settings.reads)
        folder = folder._replace(input_columns=request.settings.columns)
        layout = layout._replace(input_columns=folder.input_columns)
        manifest = _manifest(request, corpus, scorer, tell)
        done = folder.done().intersection(range(len(manifest.shards)))
        before = sum(manifest.shards[number] for number in done)
        start = Progress(before, sum(map(folder.failed, done)), before, manifest.rows)
        planned = shards_of(corpus.rows()) if before < manifest.rows else iter(())
        todo = (shard for shard in as_planned(planned, manifest) if shard.number not in done)
        jobs = min(request.jobs, len(manifest.shards) - len(done))
        # All processes take the same files, where a branch of the hub might move meanwhile.
        bundle = scorer.predictor.bundle
        same: dict[str, Any] = {"name": str(bundle.path), "digest": bundle.manifest.digest}
        new = partial(Worker, replace(request.model, **same), request.settings, folder)
        alone = (score_shard(scorer, shard, folder) for shard in todo)
        with closing(score_side_by_side(todo, jobs, new) if jobs else alone) as written:
            last = _followed(written, start, request, tell)
        _check_unchanged(request, folder, corpus, manifest, same["name"])
        finished = _finished(last, manifest, folder)
        manifest.model_copy(update={"finished": finished}).write(folder.path)
        if request.file:
            join_parts(folder, len(manifest.shards), request.file, layout, bom=request.bom)
            remove_parts(folder)
    if request.file:
        remove_parts(folder)  # where the lock was in the way, as on Windows
    if not last.before:
        counts = zip(scorer.about, last.mentions, strict=False)
        warn_of_unmentioned(name_of(term) for term, count in counts if not count)
    return last


def _finished(last: Progress, manifest: RunManifest, folder: OutFolder) -> Finished:
    """How the run has ended. Raises StoppedError unless every row of the input, and every shard, is
    in the folder."""
    numbers = range(len(manifest.shards))
    failed = [folder.failed(number) for number in numbers]
    odd = [n for n in numbers if failed[n] > manifest.shards[n]]
    lost = sorted(set(numbers) - folder.done()) or odd
    if lost or (last.done, last.failed) != (manifest.rows, sum(failed)):
        raise StoppedError(
            f"expected all {manifest.rows:,} rows of the input in {folder.path}, found "
            f"{last.done:,}, {last.failed:,} of them failed, and {sum(failed):,} listed as "
            f"failed; incomplete shards: {lost!r:.80}. Name another folder with --out and "
            "start again"
        )
    return Finished(scored=last.done - last.failed, failed=last.failed)


@contextmanager
def _tidied(folder: OutFolder) -> Iterator[None]:
    """Nothing half written lies in the folder before the block, nor after it, however it ends."""
    folder.clean()
    try:
        yield
    finally:
        folder.clean()
        (folder.path / SPOOL).unlink(missing_ok=True)


def _followed(
    shards: Iterator[WrittenShard], start: Progress, request: Request, tell: Tell
) -> Progress:
    """What there is in the end. Raises StoppedError as soon as too many rows have failed."""
    now = start
    assert now.rows is not None, "they were counted"
    while True:
        tell(now)
        if now.failed > request.fail_after * now.rows:
            errors = request.out / "errors"
            raise StoppedError(
                f"{now.failed:,} of {now.rows:,} rows have failed, more than "
                f"{request.fail_after:.3%}; the first: {first_reason(errors)}. All are in "
                f"{errors}; to continue anyway, run the same command with a higher --fail-after"
            )
        shard = next(shards, None)
        if shard is None:
            return now
        both = zip_longest(now.mentions, shard.mentions, fillvalue=0)
        now = Progress(
            now.done + shard.rows,
            now.failed + shard.failed,
            now.before,
            now.rows,
            tuple(map(sum, both)),
        )


def _corpus(request: Request, folder: OutFolder, *, again: Corpus | None = None) -> Corpus:
    """The files to read; what comes as a stream is kept in the folder until all is scored. `again`:
    what they were before."""
    settings = request.settings
    columns = settings.reads
    reading = settings.model_dump(include={"encoding", "separator", "header", "paragraphs"})
    if isinstance(request.input, Path):
        return open_corpus(request.input, columns if request.named else None, **reading)
    if again is not None:
        return again
    spool = folder.path / SPOOL
    return spooled_corpus(request.input, spool, columns, named=request.named, **reading)


def _keeping(request: Request, corpus: Corpus, written: Collection[str]) -> Settings:
    """The settings with the columns that are kept. Of all, those of the name of one that is
    `written` are left out, with a warning. Raises InputError for such a one that is asked for, and
    DataError for one that no table has."""
    if request.keep == ():
        return request.settings
    settings = request.settings.model_copy(update={"own_id": request.settings.id is None})
    columns = corpus._replace(columns=settings.reads).other_columns()
    if request.keep is not None:
        check_columns(", ".join(corpus.files), columns, request.keep, "name others with --columns")
        columns = [*request.keep]
    if taken := [name for name in columns if name in written]:
        problem = f"the input has a column {taken[0]!r}, which is also a column of the scores"
        if request.keep is not None:
            raise InputError(f"{problem}: rename it, or leave it out of --columns")
        warnings.warn(f"{problem}: it is not copied; rename it to keep it", stacklevel=outside())
    columns = [name for name in columns if name not in written]
    return settings.model_copy(update={"columns": tuple(columns)})


def _manifest(request: Request, corpus: Corpus, scorer: TextScorer, tell: Tell) -> RunManifest:
    """The folder's manifest if it belongs to this run, else a new one. Raises InputError for that
    of another run."""
    before = read_run_manifest(request.out)
    if before is None:
        repeated = request.repeated_ids
        sizes, digests = plan(corpus, repeated=repeated, tell=lambda rows: tell(Progress(rows)))
    else:
        sizes, digests = list(before.shards), list(before.digests)
    manifest = RunManifest(
        input=input_files(corpus),
        model=scorer.predictor.bundle.manifest.digest,
        labels=scorer.labels,
        settings=request.settings,
        shards=tuple(sizes),
        digests=tuple(digests),
    )
    if before is None:
        manifest.write(request.out)
    elif difference := before.difference(manifest):
        advice = "name another folder with --out"
        if request.file:
            advice = f"to start again, remove {request.out}, or name another file with --out"
        raise InputError(f"{request.out}: contains rows of another run: {difference}; {advice}")
    return before or manifest


def _check_unchanged(
    request: Request, folder: OutFolder, corpus: Corpus, manifest: RunManifest, model: str
) -> None:
    """Raise StoppedError if a file of the input or the model is another than the manifest says, is
    new or is gone."""
    try:
        files = input_files(_corpus(request, folder, again=corpus))
        now = {"input": files, "model": open_bundle(model).manifest.digest}
    except (ThinstackError, OSError) as error:
        raise changed(str(error)) from None
    if difference := manifest.difference(manifest.model_copy(update=now)):
        raise changed(difference)
