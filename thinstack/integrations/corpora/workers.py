"""Scores the rows of shards and writes them, in this process or in several. A process
that dies costs its shard, which another one then scores row by row: a row at which processes die
goes to the errors."""

import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Final, NamedTuple, cast

import numpy as np

from thinstack.bundle import open_bundle
from thinstack.core.config import Device
from thinstack.data.files.writing import replacing
from thinstack.errors import StoppedError, ThinstackError, described
from thinstack.integrations.corpora.inputs import Problem, Row
from thinstack.integrations.corpora.output_files import OutFolder
from thinstack.integrations.corpora.part_files import failed_lines, open_part
from thinstack.integrations.corpora.row_columns import Layout
from thinstack.integrations.corpora.run_manifest import Settings, Shard, changed
from thinstack.integrations.corpora.scoring import ScoredRows, TextScorer, batches_of
from thinstack.runtime.predictor import Predictor

_TRIES: Final = 2
_MAX_FAILED_STARTS: Final = 3
"""Processes in a row that die before they have started, at most."""


class WrittenShard(NamedTuple):
    """A shard that is written: how many rows it has, how many have failed, and how many mentions of
    each term and category are in it."""

    rows: int
    failed: int
    mentions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelSource:
    """The model, and how a process loads it. `digest` is that of its bundle's manifest, where all
    processes are to take the same bundle."""

    name: str
    device: Device = "cpu"
    threads: int = 1
    digest: str = ""
    isolated: bool | None = None

    def scorer(self, settings: Settings) -> TextScorer:
        """Load the model. Raises StoppedError if its bundle is another than `digest` says."""
        try:
            bundle = open_bundle(self.name)
        except (ThinstackError, OSError) as error:
            raise changed(str(error)) if self.digest else error from None
        if self.digest not in ("", bundle.manifest.digest):
            raise changed(f"{bundle.path} holds another bundle")
        view = settings.model_dump(include={"classes", "abstain", "max_words", "aggregation"})
        how = {name: getattr(self, name) for name in ("device", "threads", "isolated")}
        predictor, vectors = Predictor(bundle, **view, **how), settings.vectors
        return TextScorer(
            predictor, settings.output, settings.source, vectors=vectors, about=settings.asked
        )


def layout_of(scorer: TextScorer, input_columns: Sequence[str] = ()) -> Layout:
    """What the rows of a scorer look like, with these columns of the input."""
    return Layout(scorer.labels, scorer.output, scorer.width, scorer.terms, input_columns)


def score_shard(
    scorer: TextScorer,
    shard: Shard,
    folder: OutFolder,
    before: Callable[[int], object] | None = None,
) -> WrittenShard:
    """Score the rows of a shard and write them. With `before`, which is told each place before its
    row is scored and how many rows there are before all is written, row by row."""
    failed: list[tuple[Row, Problem]] = []
    first, mentions = shard.first, np.zeros(len(scorer.about))
    with replacing(folder.part(shard.number)) as path:
        layout = layout_of(scorer, folder.input_columns)
        with open_part(path, folder.format, layout) as write:
            for rows in batches_of(shard.rows) if before is None else ([row] for row in shard.rows):
                if before is not None:
                    before(first - shard.first)
                scored, problems = scorer(rows)
                _check_complete(len(rows), scored, problems)
                mentions += np.nansum(scored.terms[:, 1::2], axis=0)
                failed += [(rows[place], problems[place]) for place in sorted(problems)]
                write(rows, scored._replace(row=scored.text + first))
                first += len(rows)
            if before is not None:
                before(len(shard.rows))
        folder.write_failed(shard.number, failed_lines(failed))
    return WrittenShard(len(shard.rows), len(failed), tuple(mentions.astype(int).tolist()))


def _check_complete(rows: int, scored: ScoredRows, problems: Collection[int]) -> None:
    texts = np.unique(scored.text).tolist()
    if sorted([*texts, *problems]) != list(range(rows)):
        raise StoppedError(
            f"expected scores or an error of each of {rows:,} rows, found scores of "
            f"{len(texts):,} and {len(problems):,} errors; please report this"
        )


class OpenShard:
    """A shard that is not written yet. Once a process has died of it, it is read `by_rows`; `row`
    is then the one that is scored, or the number of rows once all are."""

    def __init__(self, shard: Shard):
        self.shard, self.by_rows, self.row = shard, False, 0
        self._deaths = Counter[int]()

    def died(self, how: str) -> None:
        """Note `how` its process died, because of a row or by chance. A row at which it has died
        twice has failed. Raises StoppedError if it dies twice when all rows are scored."""
        place, shard = self.row, self.shard
        if not self.by_rows:
            self.by_rows = True
            return
        self._deaths[place] += 1
        if self._deaths[place] < _TRIES:
            return
        if place == len(shard.rows):
            raise StoppedError(
                f"shard {shard.number} of {place:,} rows: its process dies ({how}), but not "
                "on any single row; the machine may be out of memory. Continue with fewer "
                "--jobs"
            )
        message = f"the process that scored it died {_TRIES} times: {how}"
        failed = shard.rows[place]._replace(text="", problem=Problem("killed", message))
        rows = [*shard.rows[:place], failed, *shard.rows[place + 1 :]]
        self.shard, self.row = shard._replace(rows=rows), 0


