"""Scores shards in several processes. If a process dies, only its current work is lost."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from itertools import islice
from multiprocessing.connection import Connection, wait
from typing import Final, cast

from thinstack.errors import StoppedError
from thinstack.integrations.corpora.cases import Case
from thinstack.integrations.corpora.shards import Shard
from thinstack.integrations.corpora.work import Done
from thinstack.integrations.corpora.worker import Worker

__all__ = ["score_side_by_side"]

_STILLBORN: Final = 3
"""Processes in a row that die before they have started, at most."""


def score_side_by_side(
    shards: Iterator[Shard], jobs: int, start: Callable[[], Worker]
) -> Generator[Done, None, None]:
    """Score shards in several processes, which `start` starts, and report each written shard.

    Raises StoppedError if processes die as they start, what `Case.died` raises, and the error of a
    process that cannot continue. However it ends, no process is left running.
    """
    workers: list[Worker] = []
    waiting: deque[Case] = deque()
    stillborn = 0
    try:
        while True:
            _give(workers, waiting, shards)
            while waiting and len(workers) < jobs:
                workers.append(start())
            if not waiting and not any(worker.case for worker in workers):
                return
            by_connection = {worker.connection: worker for worker in workers}
            for connection in wait(list(by_connection)):
                worker = by_connection[cast(Connection, connection)]
                try:
                    reply = worker.reply()
                except EOFError:
                    workers.remove(worker)
                    stillborn = 0 if worker.ready else stillborn + 1
                    _mourn(worker, waiting, stillborn)
                    continue
                if isinstance(reply, Exception):
                    raise reply
                if reply is None and worker.case is not None:
                    worker.case.survived()
                    waiting.appendleft(worker.case)
                worker.ready, worker.case = True, None
                if reply is not None:
                    yield reply
    finally:
        for worker in workers:
            worker.end()


def _give(workers: list[Worker], waiting: deque[Case], shards: Iterator[Shard]) -> None:
    """Give those that are free something to do, and have one shard read ahead."""
    free = [worker for worker in workers if worker.ready and worker.case is None]
    while True:
        if not waiting:
            waiting.extend(map(Case, islice(shards, 1)))
        if not (free and waiting):
            return
        free.pop().give(waiting.popleft())


def _mourn(worker: Worker, waiting: deque[Case], stillborn: int) -> None:
    how = worker.how_it_died()
    worker.end()
    if stillborn == _STILLBORN:
        raise StoppedError(
            f"{stillborn} processes in a row died as they started ({how}); is there too little "
            "memory? Continue with fewer --jobs"
        )
    if worker.case is not None:
        worker.case.died(how)
        waiting.appendleft(worker.case)
