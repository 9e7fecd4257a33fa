"""A million rows through `thinstack predict --input`: nothing is lost, whatever is killed.

    python lab/benchmarks/corpus_kills.py --data FOLDER --out FOLDER [--rows 1000000] [--kills 20]
    [--jobs 2] [--model sentiment] [--seed 1] [--json]

SST's sentences, repeated and shuffled; one row of a thousand is broken (`corpus_rows.POISON`). The
corpus is scored twice. The first run is left in peace, and the memory of its processes is read
every second. The second one is killed by SIGKILL at random moments, the command or one of its
workers by turns, and started again after each death of the command. Then every id must be there
once, in the rows or in the errors, each broken row with its kind of error, and both folders must
hold the same bytes. The program ends with exit code 1 if not.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Annotated, Any, NamedTuple

import typer
from corpus_rows import POISON, public_texts, write_json_lines
from rich.console import Console

_SECONDS = 1.0  # between two looks at the memory


class Sample(NamedTuple):
    """What a worker held, in MB, when so many shards were written."""

    shards: int
    resident: float


class Watch:
    """The memory of the processes of a command: of its workers over time, and at most."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self.worker = self.parent = 0.0

    def look(self, pid: int, shards: int) -> None:
        self.parent = max(self.parent, status(pid, "VmHWM"))
        for worker in workers(pid):
            self.worker = max(self.worker, status(worker, "VmHWM"))
            if resident := status(worker, "VmRSS"):
                self.samples.append(Sample(shards, resident))

    def growth(self, shards: int) -> float | None:
        """By what share a worker has grown from the tenth of the run to its end: medians over
        twentieths of the run; None of a short run."""
        early = [each.resident for each in self.samples if 0.1 <= each.shards / shards < 0.15]
        late = [each.resident for each in self.samples if each.shards / shards >= 0.95]
        return median(late) / median(early) - 1 if early and late else None


def status(pid: int, field: str) -> float:
    """A figure of a process in MB; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    found = [line for line in lines if line.startswith(f"{field}:")]
    return int(found[0].split()[1]) / 1024 if found else 0.0


def workers(pid: int) -> list[int]:
    """The processes that score for a command."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(each) for each in children if "spawn_main" in command_line(each)]
    except OSError:
        return []


def command_line(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def start(source: Path, out: Path, jobs: int, model: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            sys.executable, "-m", "thinstack", "predict", "--no-isolated",
            "--model", model, "--input", str(source), "--id", "id",
            "--out", str(out), "--jobs", str(jobs),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )  # fmt: skip


def ended(process: subprocess.Popen[bytes]) -> None:
    """Raise for a command that has ended otherwise than it should: some rows have failed."""
    _, message = process.communicate()
    if process.returncode != 1:
        raise SystemExit(f"exit code {process.returncode}: {message.decode()[-2000:]}")


def shards_done(out: Path) -> int:
    return len(list(out.glob("part-*.jsonl")))


def in_peace(source: Path, out: Path, jobs: int, model: str) -> tuple[Watch, float]:
    """A run that is left alone; its memory, and how long it took."""
    watch, began = Watch(), time.perf_counter()
    process = start(source, out, jobs, model)
    while process.poll() is None:
        watch.look(process.pid, shards_done(out))
        time.sleep(_SECONDS)
    ended(process)
    return watch, time.perf_counter() - began


def under_fire(
    source: Path, out: Path, jobs: int, model: str, *, kills: int, shards: int, seed: int
) -> dict[str, int]:
    """A run of so many shards that is killed so often; what was killed.

    Each kill waits for a share of the shards, drawn beforehand, and then for up to two seconds.
    Where two shares are near each other, the second kill meets a command that has just started.
    """
    draw, done = random.Random(seed), Counter[str]()
    process = start(source, out, jobs, model)
    for number, share in enumerate(sorted(draw.uniform(0, 0.95) for _ in range(kills))):
        while shards_done(out) < share * shards:
            if process.poll() is not None:
                ended(process)
                raise SystemExit("the run ended before it was killed often enough")
            time.sleep(0.02)
        time.sleep(draw.uniform(0, 2))
        if number % 2 and (chosen := workers(process.pid)):
            os.kill(draw.choice(chosen), signal.SIGKILL)
            done["workers"] += 1
            continue
        process.kill()
        process.communicate()
        done["commands"] += 1
        process = start(source, out, jobs, model)
    ended(process)
    return dict(done)


def faults(out: Path, count: int, broken: dict[str, str]) -> list[str]:
    """What is wrong with a folder of scored rows."""
    scored, errors = set[str](), dict[str, str]()
    wrong = []
    for path in sorted(out.glob("part-*.jsonl")):
        inside = set[str]()
        with path.open() as file:
            for line in file:
                row = json.loads(line)
                inside.add(row["id"])
                if row["id"] in broken and row["label"] is None:
                    wrong.append(f"{row['id']}: no label")
        wrong += [f"{id}: in two shards" for id in inside & scored]
        scored |= inside
    for path in sorted((out / "errors").iterdir()):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            if row["id"] in errors:
                wrong.append(f"{row['id']}: two errors")
            errors[row["id"]] = row["kind"]
    expected = {id: POISON[kind] for id, kind in broken.items() if POISON[kind]}
    if errors != expected:
        wrong.append(f"{len(errors.items() ^ expected.items())} errors differ")
    wrong += [f"{id}: in rows and errors" for id in scored & errors.keys()]
    if (found := len(scored | errors.keys())) != count:
        wrong.append(f"{found:,} ids of {count:,}")
    return wrong


def different(first: Path, second: Path) -> list[str]:
    """The files of two folders that differ."""
    names = {
        path.relative_to(folder)
        for folder in (first, second)
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    }
    return [str(name) for name in sorted(names) if not same(first / name, second / name)]


def same(first: Path, second: Path) -> bool:
    return first.is_file() and second.is_file() and first.read_bytes() == second.read_bytes()


def main(
    data: Annotated[Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/.")],
    out: Annotated[Path, typer.Option(help="A new folder for the corpus and its rows.")],
    rows: Annotated[int, typer.Option(min=100)] = 1_000_000,
    kills: Annotated[int, typer.Option(min=0)] = 20,
    jobs: Annotated[int, typer.Option(min=1)] = 2,
    model: Annotated[str, typer.Option(help="Name or folder of a bundle.")] = "sentiment",
    seed: int = 1,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Score a corpus in peace and under fire, and compare."""
    out.mkdir(parents=True)
    source = out / "rows.jsonl"
    broken = write_json_lines(source, public_texts(data), rows, poison=0.001, seed=seed)
    watch, seconds = in_peace(source, out / "peace", jobs, model)
    shards, fire = shards_done(out / "peace"), out / "fire"
    killed = under_fire(source, fire, jobs, model, kills=kills, shards=shards, seed=seed)
    wrong = faults(fire, rows, broken) + different(out / "peace", fire)
    result: dict[str, Any] = {
        "rows": rows,
        "megabytes": source.stat().st_size / 1e6,
        "broken": dict(Counter(broken.values())),
        "seconds": seconds,
        "rows_a_second": rows / seconds,
        "worker_mb": watch.worker,
        "growth_of_workers": watch.growth(shards),
        "command_mb": watch.parent,
        "killed": killed,
        "faults": wrong[:20],
    }
    Console().print_json(json.dumps(result)) if as_json else Console().print(result)
    raise typer.Exit(1 if wrong else 0)


if __name__ == "__main__":
    typer.run(main)
