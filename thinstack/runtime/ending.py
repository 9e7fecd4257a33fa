"""Stop models that run in other threads when the program exits.

Python ends a daemon thread when it next tries to run Python code. Inside onnxruntime, this aborts
the process ("terminate called without an active exception"). Therefore, the exit of the program
stops runs in other threads and waits for them. A thread that starts another run afterwards ends.
"""

import atexit
import os
import threading
import time
from typing import Any, Final

PATIENCE: Final = 10
"""Maximum seconds to wait at exit. A run stops within milliseconds, but loading does not."""

_running: dict[int, Any] = {}  # threads, and what stops them; no lock: a fork could copy it held
_ending: list[int] = []  # the thread that is ending the program, if any


class stopped_at_end:  # noqa: N801 - used as a function; a generator would take as long as a word
    """Context manager: at exit, the program sets `run.terminate` and waits for the block. If the
    program is already exiting, this thread ends instead."""

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
    """End this thread silently if another one is ending the program."""
    if _ending and threading.get_ident() not in _ending:
        raise SystemExit


def watch_end() -> None:
    """Register the exit handler that stops runs. It runs before handlers registered earlier, such
    as those that end the processes of isolated models."""
    atexit.unregister(_stop)
    atexit.register(_stop)  # handlers run in reverse order


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


if hasattr(os, "register_at_fork"):  # a child does not inherit its parent's running threads
    os.register_at_fork(after_in_child=_running.clear)
