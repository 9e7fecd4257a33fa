"""Kinds with planted faults. Run as a program: what the fuzzer says of each, one line of JSON."""

import json
import os
import sys

from fuzz import children
from fuzz.exploring import explore
from fuzz.target import Target

from thinstack.errors import DataError

HELD = []


def dies(content, folder):
    if b"x" in content:
        os.abort()


def computes(content, folder):
    while b"x" in content:
        pass


def raises(content, folder):
    raise (DataError if b"x" not in content else KeyError)("x")


def breaks(content, folder):
    assert b"x" not in content


def takes(content, folder):
    if b"x" in content:
        HELD[:] = [b"a" * (10 << 20) for _ in range(20)]


def changed(content, random):
    """Every tenth input is one that does harm."""
    return b"x" if random.random() < 0.1 else b"a"


def main():
    children.MOST_BYTES = 1 << 28
    long, found = children.MOST_SECONDS, {}
    for use in (dies, computes, raises, breaks, takes):
        # Only what never ends is ended soon: a slow machine takes a while for the memory.
        children.MOST_SECONDS = 0.5 if use is computes else long
        run = explore(use.__name__, Target(lambda: [b"a"], changed, use, 50), seed=0, turn=0)
        kinds = [[fault.what, fault.content.decode(), fault.message] for fault in run.faults]
        counts = {**run.counts, "answered": run.answered, "refused": run.refused}
        found[use.__name__] = {"faults": kinds, "counts": counts}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
