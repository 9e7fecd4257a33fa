"""What `thinstack train TABLE` makes of labels of sentiment: as sets of the start's five classes,
and as classes of their own (`--no-scale`).

    python lab/benchmarks/label_sets.py --data FOLDER --out FOLDER [--seed 1 ...]

A third of the rows is measured on; which third is always the same. Runs that are there already are
not made again.
"""

import json
import random
import subprocess
import sys
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table

SIDES: Final = {1: "negative", 2: "negative", 3: "neutral", 4: "positive", 5: "positive"}
WAYS: Final = {"sets": "--scale", "classes of their own": "--no-scale"}


def tables(data: Path, folder: Path) -> dict[str, str]:
    """Write a table to train on and one to measure on for each set of labels; returns its name."""
    read = {
        name: [json.loads(line) for line in (data / "domains" / f"{name}.jsonl").open()]
        for name in ("customer-reviews", "alexa-reviews")
    }
    stars = [row for row in read["alexa-reviews"] if any(map(str.isalnum, row["text"]))]
    parts = {
        "two": [(row["text"], row["label"]) for row in read["customer-reviews"]],
        "three": [(row["text"], SIDES[row["stars"]]) for row in stars],
        "stars": [(row["text"], str(row["stars"])) for row in stars],
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in parts.items():
        good = [row for row in rows if any(map(str.isalnum, row[0])) and row[0] != "None"]
        random.Random(2).shuffle(good)
        third = len(good) // 3
        shown = {text for text, _ in good[:third]}
        learnt = [row for row in good[third:] if row[0] not in shown]
        for part, chosen in (("train", learnt), ("test", good[:third])):
            lines = (json.dumps({"text": text, "label": label}) for text, label in chosen)
            (folder / f"{name}-{part}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return {
        "two": "customer reviews, two classes",
        "three": "reviews of a device, three classes",
        "stars": "the same, 1 to 5 stars",
    }


def accuracy(folder: Path, name: str, way: str, seed: int) -> float:
    """The accuracy of one run on the third that chose nothing."""
    out = folder / f"{name}{WAYS[way]}-{seed}"
    if not (out / "results.json").is_file():
        command = [
            *(sys.executable, "-m", "thinstack", "train", folder / f"{name}-train.jsonl"),
            *("--test", folder / f"{name}-test.jsonl", "--out", out, "--seed", seed, WAYS[way]),
        ]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stdout[-3000:] + done.stderr[-3000:])
    results = json.loads((out / "results.json").read_text())
    (figures,) = results["seeds"][str(seed)]["test"].values()
    return float(figures["accuracy"])


def main(
    data: Annotated[Path, typer.Option(envvar="THINSTACK_DATA", help="Folder with domains/.")],
    out: Annotated[Path, typer.Option(help="Folder of the runs.")],
    seed: Annotated[list[int] | None, typer.Option(help="Seeds.  [default: 1, 2, 3]")] = None,
) -> None:
    """Train both ways on each table, and print mean and deviation over seeds."""
    table = Table("accuracy, percent", *WAYS)
    for name, title in tables(data, out).items():
        cells = []
        for way in WAYS:
            found = [accuracy(out, name, way, one) for one in seed or [1, 2, 3]]
            more = f" ± {stdev(found):.1f}" if len(found) > 1 else ""
            cells.append(f"{fmean(found):.1f}{more}")
        table.add_row(title, *cells)
    Console(width=120).print(table)


if __name__ == "__main__":
    typer.run(main)
