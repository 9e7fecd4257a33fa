"""What it takes to start: processor time of a process of its own, from its start to its end.

    python lab/benchmarks/starts.py [--rounds 15] [--json]

The first row is what nobody can do without who runs an ONNX file. Processes run in turn, and a
figure is the median of its rounds. All read compiled modules, as those of an installed package are,
from a folder of their own. Trust the ratios only.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

RIVAL = "numpy and onnxruntime"
PROGRAMS = {
    RIVAL: ["-c", "import numpy, onnxruntime"],
    "import thinstack": ["-c", "import thinstack"],
    "thinstack.load()": ["-c", "import thinstack; thinstack.load()"],
    "thinstack predict TEXT": ["-m", "thinstack", "predict", "The acting is superb."],
}


def milliseconds(arguments: list[str], compiled: str) -> float:
    """Processor time of Python with these arguments. `compiled`: the folder of compiled modules."""
    before = getrusage(RUSAGE_CHILDREN)
    # Not in the current folder, which Python would import from before all others.
    options: dict[str, Any] = {"cwd": Path(__file__).parent}
    options |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPYCACHEPREFIX": compiled}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run([sys.executable, *arguments], check=True, env=environment, **options)
    after = getrusage(RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main(
    rounds: Annotated[int, typer.Option(min=1)] = 15,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Measure all programs in turn, round after round; the first round is not counted."""
    found: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    with TemporaryDirectory() as compiled:
        for _ in range(rounds + 1):
            for name, arguments in PROGRAMS.items():
                found[name].append(milliseconds(arguments, compiled))
    medians = {name: median(times[1:]) for name, times in found.items()}
    console = Console()
    if as_json:
        console.print_json(json.dumps(medians))
        return
    table = Table("program", "ms of processor time", f"times {RIVAL}")
    for name, value in medians.items():
        table.add_row(name, f"{value:.0f}", f"{value / medians[RIVAL]:.2f}")
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
