"""Tries changed inputs of a kind. Those that gave something new are changed further."""

import zlib
from functools import partial
from pathlib import Path

import numpy as np
from fuzz.changes import mutated_bytes
from fuzz.children import LONGEST, run_in_child
from fuzz.outcomes import Run

CORPUS = Path(__file__).with_name("corpus")
"""Inputs that once were faults or stand at a boundary, in a folder for each kind."""

_POOL, _LARGE = 300, 1 << 14  # inputs that are changed further, and the bytes of one
_GOOD = 0.7  # of the inputs are made of those that were answered
_SPLICED = 0.05


def corpus_of(kind):
    """The kept inputs of a kind."""
    return sorted((CORPUS / kind.replace(" ", "-")).glob("*"))


def explore(kind, target, *, seed, turn):
    """What `target.inputs` inputs do. They are the same for the same kind, seed and turn, as long
    as thinstack is the same."""
    seeds = [*target.seeds(), *(path.read_bytes() for path in corpus_of(kind))]
    run, part = Run(), 0
    while run.inputs < target.inputs:
        random = np.random.default_rng([seed, zlib.crc32(kind.encode()), turn, part])
        left = target.inputs - run.inputs
        run.join(run_in_child(target.use, partial(_work, target, seeds, random, left, part == 0)))
        part += 1  # what killed the process is behind it
    return run


def _work(target, seeds, random, count, first, tried):
    """Try so many inputs; `first`, the seeds themselves before others."""
    good, bad, known = list(seeds), list(seeds), set()
    for number in range(count):
        content = _changed(target, good if random.random() < _GOOD else bad, random)
        if first and number < len(seeds):
            content = seeds[number]
        found = tried(content)
        pool = good if found.what == "answered" else bad
        if (found.what, found.place) not in known and len(pool) < _POOL and len(content) < _LARGE:
            known.add((found.what, found.place))
            pool.append(content)


def _changed(target, pool, random):
    first, second = (pool[int(random.integers(len(pool)))] for _ in range(2))
    if random.random() < _SPLICED:
        cut, other = int(random.integers(len(first) + 1)), int(random.integers(len(second) + 1))
        return first[:cut] + second[other:]
    try:
        return target.change(first, random)[:LONGEST]
    except Exception:  # a change that reads the input, which is no longer of its form
        return mutated_bytes(first, random)
