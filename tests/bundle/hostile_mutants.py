"""What thousands of mutants of bundles do to a process that loads and runs them, isolated.

    python tests/bundle/hostile_mutants.py [--count 50000] [--first 0] [--jobs 2] [--in-process]

Each mutant (`mutators.mutant`) is loaded and asked for two sentences. It prints one line of JSON:
how many of each kind answered and were refused, and of all of them the numbers that killed the
process, took more than five seconds of processor time, or raised an error of another type. The exit
code is 1 if there are any, or if a process took more than a gibibyte.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-1"
MOST_SECONDS, MOST_BYTES = 5, 1 << 30
SILENCE = 1800  # seconds by the clock, until a process that says nothing is taken to hang
SENTENCES = [["the", "film"], ["the", "film", "is", "not", "good", "."]]


def work(numbers: range, *, isolated: bool) -> Iterator[dict[str, Any]]:
    """What comes of each mutant, told before and after."""
    from mutators import mutant

    import thinstack
    from thinstack.bundle import open_bundle
    from thinstack.bundle.files import pack
    from thinstack.errors import ThinstackError

    warnings.simplefilter("ignore")
    bases = [
        pack(open_bundle(name)) for name in (GOLDEN / "words", GOLDEN / "wordpiece-parser", "sst")
    ]
    with tempfile.TemporaryDirectory() as top:
        for place, files in enumerate(bases):
            for name, content in files.items():
                (Path(top) / str(place) / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(top) / str(place) / name).write_bytes(content)
        for number in numbers:
            place = 2 if number % 50 == 0 else number % 2
            made, folder = mutant(bases[place], number), Path(top) / str(place)
            changed = {key for key, content in made.files.items() if content != bases[place][key]}
            for key in changed:
                (folder / key).write_bytes(made.files[key])
            yield {"number": number, "kind": made.kind}
            if made.kind == "safetensors":
                start_torch()
            started = seconds()
            try:
                if made.kind == "safetensors":
                    load_model(folder)
                else:
                    predictor = thinstack.load(folder, threads=1, isolated=isolated)
                    predictor.predict(SENTENCES)
                found = "answered"
            except ThinstackError:
                found = "refused"
            except Exception as error:
                found = f"{type(error).__name__}: {error}"
            predictor = None  # its process ends, and its time counts
            yield {"found": found, "seconds": seconds() - started, "bytes": peak()}
            for key in changed:
                (folder / key).write_bytes(bases[place][key])


@cache
def start_torch() -> None:
    """Load a good model: the first one of a process takes seconds, which are no mutant's."""
    load_model(GOLDEN / "words")


def load_model(folder: Path) -> None:
    from thinstack.bundle.weights import load_model

    load_model(folder)


def seconds() -> float:
    """Of processor time, of this process and of those that it started and that ended."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(each)[:2]) for each in who)


def peak() -> list[int]:
    """Bytes that this process took at most, and the largest that it started."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return [resource.getrusage(each).ru_maxrss << 10 for each in who]


class Tally:
    """What came of all mutants so far."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.counts: Counter[str] = Counter()
        self.bad: dict[str, list[Any]] = {"deaths": [], "hangs": [], "slow": [], "untyped": []}
        self.slowest, self.bytes = 0.0, [0, 0]

    def end(self, number: int, kind: str, told: dict[str, Any]) -> None:
        with self._lock:
            found = told["found"]
            typed = found in ("answered", "refused")
            self.counts[f"{kind}: {found if typed else 'untyped'}"] += 1
            if not typed:
                self.bad["untyped"].append([number, kind, f"{found:.200}"])
            if told["seconds"] > MOST_SECONDS:
                self.bad["slow"].append([number, kind, round(told["seconds"], 1)])
            self.slowest = max(self.slowest, told["seconds"])
            self.bytes = list(map(max, self.bytes, told["bytes"]))
            if self.counts.total() % 100 == 0:
                sys.stderr.write(f"{json.dumps(self.told())}\n")

    def told(self) -> dict[str, Any]:
        return {
            "mutants": self.counts.total(),
            "counts": dict(sorted(self.counts.items())),
            **self.bad,
            "slowest": round(self.slowest, 2),
            "peak": dict(zip(("the process", "the model's"), self.bytes, strict=True)),
        }


class Silence:
    """Kills a process that says nothing for too long."""

    def __init__(self, process: "subprocess.Popen[str]"):
        self._process, self._heard, self.broken = process, time.monotonic(), False
        threading.Thread(target=self._guard, daemon=True).start()

    def heard(self) -> None:
        self._heard = time.monotonic()

    def _guard(self) -> None:
        while self._process.poll() is None:
            if time.monotonic() - self._heard > SILENCE:
                self.broken = True
                self._process.kill()
            time.sleep(1)


def watch(numbers: range, options: list[str], tally: Tally) -> None:
    """Have a process work on the numbers, and another on the rest if it dies or hangs."""
    while numbers:
        told = [str(numbers.start), str(numbers.stop), str(numbers.step), *options]
        process = subprocess.Popen(
            [sys.executable, __file__, "--work", *told],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        silence, number, kind = Silence(process), numbers.start, ""
        for line in process.stdout or ():
            silence.heard()
            said = json.loads(line)
            if "number" in said:
                number, kind = said["number"], said["kind"]
            else:
                tally.end(number, kind, said)
        if process.wait() == 0:
            return
        tally.bad["hangs" if silence.broken else "deaths"].append([number, kind])
        numbers = numbers[numbers.index(number) + 1 :]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--in-process", action="store_true")
    parser.add_argument("--work", nargs=3, type=int)
    asked = parser.parse_args()
    if asked.work:
        for told in work(range(*asked.work), isolated=not asked.in_process):
            say(told)
        return
    tally, last = Tally(), asked.first + asked.count
    options = ["--in-process"] if asked.in_process else []
    threads = [
        threading.Thread(target=watch, args=(range(start, last, asked.jobs), options, tally))
        for start in range(asked.first, min(asked.first + asked.jobs, last))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    say(tally.told())
    sys.exit(any(tally.bad.values()) or max(tally.bytes) > MOST_BYTES)


def say(data: dict[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(data)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
