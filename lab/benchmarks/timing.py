"""Timing that a busy machine cannot bend: everything is run in turn, round after round, and
compared round by round."""

import json
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

import typer
from rich.console import Console

from thinstack.core import Tree
from thinstack.data.trees.treebank import read_trees


def sst_trees(data: Path) -> list[Tree]:
    """The training trees of SST, on which everything is timed; without them the program ends with
    exit code 2."""
    if not (data / "sst/train.txt").is_file():
        Console(stderr=True).print(
            f"{data}/sst/train.txt is not there: name the folder that holds sst/ with --data"
        )
        raise typer.Exit(2)
    return read_trees(data / "sst/train.txt")


def better_of(seconds: dict[str, list[float]], name: str, kinds: tuple[str, ...]) -> None:
    """Keep the faster of a rival's kinds ("name, kind") under its name alone."""
    seconds[name] = min((seconds.pop(f"{name}, {kind}") for kind in kinds), key=median)


def interleaved(
    subjects: Mapping[str, Callable[[int], object]], rounds: int
) -> dict[str, list[float]]:
    """Seconds that each subject took in each round. It is called with the number of the round, once
    before to warm up."""
    for run in subjects.values():
        run(0)
    seconds: dict[str, list[float]] = {name: [] for name in subjects}
    for number in range(rounds):
        for name, run in subjects.items():
            start = time.perf_counter()
            run(number)
            seconds[name].append(time.perf_counter() - start)
    return seconds


def ratio(slower: list[float], faster: list[float]) -> float:
    """How many times faster the second is: the median over rounds, so that a slow phase of the
    machine hits both."""
    return median(a / b for a, b in zip(slower, faster, strict=True))


def peak_bytes(run: Callable[[], object]) -> int:
    """The most bytes of CPU tensors that a call holds at one time beyond what was there before
    it."""
    import torch  # what runs without it is timed too

    run()
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        run()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    held = peak = 0
    for event in sorted(
        (event for event in events if event["name"] == "[memory]"), key=lambda event: event["ts"]
    ):
        held += event["args"]["Bytes"]
        peak = max(peak, held)
    return peak
