"""Scores the rows of shards and writes them, in this process or in several. The shard of a process
that dies is scored again row by row: a row at which the process then dies goes to the errors."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Collection, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from typing import NamedTuple, cast

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


def score_shard(
    scorer: TextScorer,
    shard: Shard,
    folder: OutFolder,
    before: Callable[[int], object] | None = None,
) -> WrittenShard:
    """Score the rows of a shard and write them. With `before`, row by row, and each place is
    reported to it before its row is scored."""
    failed: list[tuple[Row, Problem]] = []
    first, mentions = shard.first, np.zeros(len(scorer.about))
    layout = Layout.of(scorer, folder.input_columns)
    with replacing(folder.part(shard.number)) as path:
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
        folder.write_failed(shard.number, failed_lines(failed))
    return WrittenShard(len(shard.rows), len(failed), tuple(mentions.astype(int).tolist()))


def _check_complete(rows: int, scored: ScoredRows, problems: Collection[int]) -> None:
    texts = np.unique(scored.text).tolist()
    if sorted([*texts, *problems]) != list(range(rows)):
        raise StoppedError(
            f"expected scores or an error of each of {rows:,} rows, found scores of "
            f"{len(texts):,} and {len(problems):,} errors; please report this"
        )


def without_row(shard: Shard, row: int, how: str) -> Shard:
    """A shard without the text of a row at which its process died (`how`). Raises StoppedError if
    it has none already: then it is not the row."""
    rows = list(shard.rows)
    if rows[row].problem:
        raise StoppedError(
            f"shard {shard.number}: its process dies ({how}), but not on any single row; the "
            "machine may be out of memory. Continue with fewer --jobs"
        )
    problem = Problem("killed", f"the process that scored it died twice: {how}")
    rows[row] = rows[row]._replace(text="", problem=problem)
    return shard._replace(rows=rows)


class Worker:
    """A process that scores shards, one at a time, and another one once that has died. A thread
    waits for it."""

    def __init__(self, model: ModelSource, settings: Settings, folder: OutFolder):
        self._arguments = model, settings, folder
        self._process: BaseProcess | None = None
        self._connection: Connection
        self._stopped = False

    def score(self, shard: Shard) -> WrittenShard:
        """Score a shard and write it. Raises StoppedError if a process dies as it starts or is
        stopped, what `without_row` raises, and the error of a process that cannot continue."""
        by_rows, row = False, 0
        while True:
            if self._process is None:
                self._start()
            try:
                self._connection.send((shard, by_rows))
                while isinstance(reply := self._connection.recv(), int):
                    row = reply
            except (EOFError, OSError):
                how = self.close()
                if self._stopped:
                    raise StoppedError("the run was stopped") from None
                shard = without_row(shard, row, how) if by_rows else shard
                by_rows, row = True, 0
                continue
            if isinstance(reply, Exception):
                raise reply
            return cast(WrittenShard, reply)

    def _start(self) -> None:
        if hasattr(signal, "pthread_sigmask"):  # which it inherits: Ctrl-C is its parent's
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        context = multiprocessing.get_context("spawn")  # a session has threads, which no fork has
        self._connection, other = context.Pipe()
        process = context.Process(target=_serve, args=(other, *self._arguments), daemon=True)
        process.start()
        other.close()
        self._process = process
        try:
            problem = StoppedError("the run was stopped") if self._stopped else None
            problem = problem or self._connection.recv()
        except (EOFError, OSError):
            problem = StoppedError(
                f"a process died as it started ({self.close()}); the machine may be out of memory. "
                "Continue with fewer --jobs"
            )
        if problem is not None:
            raise problem

    def stop(self) -> None:
        """End the process, whatever it is doing, and start no other. For other threads."""
        self._stopped = True
        if (process := self._process) is not None:
            process.terminate()

    def close(self) -> str:
        """End the process. How it died: the signal, or its exit code."""
        if self._process is None:
            return ""
        self._connection.close()
        if self._stopped:
            self._process.terminate()
        self._process.join()
        code, self._process = self._process.exitcode or 0, None
        return signal.strsignal(-code) or f"signal {-code}" if code < 0 else f"exit code {code}"


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
    shards: Iterator[Shard], jobs: int, new: Callable[[], Worker]
) -> Generator[WrittenShard, None, None]:
    """Score shards in several processes, and report each one that is written. One is read ahead.

    Raises what `Worker.score` raises. However it ends, no process is left running.
    """
    workers, free = [new() for _ in range(jobs)], SimpleQueue[Worker]()
    for worker in workers:
        free.put(worker)

    def score(shard: Shard) -> WrittenShard:
        worker = free.get()
        try:
            return worker.score(shard)
        finally:
            free.put(worker)

    pool, running = ThreadPoolExecutor(jobs), set[Future[WrittenShard]]()
    try:
        for shard in shards:
            running.add(pool.submit(score, shard))
            if len(running) > jobs:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    finally:
        for worker in workers:
            worker.stop()
        pool.shutdown(cancel_futures=True)
        for worker in workers:
            worker.close()
