"""How much faster an epoch is on several processes, of one thread each.

    python benchmarks/processes.py RECIPE --data FOLDER [--processes N ...] [--epochs N]

A recipe is trained by one process, the rival, with minibatches as large as those that the most
processes have together, and by others whose minibatches are as many times smaller: all make the
same steps. Seconds are those of the fastest epoch but the first,
without what follows it (figures on what is watched, checkpoints); the last column says how many
times as fast as one process that is. Losses must agree, but for dropout.
"""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import tomli_w
import typer
from rich.console import Console
from rich.table import Table

from thinstack.training.recipe import Recipe


def main(
    recipe: Annotated[Path, typer.Argument(help="A recipe (.toml).")],
    data: Annotated[Path, typer.Option(help="Folder that its files are in.")],
    processes: Annotated[list[int] | None, typer.Option(help="May be repeated.")] = None,
    epochs: Annotated[int, typer.Option(min=2)] = 3,
) -> None:
    """Print a row for each number of processes."""
    read = Recipe.read(recipe)
    counts = [1, *(n for n in processes or [2] if n > 1)]
    whole = read.training.batch_size * math.lcm(*counts)
    table = Table("processes", "minibatch of each", "seconds an epoch", "loss", "times as fast")
    alone = 0.0
    for count in counts:
        with TemporaryDirectory() as folder:
            records = _train(read, data, Path(folder), count, whole // count, epochs)
        seconds = min(record["seconds"] for record in records[1:])
        alone = alone or seconds
        loss, ratio = f"{records[-1]['loss']:.4f}", f"{alone / seconds:.2f}"
        table.add_row(str(count), str(whole // count), f"{seconds:.2f}", loss, ratio)
    Console().print(table)


def _train(
    recipe: Recipe, data: Path, folder: Path, count: int, batch_size: int, epochs: int
) -> list[dict[str, Any]]:
    """The records of the epochs of seed 1."""
    settings = {"batch_size": batch_size, "epochs": epochs, "patience": epochs}
    settings["parser_epochs"] = 0
    raw = recipe.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    raw["training"] = raw.get("training", {}) | settings
    path = folder / "recipe.toml"
    path.write_text(tomli_w.dumps(raw), encoding="utf-8")
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={count}"]
    out = folder / "out"
    command = [sys.executable, *(launcher if count > 1 else []), "-m", "thinstack", "train"]
    options = {"data": data, "out": out, "seed": 1, "threads": 1}
    subprocess.run(
        [*command, str(path), *(f"--{name}={value}" for name, value in options.items())],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=True,
    )
    lines = (out / "seeds" / "1" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


if __name__ == "__main__":
    typer.run(main)
