"""What becomes of models that run in other threads when the program ends.

Python ends a daemon thread where it next wants to run Python code. Inside of onnxruntime that
aborts the process ("terminate called without an active exception"). So the end of the program
stops what other threads run, and waits for it. A thread that starts another run afterwards ends.
"""

import atexit
import os
import threading
import time
from typing import Any, Final

PATIENCE: Final = 10
"""Seconds that the end waits at most. A run stops within milliseconds, loading does not stop."""

_running: dict[int, Any] = {}  # threads, and what stops them; no lock, which a fork could leave
_ending: list[int] = []  # the thread that ends the program, once it does


class stopped_at_end:  # noqa: N801 - used as a function; a generator would take as long as a word
    """The end of the program waits for the block, and sets `run.terminate` before. If the program
    ends already, this thread ends instead."""

    __slots__ = ("_run", "_thread")

    def __init__(self, run: Any = None):
        self._run, self._thread = run, threading.get_ident()

    def __enter__(self) -> None:
        _running[self._thread] = self._run
        try:
            end_with_program()
        except SystemExit:
            _running.pop(self._thread, None)
            raise

    def __exit__(self, *_: object) -> None:
        _running.pop(self._thread, None)


def end_with_program() -> None:
    """End this thread, in silence, if another one ends the program."""
    if _ending and threading.get_ident() not in _ending:
        raise SystemExit


def watch_end() -> None:
    """Have the end of the program stop what runs before it ends what has been started so far, such
    as the processes of isolated models."""
    atexit.unregister(_stop)
    atexit.register(_stop)  # the last to be registered is called first


def _stop() -> None:
    _ending.append(threading.get_ident())
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        others = [run for thread, run in _running.copy().items() if thread not in _ending]
        if not others:
            return
        for run in filter(None, others):
            run.terminate = True
        time.sleep(0.001)


if hasattr(os, "register_at_fork"):  # the threads of a parent run nothing in its child
    os.register_at_fork(after_in_child=_running.clear)
