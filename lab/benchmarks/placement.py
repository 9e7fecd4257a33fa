"""Where the nodes of models run beside a GPU, what is copied and how often the GPU is waited for,
in one batch.

    python benchmarks/placement.py sentiment NAME=BUNDLE NAME=FILE.onnx --data FOLDER
        [--device webgpu|cuda] [--plan] [--json] [--markdown results/placement.md]

It needs no GPU: nodes are placed as onnxruntime places them, from a list of the provider's kernels,
and counted in a run on the CPU. With `--device webgpu` or `cuda` the batch also runs there, and the
profile's counts stand beside. `--plan` says what batches would cost on three classes of GPUs: that
is arithmetic.
"""

import dataclasses
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from placement_batches import File, like
from placement_counts import foretold
from placement_graph import place
from placement_kernels import Kernels
from placement_plan import filled, plan_lines, planned
from placement_run import Counts, counts_of_profile, optimised, run_on_cpu, run_on_gpu
from rich.console import Console

from thinstack.data.trees.treebank import read_trees
from thinstack.errors import ThinstackError

BEGIN: Final = "<!-- Written by `python lab/benchmarks/placement.py`. -->"
END: Final = "<!-- The end of what it wrote. -->"
COLUMNS: Final = {
    "kernels": "kernels on the GPU",
    "host_nodes": "nodes on the CPU",
    "host_nodes_in_loops": "of them in loops",
    "copies_in": "copies in",
    "copies_back": "copies back",
    "edges_in": "at edges, in",
    "edges_back": "at edges, back",
    "waits": "waits",
}
Trees = Literal["own", "given"]


@dataclasses.dataclass(frozen=True)
class Row:
    """The counts of a batch, and how they were found."""

    file: str
    trees: Trees
    device: str
    found: str
    counts: Counts

    def cells(self) -> list[str]:
        return [self.file, self.trees, f"{self.device}, {self.found}", *map(self._cell, COLUMNS)]

    def _cell(self, name: str) -> str:
        number = getattr(self.counts, name)
        size = getattr(self.counts, name.replace("copies", "bytes"), 0)
        if number is None or (name == "waits" and self.counts.edges_back is None):
            return "-"
        return (
            f"{number:,} ({size / 1024:,.0f} KiB)" if name.startswith("copies") else f"{number:,}"
        )


def rows_of(file: File, sentences: Sequence[Any], device: str) -> Iterator[Row]:
    """The counts of a file over some sentences, with its own trees and with theirs."""
    model, on_gpu = optimised(file.content), optimised(file.on_gpu)
    for trees in ("own", "given"):
        feeds = file.feeds(sentences, given=trees == "given")
        runs = run_on_cpu(on_gpu, feeds)
        for name in ("cuda", "webgpu"):
            placed = place(on_gpu, Kernels.read(name))
            yield Row(file.name, trees, name, "foretold", foretold(placed, runs, feeds))
        if device != "cpu":
            found = counts_of_profile(run_on_gpu(file.on_gpu, feeds, device), device)
            yield Row(file.name, trees, device, "profiled", found)
        nothing, runs = Kernels("the CPU alone", False, {}), run_on_cpu(model, feeds)
        yield Row(file.name, trees, "cpu", "run", foretold(place(model, nothing), runs, feeds))


def span(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def table(rows: Sequence[Row], title: str) -> list[str]:
    head = ["file", "trees", "device", *COLUMNS.values()]
    lines = [title, "", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return lines + [f"| {' | '.join(row.cells())} |" for row in rows]


def renewed(page: str, lines: Sequence[str]) -> str:
    """A page with the lines between its markers. Raises ValueError without both."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"expected the lines {BEGIN!r} and {END!r} in the page")
    return "\n".join([before + begin, "", *lines, "", end + after])


def main(
    files: Annotated[list[str], typer.Argument(help="Bundles or .onnx files: PATH or NAME=PATH.")],
    data: Annotated[
        Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/dev.txt.")
    ],
    sentences: Annotated[int, typer.Option(min=1)] = 64,
    depth: Annotated[int, typer.Option(min=1, help="Levels of their own trees, about.")] = 10,
    device: Annotated[
        Literal["cpu", "cuda", "webgpu"], typer.Option(help="Where batches run.")
    ] = "cpu",
    words: Annotated[str, typer.Option(help="The bundle whose words .onnx files read.")] = (
        "sentiment"
    ),
    plan: Annotated[bool, typer.Option("--plan", help="Say what batches would cost.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    markdown: Annotated[
        Path | None, typer.Option(help="Renew what stands between the markers of this page.")
    ] = None,
) -> None:
    """Count what a batch of each file does on a GPU."""
    try:
        opened = [File.of(name, words) for name in files]
        trees = read_trees(data / "sst/dev.txt")
    except (ThinstackError, OSError) as error:
        Console(stderr=True).print(str(error), soft_wrap=True, markup=False)
        raise typer.Exit(2) from None
    chosen = like(opened[0], trees, sentences, depth)
    lengths = [len(tree.words) for tree in chosen]
    rows = [row for file in opened for row in rows_of(file, chosen, device)]
    depths = opened[0].own_depths(chosen)
    title = filled(
        f"{len(chosen)} sentences of {span(lengths)} words, of which "
        f"`{opened[0].name}` makes trees of {span(depths)} levels. "
        f"Kernels of WebGPU: {Kernels.read('webgpu').source}. "
        f"Of CUDA: {Kernels.read('cuda').source}."
    )
    lines = table(rows, title)
    costs = [planned(file, trees) for file in opened] if plan else []
    lines += plan_lines(costs) if plan else []
    if as_json:
        found = {
            "title": title,
            "rows": [dataclasses.asdict(row) | {"waits": row.counts.waits} for row in rows],
            "plan": [dataclasses.asdict(each) for each in costs],
        }
        typer.echo(json.dumps(found, indent=2))
    else:
        typer.echo("\n".join(lines))
    if markdown is not None:
        markdown.write_text(renewed(markdown.read_text("utf-8"), lines), "utf-8")


if __name__ == "__main__":
    typer.run(main)
