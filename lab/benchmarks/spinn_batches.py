"""Speed of SPINN, an LSTM and a recursion by batch size, over SST sentences of at most 30 words
(Bowman et al. 2016, Fig. 3).

    python lab/benchmarks/spinn_batches.py --data FOLDER --plot lab/results/speed-batches.svg

The subjects are those of `spinn.py`: SPINN-PI-NT in order of depth, SPINN-PI and SPINN by the thin
stack, the better of two forms of `nn.LSTM`, and the recursion node by node. They run on the CPU,
and on the GPU if there is one. The paper's recursion stops at batches of 512.
"""

import json
import random
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.table import Table
from spinn import LONGEST, encoders
from timing import sst_trees

BATCHES = (1, 2, 8, 32, 128, 512, 2048)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9")

Speeds = dict[str, dict[int, float]]
"""Sentences a second, by subject and batch."""


def speeds_of(trees: list[Any], batches: tuple[int, ...], rounds: int, device: str) -> Speeds:
    """The speeds of all subjects on a device, medians over rounds."""
    found: Speeds = {}
    for batch in batches:
        for name, seconds in encoders(trees, batch, rounds, device).items():
            found.setdefault(name, {})[batch] = batch / median(seconds)
    return found


def plot(speeds: dict[str, Speeds], file: Path) -> None:
    """Draw the speeds over the batch sizes, both by their logarithms, a line for each subject; a
    GPU's are dashed. The same speeds give the same bytes."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": "thinstack", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7.0, 4.4), layout="constrained")
        axes = figure.add_subplot()
        for device, style in (("cpu", "-"), ("cuda", "--")):
            lines = zip(speeds.get(device, {}).items(), COLOURS, strict=False)
            for (name, line), colour in lines:
                label = name if device == "cpu" else f"{name}, GPU"
                axes.loglog(
                    *zip(*line.items(), strict=True), style, color=colour, label=label, marker="."
                )
        axes.set_title("Speed by batch size")
        axes.set_xlabel("sentences in a batch")
        axes.set_ylabel("sentences a second")
        sizes = sorted(
            {batch for one in speeds.values() for line in one.values() for batch in line}
        )
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.minorticks_off()
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize="small")
        figure.savefig(file, format="svg", metadata={"Date": None})


def main(
    data: Annotated[
        Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/train.txt.")
    ],
    threads: Annotated[int, typer.Option(min=1)] = 1,
    rounds: Annotated[
        int, typer.Option(min=1, help="Rounds of each batch size; medians are reported.")
    ] = 5,
    batch: Annotated[
        list[int] | None, typer.Option(min=1, help="A batch size; may be repeated.")
    ] = None,
    svg: Annotated[Path | None, typer.Option("--plot", help="Draw them into this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Compare the speed of SPINN and its rivals over batch sizes."""
    console = Console()
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    random.seed(0)
    trees = [tree for tree in sst_trees(data) if len(tree.words) <= LONGEST]
    batches = tuple(batch or BATCHES)
    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    speeds = {device: speeds_of(trees, batches, rounds, device) for device in devices}
    if svg is not None:
        plot(speeds, svg)
    if as_json:
        console.print_json(json.dumps({"threads": threads, "sentences_per_s": speeds}))
        return
    title = f"sentences/s, {threads} threads, fp32, torch {torch.__version__}"
    table = Table("device", "subject", *(f"{size:,}" for size in batches), title=title)
    for device, found in speeds.items():
        for name, line in found.items():
            table.add_row(device, name, *(f"{speed:,.0f}" for speed in line.values()))
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
