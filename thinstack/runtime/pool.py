"""Runs the batches of one session on several threads of the CPU."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from typing import Any

from thinstack.errors import InputError, shown

__all__ = ["Pool", "usable_cores"]

MOST_THREADS = 256


class Pool:
    """Runs a function on several threads, and gives the results in order.

    `threads` None means one per core that the process may use. Threads start at the first use. A
    forked process starts its own, because it does not inherit its parent's threads. Raises
    InputError unless 1 <= `threads` <= 256.
    """

    def __init__(self, threads: int | None) -> None:
        whole = isinstance(threads, int) and not isinstance(threads, bool)
        if threads is not None and not (whole and 1 <= threads <= MOST_THREADS):
            raise InputError(
                f"threads is {shown(threads)}; expected 1 to {MOST_THREADS}, or None for all cores"
            )
        self.threads = usable_cores() if threads is None else threads
        self._executor: ThreadPoolExecutor | None = None
        self._process = 0

    def map(self, run: Callable[..., Any], jobs: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """The result of `run(*job)` for each job, in order. A single job, and all jobs of a single
        thread, run in the calling thread."""
        jobs = iter(jobs)
        first = list(islice(jobs, 2))
        if self.threads == 1 or len(first) < 2:
            return (run(*job) for job in chain(first, jobs))
        if self._executor is None or self._process != os.getpid():
            self._executor, self._process = ThreadPoolExecutor(self.threads), os.getpid()
        return self._executor.map(lambda job: run(*job), chain(first, jobs))


def usable_cores() -> int:
    """The number of CPU cores that the process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
