"""Scores shards in several processes. If a process dies, only its current work is lost. Its shard
is tried again, then halved until each row that kills a process is tried by itself."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Final, NamedTuple, NoReturn, TypeVar, cast

from thinstack.errors import StoppedError, ThinstackError, described
from thinstack.integrations.corpora.folder import OutFolder
from thinstack.integrations.corpora.rows import Problem
from thinstack.integrations.corpora.run_manifest import Settings
from thinstack.integrations.corpora.scoring import TextScorer
from thinstack.integrations.corpora.shards import Shard
from thinstack.integrations.corpora.work import ModelSource, WrittenShard, batches_of, score_shard

T = TypeVar("T")
_TRIES: Final = 2
_MAX_FAILED_STARTS: Final = 3
"""Processes in a row that die before they have started, at most."""


class Attempt(NamedTuple):
    """Rows to score, and whether to write them. A part of a shard is tried, but not written."""

    shard: Shard
    write: bool


class OpenShard:
    """A shard that is not written yet. `attempt` is what to try next, by the result of the last
    one: the shard and each of its rows have two tries, the parts between them one."""

    def __init__(self, shard: Shard):
        self._search = _search(shard)
        self.attempt = next(self._search)

    def tried(self, how: str = "") -> None:
        """Note `how` the process died, because of the rows or by chance; "" if it survived. Raises
        StoppedError if the shard kills the process, but no single row does."""
        self.attempt = self._search.send(how)


Search = Generator[Attempt, str, T]
"""Attempts, each sent back how the process died, or "" if it survived."""


def _search(shard: Shard) -> Search[NoReturn]:
    size, fruitless = len(shard.rows), False
    while True:
        for _ in range(_TRIES):
            how = yield Attempt(shard, write=True)
        if fruitless:
            raise StoppedError(
                f"shard {shard.number} of {size:,} rows: its process dies ({how}), but not on any "
                "single row; is there too little memory? Continue with fewer --jobs"
            )
        deadly = {0: how} if size == 1 else (yield from _deadly(shard, 0, size))
        fruitless = not deadly
        rows = list(shard.rows)
        for place, how in deadly.items():
            message = f"the process that scored it died {_TRIES} times: {how}"
            rows[place] = rows[place]._replace(text="", problem=Problem("killed", message))
        shard = shard._replace(rows=rows)


def _deadly(shard: Shard, start: int, end: int) -> Search[dict[int, str]]:
    """The rows of a deadly part that kill by themselves, by place, and how."""
    rows, middle = dict[int, str](), (start + end) // 2
    for first, last in ((start, middle), (middle, end)):
        for _ in range(_TRIES if last - first == 1 else 1):
            how = yield Attempt(Shard(shard.number, shard.rows[first:last]), write=False)
            if not how:
                break
        else:
            rows |= {first: how} if last - first == 1 else (yield from _deadly(shard, first, last))
    return rows


Reply = WrittenShard | None | Exception
"""Of a worker: a shard is written; it waits for the next task; it cannot go on."""


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
            self.connection.send(shard.attempt)

    def reply(self) -> Reply:
        """The process's reply. Raises EOFError or OSError if it is dead."""
        reply: Reply = self.connection.recv()
        return reply

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
                connection.send(_worked(connection.recv(), scorer, folder))
        except (EOFError, ConnectionError):
            raise
        except (ThinstackError, OSError) as error:
            connection.send(error)
        except Exception as error:
            connection.send(StoppedError(f"a process failed: {described(error)}"))


def _worked(attempt: Attempt, scorer: TextScorer, folder: OutFolder) -> WrittenShard | None:
    if attempt.write:
        return score_shard(scorer, attempt.shard, folder)
    for rows in batches_of(attempt.shard.rows):  # only to see whether this process survives
        scorer(rows)
    return None


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker is started by another process"
    parent.join()
    os._exit(1)


def score_side_by_side(
    shards: Iterator[Shard], jobs: int, start: Callable[[], Worker]
) -> Generator[WrittenShard, None, None]:
    """Score shards in several processes, which `start` starts, and report each written shard.

    Raises StoppedError if processes die as they start, what `OpenShard.tried` raises, and the error
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
                    reply = worker.reply()
                except (EOFError, OSError):
                    workers.remove(worker)
                    failed_starts = 0 if worker.ready else failed_starts + 1
                    _requeue_after_death(worker, waiting, failed_starts)
                    continue
                if isinstance(reply, Exception):
                    raise reply
                if reply is None and worker.shard is not None:
                    worker.shard.tried()
                    waiting.appendleft(worker.shard)
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
            f"{failed_starts} processes in a row died as they started ({how}); is there too little "
            "memory? Continue with fewer --jobs"
        )
    if worker.shard is not None:
        worker.shard.tried(how)
        waiting.appendleft(worker.shard)
