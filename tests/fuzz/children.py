"""Runs inputs in a forked process with limits, so that one that dies or hangs is found and kept."""

import mmap
import os
import pickle
import resource
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from fuzz.outcomes import Fault, Outcome, Run, outcome

MOST_SECONDS = 5.0
"""Of processor time, for one input."""
MOST_BYTES = 1 << 30
"""Of memory that the process may have, and of addresses beyond those after its imports."""
PATIENCE = 300.0
"""Seconds by the clock after which an input that computes nothing hangs. Others use the machine."""
LONGEST = 1 << 17
"""Bytes of an input."""

ANSWERED, REFUSED, LENGTH = range(3)


class _Shared(NamedTuple):
    """What the process tells: numbers, the input at hand, faults so far, what it printed."""

    numbers: np.ndarray
    content: mmap.mmap
    faults: int
    printed: int
    folder: Path


def run_in_child(use, work):
    """What inputs do in a process of their own, in which `work` calls its argument with each of
    them. Ends with the first one that kills the process or hangs."""
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryFile() as faults, tempfile.TemporaryFile() as printed:
        shared = _Shared(
            np.frombuffer(mmap.mmap(-1, 64), np.int64),
            mmap.mmap(-1, LONGEST),
            faults.fileno(),
            printed.fileno(),
            Path(tempfile.mkdtemp(dir=memory)),
        )
        process = os.fork()
        if not process:
            _child(shared, use, work)
        try:
            status, silent = _waited(process, shared.numbers)
        finally:
            shutil.rmtree(shared.folder, ignore_errors=True)
        run = _told(shared)
        if status:
            run.add(_fault_of(status, silent, shared))
        return run


def _child(shared, use, work):
    """Everything that the process does. It never returns."""
    status = 1
    try:
        _limit(shared)
        work(lambda content: _one(shared, use, content))
        status = 0
    except BaseException:
        os.write(2, traceback.format_exc().encode(errors="replace"))
    finally:
        os._exit(status)


def _limit(shared):
    quiet = os.open(os.devnull, os.O_RDWR)
    for number, file in enumerate((quiet, quiet, shared.printed)):
        os.dup2(file, number)
    os.chdir(shared.folder)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = _status("VmSize") + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # it ends the process, whatever that is doing


def _one(shared, use, content):
    """What comes of an input, told to the other process too."""
    shared.content[: len(content)] = content
    shared.numbers[LENGTH] = len(content)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # counts the peak from here
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    found = outcome(use, content, shared.folder)
    signal.setitimer(signal.ITIMER_PROF, 0)
    peak = _status("VmHWM")
    if peak > MOST_BYTES:
        found = Outcome("memory", ("memory",), f"{peak:,} bytes")
    if found.what in ("untyped", "memory"):
        fault = Fault(found.what, found.place, found.message, content)
        os.write(shared.faults, pickle.dumps(fault))
    else:
        shared.numbers[ANSWERED if found.what == "answered" else REFUSED] += 1
    return found


def _waited(process, numbers):
    """How the process ended, and whether it was killed because it was silent."""
    heard, seen, silent = time.monotonic(), b"", False
    while True:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return status, silent
        if (now := numbers.tobytes()) != seen:
            heard, seen = time.monotonic(), now
        elif time.monotonic() - heard > PATIENCE and not silent:
            silent = True
            os.kill(process, signal.SIGKILL)
        time.sleep(0.02)


def _told(shared):
    """What the process has told so far."""
    numbers = shared.numbers.tolist()
    run = Run(numbers[ANSWERED], numbers[REFUSED])
    os.lseek(shared.faults, 0, os.SEEK_SET)
    with os.fdopen(os.dup(shared.faults), "rb") as file:
        while True:
            try:
                run.add(pickle.load(file))
            except EOFError:
                return run


def _fault_of(status, silent, shared):
    """The fault of the input that ended the process."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    how = f"signal {number}" if number else f"exit code {os.waitstatus_to_exitcode(status)}"
    os.lseek(shared.printed, 0, os.SEEK_SET)
    printed = os.read(shared.printed, 1 << 20).decode(errors="replace")
    content = shared.content[: int(shared.numbers[LENGTH])]
    what = "hang" if silent or number == signal.SIGPROF else "death"
    return Fault(what, (how,), f"{how}: {printed[-2000:]}", content)


def _status(name):
    """Bytes of this process, as Linux tells them."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.split(f"{name}:")[1].split()[0]) << 10
