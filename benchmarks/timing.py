"""Timing that a busy machine cannot bend: everything is run in turn, round after round, and compared round by round."""

import json
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

import torch

__all__ = ["interleaved", "peak_bytes", "ratio"]


def interleaved(subjects: Mapping[str, Callable[[int], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds that each subject took in each round. It is called with the number of the round, once before to warm up."""
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
    """How many times faster the second is: the median over rounds, so that a slow phase of the machine hits both."""
    return median(a / b for a, b in zip(slower, faster, strict=True))


def peak_bytes(run: Callable[[], object]) -> int:
    """The most bytes of CPU tensors that a call holds at one time beyond what was there before it."""
    run()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        run()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    held = peak = 0
    for event in sorted((event for event in events if event["name"] == "[memory]"), key=lambda event: event["ts"]):
        held += event["args"]["Bytes"]
        peak = max(peak, held)
    return peak
