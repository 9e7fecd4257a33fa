"""Feeds changed files, models, texts, requests and arguments to thinstack, and looks for inputs
that kill the process, hang, or raise an error of another type.

    PYTHONPATH=tests:. python tests/fuzz/fuzzer.py [--turns 1 | --seconds 3600] [--seed 0]
        [--kinds brackets --kinds CSV ...] [--out faults] [--json]

Each input runs in a forked process, which may compute for 5 seconds on it and take 1 GiB beyond
what its imports take. A turn tries some inputs of each kind; `--seconds` of processor time are for
all turns. Faults are written to `--out`, the first of each place: the input, and beside it what it
did. The exit code is 1 if there are any. The same seed tries the same inputs, but kinds that read
what others wrote (`parquet`, zip) may differ by version. Linux only.

In the table, "other" counts errors of another type, and "large" what took more than 1 GiB. The last
columns are the slowest input, and the most memory of a process.
"""

import json
import sys
from itertools import count
from pathlib import Path
from typing import Annotated

import typer
from fuzz.exploring import explore
from fuzz.outcomes import Run
from fuzz.targets import TARGETS
from rich.console import Console
from rich.table import Table

SHOWN = {"inputs": "inputs", "refused": "refused", "deaths": "dead", "hangs": "hung"}
SHOWN |= {"untyped": "other", "memory": "large"}  # the longest kind fits beside them in 80 columns


def saved(folder: Path, kind: str, run: Run) -> None:
    """Write the faults of a kind, a pair of files each."""
    for number, fault in enumerate(run.faults):
        path = folder / kind.replace(" ", "-") / f"{fault.what}-{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(fault.content)
        path.with_name(f"{path.name}.txt").write_text(fault.message, encoding="utf-8")


def data_of(run: Run) -> dict[str, float]:
    """The figures of a kind."""
    return {
        "inputs": run.inputs,
        "answered": run.answered,
        "refused": run.refused,
        "deaths": run.counts["death"],
        "hangs": run.counts["hang"],
        "untyped": run.counts["untyped"],
        "memory": run.counts["memory"],
        "slowest": round(run.slowest, 2),
        "peak": run.peak,
        "seconds": round(run.seconds, 1),
    }


def show(console: Console, runs: dict[str, Run], seed: int) -> None:
    """The figures of all kinds as a table."""
    total = Run()
    table = Table("kind", title=f"seed {seed}", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for name in (*SHOWN.values(), "s", "MB"):
        table.add_column(name, justify="right", no_wrap=True)
    for kind, run in [*runs.items(), ("all", total)]:
        figures = data_of(run)
        counts = [f"{figures[name]:,}" for name in SHOWN]
        table.add_row(kind, *counts, f"{run.slowest:.2f}", f"{run.peak / 1e6:.0f}")
        total.join(run)
    console.print(table)
    console.print(f"{total.seconds:.0f} s of processor time")


def main(
    turns: Annotated[int | None, typer.Option(min=1)] = None,
    seconds: Annotated[float | None, typer.Option(help="Of processor time, about.")] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    kinds: Annotated[list[str] | None, typer.Option(help="By default all.")] = None,
    out: Annotated[Path, typer.Option(help="Where faults go.")] = Path("faults"),
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Look for inputs that thinstack does not take well."""
    chosen = {kind: TARGETS[kind] for kind in kinds or TARGETS}
    runs = {kind: Run() for kind in chosen}
    for turn in count():
        for kind, target in chosen.items():
            runs[kind].join(explore(kind, target, seed=seed, turn=turn))
            saved(out, kind, runs[kind])
        spent = sum(run.seconds for run in runs.values())
        if turn + 1 >= (turns or 1) if seconds is None else spent >= seconds:
            break
    if as_json:
        typer.echo(json.dumps({kind: data_of(run) for kind, run in runs.items()}))
    else:
        show(Console(), runs, seed)
    sys.exit(any(run.faults for run in runs.values()))


if __name__ == "__main__":
    typer.run(main)
