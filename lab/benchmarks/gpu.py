"""What runs on a GPU, against the CPU and cuDNN's LSTM, all in one run: whether it gives the same,
and how fast it is.

    python lab/benchmarks/gpu.py [BUNDLE ...] --data FOLDER [--device webgpu] [--encoder FOLDER]
        [--json] [--markdown FILE]

CUDA needs torch with CUDA and onnxruntime-gpu, and ends with exit code 2 where there is none. With
`--device cpu --small` it goes through all of it in half a minute, and says nothing of a GPU. WebGPU
runs exported files alone. `--encoder` names the folder of a small BERT, the rival without a tree.
Everything of ours is float32, without TF32.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
import typer
from gpu_parity import bundle_parity, cell_parity, export_parity, gradient_parity
from gpu_speed import encoder_speed, parse_speed, rival_speed, session_speed, step_speed
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from timing import sst_trees

from thinstack._onnxruntime import import_onnxruntime
from thinstack.core import Tree

onnxruntime = import_onnxruntime()

Device = Literal["cuda", "webgpu", "cpu"]
CUDA = "CUDAExecutionProvider"

DIFFERENCE, SPEED, RATE = "largest difference", "times as fast", "sentences/s"
TIME = "ms a batch"
MOST = 1e-4  # of a difference
LEAST = {"over nn.LSTM": 0.8, "over the CPU recursion": 25.0, "raw text, own parse": 20_000.0}

Parts = Iterator[tuple[str, str, Callable[[], Mapping[str, Any]]]]
"""What is measured, its unit, and what gives its figures by name."""


@dataclass(frozen=True)
class Row:
    """One figure. `met` is None where nothing is aimed at, or it was not measured on a GPU."""

    part: str
    what: str
    figure: float | str
    unit: str
    target: float | None
    met: bool | None

    @classmethod
    def of(cls, part: str, what: str, figure: float | str, unit: str, *, real: bool) -> "Row":
        target = LEAST.get(what)
        if isinstance(figure, float) and unit == DIFFERENCE:
            target = MOST
        if isinstance(figure, str) or target is None:
            return cls(part, what, figure, unit, None, None)
        reached = figure <= target if unit == DIFFERENCE else figure >= target
        return cls(part, what, figure, unit, target, reached if real else None)

    def cells(self) -> tuple[str, str, str]:
        """What was measured, its figure, and the verdict."""
        if isinstance(self.figure, str):
            return self.what, self.figure, ""
        figure = f"{self.figure:.0e}" if self.unit == DIFFERENCE else f"{self.figure:,.4g}"
        if self.target is None:
            return self.what, figure, ""
        verdict = {None: "not a GPU", True: "met", False: "MISSED"}[self.met]
        return self.what, figure, f"{self.target:,g}: {verdict}"


def missing() -> str:
    """Why there is no CUDA; empty if there is."""
    if not torch.cuda.is_available():
        return f"torch {torch.__version__} finds no CUDA; install a build with CUDA"
    if CUDA not in onnxruntime.get_available_providers():
        return "onnxruntime has no CUDA provider; install onnxruntime-gpu in its place"
    return ""


def parts_in_torch(trees: Sequence[Tree], device: Device, small: bool, rounds: int) -> Parts:
    """What torch runs."""
    batch, only = (4, "nary_lstm.v1 on") if small else (512, "")
    yield "torch, one of every cell", DIFFERENCE, lambda: cell_parity(device, only)
    yield "torch, gradients", DIFFERENCE, lambda: gradient_parity(device, only)
    yield f"encoder, batch {batch}", SPEED, lambda: encoder_speed(trees, device, batch, rounds)
    for size in (4,) if small else (25, 128, batch):
        measure = partial(step_speed, trees, device, size, rounds)
        yield f"training step, batch {size}", SPEED, measure


def parts_in_onnxruntime(
    bundles: Sequence[str], trees: Sequence[Tree], device: Device, small: bool, rounds: int
) -> Parts:
    """What onnxruntime runs."""
    batch, only = (4, "nary_lstm.v1 on") if small else (512, "")
    yield "onnxruntime, one of every cell", DIFFERENCE, lambda: export_parity(device, only)
    for name in bundles:
        most, chosen = 16 if small else 4096, trees[: 2 * batch]
        yield f"{name}, scores", DIFFERENCE, partial(bundle_parity, name, chosen, device)
        one = partial(session_speed, name, trees, device, most, rounds)
        yield f"{name}, the session alone", TIME, one
        yield f"{name}, speed", RATE, partial(parse_speed, name, trees, device, 16 * batch, rounds)


def main(
    bundles: Annotated[list[str] | None, typer.Argument(help="Bundles; else `sentiment`.")] = None,
    *,
    data: Annotated[
        Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/train.txt.")
    ],
    device: Annotated[Device, typer.Option(help="cpu tries the program itself.")] = "cuda",
    encoder: Annotated[Path | None, typer.Option(help="Folder of a small BERT.")] = None,
    small: Annotated[bool, typer.Option("--small", help="Few models and sentences.")] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="Parts whose names hold this, or another of these.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Medians over them are reported.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    markdown: Annotated[Path | None, typer.Option(help="Write the table to this file.")] = None,
) -> None:
    """Compare what runs on a GPU with the CPU and with cuDNN's LSTM."""
    if device == "cuda" and (problem := missing()):
        hint = f"no CUDA here: {problem}, or try --device cpu --small"
        Console(stderr=True).print(hint, soft_wrap=True)
        raise typer.Exit(2)
    torch.set_num_threads(2)
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    trees = sst_trees(data)
    parts = list(parts_in_onnxruntime(bundles or ["sentiment"], trees, device, small, rounds))
    if device != "webgpu":
        parts = [*parts_in_torch(trees, device, small, rounds), *parts]
        if encoder is not None:
            rival = partial(rival_speed, encoder, trees, device, 64 if small else 8192, rounds)
            parts.append((f"{encoder.name} in torch", RATE, rival))
    rows = [
        Row.of(part, what, figure, unit, real=device != "cpu" and not small)
        for part, unit, measure in parts
        if any(name in part for name in only or [""])
        for what, figure in measure().items()
    ]
    named = {"cuda": torch.cuda.get_device_name, "webgpu": lambda: "WebGPU"}
    where = named.get(device, lambda: "not a GPU, but the CPU")()
    versions = f"torch {torch.__version__}, onnxruntime {onnxruntime.__version__}"
    title = f"{where}{', small' if small else ''}; {versions}"
    if as_json:
        Console().print_json(json.dumps({"title": title, "rows": [asdict(row) for row in rows]}))
    else:
        report(title, rows)
    if markdown is not None:
        markdown.write_text("\n".join(markdown_lines(title, rows)) + "\n", encoding="utf-8")


def report(title: str, rows: list[Row]) -> None:
    table = Table("what", "figure", "target", title=title)
    heading = ""
    for row in rows:
        if heading != (heading := f"{row.part}: {row.unit}"):
            table.add_section()
            table.add_row(f"[bold]{heading}")
        table.add_row(*map(escape, row.cells()))
    Console(width=120).print(table)


def markdown_lines(title: str, rows: list[Row]) -> list[str]:
    lines = [title, "", "| part | what | figure | target |", "|---|---|---|---|"]
    for row in rows:
        cells = (f"{row.part}: {row.unit}", *row.cells())
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    return lines


if __name__ == "__main__":
    typer.run(main)
