"""Feeds changed files, models, texts, requests and arguments to thinstack, and looks for inputs
that kill the process, hang, or raise an error of another type.

    PYTHONPATH=tests:. python tests/fuzz/fuzzer.py [--turns 1] [--seed 0]
        [--kinds brackets --kinds CSV ...] [--out faults]

Each input runs in a forked process, which may compute for 5 seconds on it and take 1 GiB beyond
what its imports take. A turn tries some inputs of each kind. Faults are written to `--out`, the
first of each place: the input, and beside it what it did. The exit code is 1 if there are any. The
same seed tries the same inputs, but kinds that read what others wrote (`parquet`, zip) may differ
by version. Linux only.

It prints the counts of each kind as JSON: "untyped" are errors of another type, and "memory" is
what took more than 1 GiB.
"""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from fuzz.exploring import explore
from fuzz.outcomes import Run
from fuzz.targets import TARGETS


def saved(folder: Path, kind: str, run: Run) -> None:
    """Write the faults of a kind, a pair of files each."""
    for number, fault in enumerate(run.faults):
        path = folder / kind.replace(" ", "-") / f"{fault.what}-{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(fault.content)
        path.with_name(f"{path.name}.txt").write_text(fault.message, encoding="utf-8")


def main(
    turns: Annotated[int, typer.Option(min=1)] = 1,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    kinds: Annotated[list[str] | None, typer.Option(help="By default all.")] = None,
    out: Annotated[Path, typer.Option(help="Where faults go.")] = Path("faults"),
) -> None:
    """Look for inputs that thinstack does not take well."""
    runs = {kind: Run() for kind in kinds or TARGETS}
    for turn in range(turns):
        for kind, run in runs.items():
            run.join(explore(kind, TARGETS[kind], seed=seed, turn=turn))
            saved(out, kind, run)
    counts = {
        kind: {"inputs": run.inputs, "answered": run.answered, **run.counts}
        for kind, run in runs.items()
    }
    typer.echo(json.dumps(counts))
    sys.exit(any(run.faults for run in runs.values()))


if __name__ == "__main__":
    typer.run(main)
