"""What sentences without trees do to a model of phrases: the recipe of the bundled model without
its teacher and 200 of its sentences, and then `thinstack train` on those 200, their own classes
alone.

    python lab/benchmarks/texts_after_trees.py --data FOLDER --out FOLDER [--seed 1 ...]

Figures are of SST's development sentences: whole sentences, and all phrases of the treebank's
trees. Runs that are there already are not made again.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Final

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from texts import NAMES, write

from thinstack.data.trees.treebank import read_trees
from thinstack.text.raw_text import detokenize

WITHOUT: Final = 200
FIGURES: Final = ("root_accuracy", "root_binary_accuracy", "phrase_accuracy")
RECIPE: Final = Path(__file__).parents[1] / "recipes" / "sst.toml"


def thinstack(*arguments: object) -> str:
    command = [sys.executable, "-m", "thinstack", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout[-3000:] + done.stderr[-3000:])
    return done.stdout


def parted(data: Path, folder: Path) -> None:
    """The training trees but 200, evenly spread, these as a table of texts, and the recipe."""
    lines = (data / "sst/train.txt").read_text(encoding="utf-8").splitlines()
    aside = set((np.arange(WITHOUT) * len(lines) // WITHOUT).tolist())
    (folder / "sst").mkdir(parents=True, exist_ok=True)
    taught = RECIPE.read_text(encoding="utf-8")
    untaught = re.sub(r"^\[teacher\]\n.*?(?=^\[)", "", taught, flags=re.DOTALL | re.MULTILINE)
    (folder / RECIPE.name).write_text(untaught, encoding="utf-8")
    kept = "".join(f"{line}\n" for place, line in enumerate(lines) if place not in aside)
    (folder / "sst/train.txt").write_text(kept, encoding="utf-8")
    shutil.copy(data / "sst/dev.txt", folder / "sst/dev.txt")
    if not (folder / "vectors").exists():
        shutil.copytree(data / "vectors", folder / "vectors")
    for part, source in (("texts", data / "sst/train.txt"), ("dev", data / "sst/dev.txt")):
        trees = read_trees(source)
        chosen = [trees[place] for place in sorted(aside)] if part == "texts" else trees
        rows = [(detokenize(tree.words), NAMES[int(tree.labels[-1] or 2)]) for tree in chosen]
        write(rows, folder / f"{part}.csv")


def main(
    data: Annotated[
        Path, typer.Option(envvar="THINSTACK_DATA", help="Folder with sst/, vectors/.")
    ],
    out: Annotated[Path, typer.Option(help="Folder of the runs.")],
    seed: Annotated[list[int] | None, typer.Option(help="Seeds.  [default: 1, 2, 3]")] = None,
) -> None:
    """Train before and after, and print both: mean and deviation over seeds."""
    parted(data, folder := out / "data")
    found: dict[str, list[dict[str, float]]] = {"before": [], "after": []}
    for one in seed or [1, 2, 3]:
        before, after = out / f"before-{one}", out / f"after-{one}"
        if not (before / "model-best").is_dir():
            thinstack("train", folder / RECIPE.name, "--data", folder, "--out", before,
                      "--seed", one, "--threads", 1)  # fmt: skip
        if not (after / "model-best").is_dir():
            thinstack("train", folder / "texts.csv", "--dev", folder / "dev.csv", "--init",
                      before / "model-best", "--out", after, "--seed", one)  # fmt: skip
        for name, run in (("before", before), ("after", after)):
            bundle = run / "model-best"
            figures = json.loads(thinstack("evaluate", bundle, data / "sst/dev.txt", "--json"))
            own = thinstack("evaluate", bundle, data / "sst/dev.txt", "--source", "self", "--json")
            figures["own"] = json.loads(own)["root_accuracy"]
            found[name].append(figures)
    table = Table("", "sentences", "binary", "phrases", "sentences, own trees")
    for name, runs in found.items():
        columns = ([figures[key] for figures in runs] for key in (*FIGURES, "own"))
        cells = (
            f"{fmean(column):.2f} ± {stdev(column) if len(column) > 1 else 0:.2f}"
            for column in columns
        )
        table.add_row(name, *cells)
    Console(width=120).print(table)


if __name__ == "__main__":
    typer.run(main)
