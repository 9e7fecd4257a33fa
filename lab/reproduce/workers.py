"""Doing things in processes side by side that end with the one that started them."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from reproduce.attempts import KILLED, Failure

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(
    function: Callable[[Item], Result],
    items: Mapping[str, Item],
    *,
    processes: int,
    threads: int,
    tell: Callable[[str, Result | Failure], None],
) -> None:
    """Call `function` on every item, in so many processes of so many threads, and tell of each
    result as it comes.

    It is KILLED where a process was killed before it was there. An interrupt, or an error of
    `tell`, ends the processes at once.
    """
    context = multiprocessing.get_context("spawn")  # torch must not be forked once it has threads
    with ProcessPoolExecutor(min(processes, len(items)), context, _start, (threads,)) as pool:
        try:
            futures = {pool.submit(function, item): name for name, item in items.items()}
            for future in as_completed(futures):
                killed = isinstance(future.exception(), BrokenProcessPool)
                tell(futures[future], KILLED if killed else future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in multiprocessing.active_children():
                worker.terminate()
            raise


def _start(threads: int) -> None:
    """Make a process fit for work: it ends with its parent, or by Ctrl-C without a word, and
    computes with so many threads."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker is started by another process"

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    import torch

    torch.set_num_threads(threads)
