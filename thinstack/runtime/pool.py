"""Run the batches of one session on several CPU threads."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import chain, islice, starmap
from typing import Any

from thinstack.errors import InputError, raised_in, shown

MOST_THREADS = 256
WAITING = 2
"""Maximum queued jobs per thread."""


class Pool:
    """A pool of threads that runs a function and returns the results in order.

    `threads` None means one per usable core. Threads start on first use. A forked process starts
    its own, because threads are not inherited. Raises InputError unless 1 <= `threads` <= 256.
    """

    def __init__(self, threads: int | None) -> None:
        whole = hasattr(threads, "__index__") and not isinstance(threads, bool)
        if threads is not None and not (whole and 1 <= threads <= MOST_THREADS):
            raise InputError(
                f"threads is {shown(threads)}; expected 1 to {MOST_THREADS}, or None for all cores"
            )
        self.threads = usable_cores() if threads is None else int(threads)
        self._executor: ThreadPoolExecutor | None = None
        self._process = 0

    def map(self, run: Callable[..., Any], jobs: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Iterate over the results of `run(*job)` for each job, in order. A single job, and all
        jobs of a single-threaded pool, run in the calling thread. So do jobs that no thread can
        take, because the program is exiting or may not start threads. The queue is short because
        the exit of the program waits for it."""
        # Import the classes with this module: imports fail while the program exits.
        if self.threads == 1:
            return starmap(run, jobs)
        jobs = iter(jobs)
        first = list(islice(jobs, 2))
        if len(first) < 2:
            return starmap(run, first)
        if self._executor is None or self._process != os.getpid():
            self._executor, self._process = ThreadPoolExecutor(self.threads), os.getpid()
        return self._mapped(self._executor, run, chain(first, jobs))

    def _mapped(
        self, executor: Executor, run: Callable[..., Any], jobs: Iterable[tuple[Any, ...]]
    ) -> Iterator[Any]:
        waiting = deque[Future[Any]]()
        try:
            for job in jobs:
                try:
                    future = executor.submit(run, *job)
                except RuntimeError as error:
                    if not raised_in(error, "concurrent", "threading"):
                        raise
                    future = Future()
                    future.set_result(run(*job))
                waiting.append(future)
                if len(waiting) > WAITING * self.threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def usable_cores() -> int:
    """Return the number of CPU cores that the process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
