"""Scores shards and writes their rows, in this process or in several. If a process dies, its shard
is scored again row by row: a row at which the process dies again is recorded as an error."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np

from thinstack.bundle import open_bundle
from thinstack.core.config import Device
from thinstack.data.files.writing import replacing
from thinstack.errors import StoppedError, ThinstackError, described
from thinstack.integrations.corpora.inputs import Problem, Row
from thinstack.integrations.corpora.output_files import OutFolder
from thinstack.integrations.corpora.run_manifest import Progress, Settings, Shard, changed
from thinstack.integrations.corpora.scored_rows import ROW, open_part
from thinstack.integrations.corpora.scoring import TextScorer, batches_of
from thinstack.runtime.predictor import Predictor


@dataclass(frozen=True, slots=True)
class ModelSource:
    """The model, and how a process loads it. `digest`: the digest of its bundle's manifest, if all
    processes must use the same bundle."""

    name: str
    device: Device = "cpu"
    threads: int = 1
    digest: str = ""
    isolated: bool | None = None

    def scorer(self, settings: Settings) -> TextScorer:
        """Load the model. Raises StoppedError if its bundle does not match `digest`."""
        try:
            bundle = open_bundle(self.name)
        except (ThinstackError, OSError) as error:
            raise changed(str(error)) if self.digest else error from None
        if self.digest not in ("", bundle.manifest.digest):
            raise changed(f"{bundle.path} contains a different bundle")
        view = settings.model_dump(include={"classes", "abstain", "max_words", "aggregation"})
        how = {name: getattr(self, name) for name in ("device", "threads", "isolated")}
        return TextScorer(
            Predictor(bundle, **view, **how),
            settings.output,
            settings.source,
            vectors=settings.vectors,
            about=settings.asked,
            input_columns=settings.columns,
        )


def score_shard(
    scorer: TextScorer,
    shard: Shard,
    folder: OutFolder,
    before: Callable[[int], object] | None = None,
) -> Progress:
    """Score the rows of a shard and write them. Returns the increment of the progress. With
    `before`, scores row by row, and calls it with the index of each row first."""
    failed: list[tuple[Row, Problem]] = []
    first, mentions = shard.first, np.zeros(len(scorer.about))
    with replacing(folder.part(shard.number)) as path:
        with open_part(path, folder.format, scorer.layout) as write:
            for rows in batches_of(shard.rows) if before is None else ([row] for row in shard.rows):
                if before is not None:
                    before(first - shard.first)
                scored, problems = scorer(rows)
                texts = np.unique(scored["text"]).tolist()
                if sorted([*texts, *problems]) != list(range(len(rows))):
                    raise StoppedError(
                        f"expected scores or an error for each of {len(rows):,} rows, found scores "
                        f"for {len(texts):,} and {len(problems):,} errors; please report this"
                    )
                mentions += np.nansum(scored["terms"][:, 1::2], axis=0)
                failed += [(rows[place], problems[place]) for place in sorted(problems)]
                if ROW in scorer.layout.places:
                    scored[ROW] = scored["text"] + first
                write(rows, scored)
                first += len(rows)
        folder.write_failed(shard.number, failed)
    return Progress(len(shard.rows), len(failed), mentions=tuple(mentions.astype(int).tolist()))


def without_row(shard: Shard, row: int, how: str) -> Shard:
    """Return a shard without the text of a row at which its process died (`how`). Raises
    StoppedError if that row has no text already, because then the row is not the cause."""
    rows = list(shard.rows)
    if rows[row].problem:
        raise StoppedError(
            f"shard {shard.number}: its process dies ({how}), but not on any single row; the "
            "machine may be out of memory. Continue with fewer --jobs"
        )
    problem = Problem("killed", f"the process that scored it died twice: {how}")
    rows[row] = rows[row]._replace(text="", problem=problem)
    return shard._replace(rows=rows)


class _Worker:
    """A process that scores one shard at a time. `shard`: the current one, or None. `by_rows`:
    whether it scores the shard row by row."""

    def __init__(self, arguments: tuple[Any, ...], shard: Shard, *, by_rows: bool = False):
        self._arguments, self._by_rows = arguments, by_rows
        self.shard: Shard | None = shard
        self._ready, self._row = False, 0
        context = multiprocessing.get_context("spawn")  # threads of a session break forks
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, *arguments), daemon=True)
        if hasattr(
            signal, "pthread_sigmask"
        ):  # inherited by the process: its parent handles Ctrl-C
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                self.process.start()
            finally:
                try:
                    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                except BaseException:  # Ctrl-C was pressed while it was blocked
                    if self.process.pid is not None:
                        self.process.kill()
                    raise
        else:
            self.process.start()
        other.close()

    def begin(self, shard: Shard) -> None:
        """Send the process its next shard."""
        self.shard, self._by_rows = shard, False
        self._send()

    def take(self, reply: object) -> Progress | None:
        """Return the progress that the process reports, if any. Raises the error of a process that
        cannot continue."""
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, int):
            self._row = reply
        elif isinstance(reply, Progress):
            self.shard = None
            return reply
        else:  # it has loaded the model
            self._ready = True
            self._send()
        return None

    def successor(self) -> "_Worker":
        """Start a process that replaces this one, which died. Raises StoppedError if it died on
        startup, and what `without_row` raises."""
        how, shard = self.close(), self.shard
        if not self._ready:
            raise StoppedError(
                f"a process died as it started ({how}); the machine may be out of memory. Continue "
                "with fewer --jobs"
            )
        assert shard is not None, "it was waited for"
        shard = without_row(shard, self._row, how) if self._by_rows else shard
        return _Worker(self._arguments, shard, by_rows=True)

    def close(self) -> str:
        """Wait for the end of the process. Returns how it died: the signal, or its exit code."""
        self.connection.close()
        self.process.join()
        code = self.process.exitcode or 0
        return signal.strsignal(-code) or f"signal {-code}" if code < 0 else f"exit code {code}"

    def _send(self) -> None:
        with suppress(OSError):  # if it has died, which its successor handles
            self.connection.send((self.shard, self._by_rows))


def _serve(
    connection: Connection, model: ModelSource, settings: Settings, folder: OutFolder
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, ConnectionError):  # if the parent has exited
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
    shards: Iterator[Shard], jobs: int, model: ModelSource, settings: Settings, folder: OutFolder
) -> Generator[Progress, None, None]:
    """Score shards in several processes, reading one ahead. Yields the progress of each.

    Raises what `_Worker` raises. In any case, no process is left running.
    """
    workers, ahead = list[_Worker](), next(shards, None)
    try:
        while ahead is not None or any(worker.shard for worker in workers):
            idle = next((worker for worker in workers if worker.shard is None), None)
            if ahead is not None and (idle is not None or len(workers) < jobs):
                if idle is not None:
                    idle.begin(ahead)
                else:
                    workers.append(_Worker((model, settings, folder), ahead))
                ahead = next(shards, None)
                continue
            busy: dict[Any, _Worker] = {one.connection: one for one in workers if one.shard}
            for connection in wait([*busy]):
                worker = busy[connection]
                try:
                    reply = worker.connection.recv()
                except (EOFError, OSError):
                    workers[workers.index(worker)] = worker.successor()
                    continue
                if (written := worker.take(reply)) is not None:
                    yield written
    finally:
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.close()