Reply = int | WrittenShard | None | Exception
"""Of a worker: the row that it is about to score; a shard is written; it waits for its first task;
it cannot go on."""


class Worker:
    """A process, as its parent sees it. Its `connection` brings its replies, and comes to its end
    when the process dies. It works on `shard`, which is None while it starts and while it waits."""

    def __init__(self, model: ModelSource, settings: Settings, folder: OutFolder):
        context = multiprocessing.get_context("spawn")  # a session has threads, which no fork has
        self.connection, other = context.Pipe()
        arguments = (other, model, settings, folder)
        self._process: BaseProcess = context.Process(target=_serve, args=arguments, daemon=True)
        with _uninterrupted():
            self._process.start()
        other.close()
        self.shard: OpenShard | None = None
        self.ready = False

    def give(self, shard: OpenShard) -> None:
        """Let the process work on a shard."""
        self.shard = shard
        with suppress(OSError):  # where it is dead, its connection will say so
            self.connection.send((shard.shard, shard.by_rows))

    def how_it_died(self) -> str:
        """The signal that killed the process, or its exit code, in words."""
        self._process.join()
        code = self._process.exitcode or 0
        try:
            return signal.Signals(-code).name if code < 0 else f"exit code {code}"
        except ValueError:
            return f"signal {-code}"

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._process.terminate()
        self._process.join()
        self.connection.close()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """What is started in the block takes no notice of Ctrl-C, which is its parent's to answer."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _serve(
    connection: Connection, model: ModelSource, settings: Settings, folder: OutFolder
) -> None:
    """The work of the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, ConnectionError):  # as it is where the parent has gone
        try:
            scorer = model.scorer(settings)
            connection.send(None)
            while True:
                shard, by_rows = connection.recv()
                before = connection.send if by_rows else None
                connection.send(score_shard(scorer, shard, folder, before))
        except (EOFError, ConnectionError):
            raise
        except (ThinstackError, OSError) as error:
            connection.send(error)
        except Exception as error:
            connection.send(StoppedError(f"a process failed: {described(error)}"))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker is started by another process"
    parent.join()
    os._exit(1)


def score_side_by_side(
    shards: Iterator[Shard], jobs: int, start: Callable[[], Worker]
) -> Generator[WrittenShard, None, None]:
    """Score shards in several processes, which `start` starts, and report each written shard.

    Raises StoppedError if processes die as they start, what `OpenShard.died` raises, and the error
    of a process that cannot continue. However it ends, no process is left running.
    """
    workers: list[Worker] = []
    waiting: deque[OpenShard] = deque()
    failed_starts = 0
    try:
        while True:
            _give(workers, waiting, shards)
            while waiting and len(workers) < jobs:
                workers.append(start())
            if not waiting and not any(worker.shard for worker in workers):
                return
            by_connection = {worker.connection: worker for worker in workers}
            for connection in wait(list(by_connection)):
                worker = by_connection[cast(Connection, connection)]
                try:
                    reply: Reply = worker.connection.recv()
                except (EOFError, OSError):
                    workers.remove(worker)
                    failed_starts = 0 if worker.ready else failed_starts + 1
                    _requeue_after_death(worker, waiting, failed_starts)
                    continue
                if isinstance(reply, Exception):
                    raise reply
                if isinstance(reply, int):
                    assert worker.shard is not None, "it reports the rows of a shard"
                    worker.shard.row = reply
                    continue
                worker.ready, worker.shard = True, None
                if reply is not None:
                    yield reply
    finally:
        for worker in workers:
            worker.end()


def _give(workers: list[Worker], waiting: deque[OpenShard], shards: Iterator[Shard]) -> None:
    """Give those that are free something to do, and have one shard read ahead."""
    free = [worker for worker in workers if worker.ready and worker.shard is None]
    while True:
        if not waiting:
            waiting.extend(map(OpenShard, islice(shards, 1)))
        if not (free and waiting):
            return
        free.pop().give(waiting.popleft())


def _requeue_after_death(worker: Worker, waiting: deque[OpenShard], failed_starts: int) -> None:
    """Put the shard of a dead process back, and note the death."""
    how = worker.how_it_died()
    worker.end()
    if failed_starts == _MAX_FAILED_STARTS:
        raise StoppedError(
            f"{failed_starts} processes in a row died as they started ({how}); the machine "
            "may be out of memory. Continue with fewer --jobs"
        )
    if worker.shard is not None:
        worker.shard.died(how)
        waiting.appendleft(worker.shard)
