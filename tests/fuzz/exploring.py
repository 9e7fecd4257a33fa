"""Tries changed inputs of a kind. Those that gave something new are changed further."""

import faulthandler
import resource
import signal
import zlib
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from fuzz.changes import mutated_bytes
from fuzz.outcomes import TooLongError, outcome

CORPUS = Path(__file__).with_name("corpus")
"""Inputs that once were faults or stand at a boundary, in a folder for each kind."""

MOST_SECONDS = 5.0
"""Of processor time, for one input."""
MOST_BYTES = 1 << 30
"""Of addresses beyond those that the process has before it tries a kind."""
PATIENCE = 600.0
"""Seconds by the clock for a kind, after which the process ends: something waits for ever."""
LONGEST = 1 << 17
"""Bytes of an input."""

_POOL, _LARGE = 300, 1 << 14  # inputs that are changed further, and the bytes of one
_GOOD = 0.7  # of the inputs are made of those that were answered
_SPLICED = 0.05


def corpus_of(kind):
    """The kept inputs of a kind."""
    return sorted((CORPUS / kind.replace(" ", "-")).glob("*"))


def explore(kind, target, folder, *, seed):
    """The faults among `target.inputs` inputs, each with its message, the first of each place. The
    inputs are the same for the same kind and seed, as long as thinstack is the same.

    The input at hand is in the file `input` beside the folder, for the case that it ends the
    process.
    """
    seeds = [*target.seeds(), *(path.read_bytes() for path in corpus_of(kind))]
    random = np.random.default_rng([seed, zlib.crc32(kind.encode())])
    pools = {"answered": list(seeds), "refused": list(seeds)}
    seen, faults = set(), []
    with _limits():
        for number in range(target.inputs):
            pool = pools["answered" if random.random() < _GOOD else "refused"]
            content = _changed(target, pool, random)
            content = seeds[number] if number < len(seeds) else content
            folder.with_name("input").write_bytes(content)
            signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
            result = outcome(target.use, content, folder)
            signal.setitimer(signal.ITIMER_PROF, 0)
            if result[:2] in seen:
                continue
            seen.add(result[:2])
            if result.what == "fault":
                faults.append((content, result.message))
            elif len(content) < _LARGE and len(pools[result.what]) < _POOL:
                pools[result.what].append(content)
    return faults


def _changed(target, pool, random):
    first, second = (pool[int(random.integers(len(pool)))] for _ in range(2))
    if random.random() < _SPLICED:
        cut, other = int(random.integers(len(first) + 1)), int(random.integers(len(second) + 1))
        return first[:cut] + second[other:]
    try:
        return target.change(first, random)[:LONGEST]
    except Exception:  # a change that reads the input, which is no longer of its form
        return mutated_bytes(first, random)


@contextmanager
def _limits():
    """An input that takes too long, or more memory, raises."""

    def end(*_):
        raise TooLongError

    status = Path("/proc/self/status").read_text(encoding="ascii")
    size = int(status.split("VmSize:")[1].split()[0]) << 10
    before = resource.getrlimit(resource.RLIMIT_AS)
    handler = signal.signal(signal.SIGPROF, end)
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    resource.setrlimit(resource.RLIMIT_AS, (size + MOST_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
