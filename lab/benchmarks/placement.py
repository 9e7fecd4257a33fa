"""What one batch of each model does on a GPU: kernels, copies and how often the GPU is waited for,
from onnxruntime's profile.

    python lab/benchmarks/placement.py sentiment NAME=BUNDLE NAME=FILE.onnx --data FOLDER
        [--device webgpu|cuda] [--json]
"""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from placement_batches import File, like
from placement_run import Counts, counts_of_profile, run_on_gpu
from rich.console import Console

from thinstack.data.trees.treebank import read_trees
from thinstack.errors import ThinstackError

COLUMNS: Final = {
    "kernels": "kernels on the GPU",
    "host_nodes": "nodes on the CPU",
    "host_nodes_in_loops": "of them in loops",
    "copies_in": "copies in",
    "copies_back": "copies back",
}


def cell(counts: Counts, name: str) -> str:
    number = getattr(counts, name)
    size = getattr(counts, name.replace("copies", "bytes"))
    return f"{number:,} ({size / 1024:,.0f} KiB)" if name.startswith("copies") else f"{number:,}"


def main(
    files: Annotated[list[str], typer.Argument(help="Bundles or .onnx files: PATH or NAME=PATH.")],
    data: Annotated[
        Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/dev.txt.")
    ],
    sentences: Annotated[int, typer.Option(min=1)] = 64,
    depth: Annotated[int, typer.Option(min=1, help="Levels of their own trees, about.")] = 10,
    device: Annotated[
        Literal["cuda", "webgpu"], typer.Option(help="Where batches run.")
    ] = "webgpu",
    words: Annotated[str, typer.Option(help="The bundle whose words .onnx files read.")] = (
        "sentiment"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Count what a batch of each file does on a GPU."""
    try:
        opened = [File.of(name, words) for name in files]
        trees = read_trees(data / "sst/dev.txt")
    except (ThinstackError, OSError) as error:
        Console(stderr=True).print(str(error), soft_wrap=True, markup=False)
        raise typer.Exit(2) from None
    chosen = like(opened[0], trees, sentences, depth)
    rows = [
        (file.name, "given" if given else "own", counted(file, chosen, device, given=given))
        for file in opened
        for given in (False, True)
    ]
    if as_json:
        listed = [
            {"file": name, "trees": kind} | dataclasses.asdict(counts)
            for name, kind, counts in rows
        ]
        typer.echo(json.dumps(listed, indent=2))
        return
    typer.echo(f"{len(chosen)} sentences on {device}.\n")
    typer.echo(f"| {' | '.join(['file', 'trees', *COLUMNS.values()])} |")
    typer.echo(f"|{'---|' * (2 + len(COLUMNS))}")
    for name, kind, counts in rows:
        cells = [name, kind, *(cell(counts, column) for column in COLUMNS)]
        typer.echo(f"| {' | '.join(cells)} |")


def counted(file: File, sentences: Sequence[Any], device: str, *, given: bool) -> Counts:
    """The counts of a file over some sentences, with their trees if these are `given`."""
    runs = run_on_gpu(file.on_gpu, file.feeds(sentences, given=given), device)
    return counts_of_profile(runs, device)


if __name__ == "__main__":
    typer.run(main)
