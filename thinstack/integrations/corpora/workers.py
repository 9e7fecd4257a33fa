"""Scores shards in several processes. If a process dies, only its current work is lost."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from itertools import islice
from multiprocessing.connection import Connection, wait
from typing import Final, cast

from thinstack.errors import StoppedError
from thinstack.integrations.corpora.attempts import OpenShard
from thinstack.integrations.corpora.shards import Shard
from thinstack.integrations.corpora.work import WrittenShard
from thinstack.integrations.corpora.worker import Worker

_MAX_FAILED_STARTS: Final = 3
"""Processes in a row that die before they have started, at most."""


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
                    reply = worker.reply()
                except EOFError:
                    workers.remove(worker)
                    failed_starts = 0 if worker.ready else failed_starts + 1
                    _requeue_after_death(worker, waiting, failed_starts)
                    continue
                if isinstance(reply, Exception):
                    raise reply
                if reply is None and worker.shard is not None:
                    worker.shard.survived()
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
        worker.shard.died(how)
        waiting.appendleft(worker.shard)
