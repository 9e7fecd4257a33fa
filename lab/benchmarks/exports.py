"""Every format and every runtime at once: the bundled model and one of every cell exported,
verified, and run in each runtime.

    python lab/benchmarks/exports.py [--runtimes onnxruntime,reference,openvino,node,web]
    [--hidden 150] [--markdown FILE]

Runtimes get bundles of the ONNX files and must give the reference cases that lie in them, by the
programs in examples/ and `exports.mjs`. The exit code is 1 if a file could not be exported, or
differed from its model, or a runtime from the cases.
"""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from export_subjects import Exportable, exportables
from rich.console import Console

from thinstack._onnxruntime import import_onnxruntime
from thinstack.bundle import write_bundle
from thinstack.bundle.manifest import ONNX_FILE, VOCABULARY_FILE
from thinstack.errors import ExportError
from thinstack.export.compare import reference_cases
from thinstack.export.onnx.verify import export_verified_onnx
from thinstack.export.torchscript import export_torchscript

onnxruntime = import_onnxruntime()

ROOT = Path(__file__).parents[2]
NODES, ROOTS, INT8, SCRIPT = "nodes", "roots", "int8", "TorchScript"
SUFFIXES = {NODES: "onnx", ROOTS: "roots.onnx", INT8: "int8.onnx", SCRIPT: "pt"}
ONNX_OPTIONS: dict[str, dict[str, Any]] = {
    NODES: {},
    ROOTS: {"outputs": "roots"},
    INT8: {"quantize": "int8"},
}
NODE = ("node", "web")  # runtimes of JavaScript
RUNTIMES = ("onnxruntime", "reference", "openvino", *NODE)
SECONDS_TARGET = 20  # of an export with its verification


@dataclass(frozen=True)
class Entry:
    """What came of one model in one format or runtime; `problem` is why it failed."""

    difference: float = 0.0
    seconds: float = 0.0
    problem: str = ""
    skipped: bool = False

    def __str__(self) -> str:
        if self.skipped:
            return "-"
        return (
            f"FAILED: {self.problem:.200}"
            if self.problem
            else f"{self.difference:.0e}, {self.seconds:.1f} s"
        )


def main(
    out: Annotated[
        Path | None, typer.Option(help="Keep the exported files in this folder.")
    ] = None,
    runtimes: Annotated[
        str | None, typer.Option(help=f"Of {','.join(RUNTIMES)}. [default: all that are installed]")
    ] = None,
    openvino_python: Annotated[
        Path, typer.Option(help="A Python with openvino and thinstack.")
    ] = Path(sys.executable),
    hidden: Annotated[
        int | None, typer.Option(min=1, help="Width of all cells. [default: small]")
    ] = None,
    only: Annotated[str, typer.Option(help="Only models whose name holds this.")] = "",
    every: Annotated[
        bool,
        typer.Option("--every", help="Models that differ in options of their parts alone, too."),
    ] = False,
    markdown: Annotated[Path | None, typer.Option(help="Write the table to this file.")] = None,
) -> None:
    """Export the bundled model and one of every cell to each format, verify them, and run the ONNX
    files in each runtime."""
    console = Console()
    wanted = (
        runtimes.split(",")
        if runtimes
        else [name for name in RUNTIMES if _missing(name, openvino_python) == ""]
    )
    for name in wanted:
        if problem := _missing(name, openvino_python):
            Console(stderr=True).print(f"{name} cannot be run: {problem}", highlight=False)
            raise typer.Exit(2)
    table: dict[str, dict[str, Entry]] = {}
    for one in exportables(only, hidden, every):
        files, table[one.name] = export(one)
        if NODES in files:
            table[one.name] |= run(one, files[NODES], wanted, openvino_python)
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            for format, content in files.items():
                (
                    out / f"{re.sub(r'[^a-z0-9.]+', '-', one.name.lower())}.{SUFFIXES[format]}"
                ).write_bytes(content)
        console.print(
            f"[bold]{one.name}[/bold]: "
            + "; ".join(f"{name} {entry}" for name, entry in table[one.name].items())
        )
    lines = markdown_table(table, [*SUFFIXES, *wanted])
    console.print("\n" + "\n".join(lines), markup=False, highlight=False, soft_wrap=True)
    if markdown is not None:
        markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")
    raise typer.Exit(int(any(entry.problem for row in table.values() for entry in row.values())))


def export(one: Exportable) -> tuple[dict[str, bytes], dict[str, Entry]]:
    """The files by format, each verified, and what came of it."""

    def onnx(**options: Any) -> tuple[bytes, float]:
        content, report = export_verified_onnx(
            one.model, one.config, vocabulary_digest="none", **options
        )
        return content, max(runtime.max_error for runtime in report.runtimes)

    def torchscript() -> tuple[bytes, float]:
        content, report = export_torchscript(one.model)
        return content, report.max_error

    ways: dict[str, Callable[[], tuple[bytes, float]]] = {
        name: (lambda options=options: onnx(**options)) for name, options in ONNX_OPTIONS.items()
    }
    files, entries = {}, {}
    for name, way in {**ways, SCRIPT: torchscript}.items():
        if name == ROOTS and "root_scores" not in one.model.output_names:
            entries[name] = Entry(skipped=True)  # it scores pairs or candidates
            continue
        start = time.perf_counter()
        try:
            files[name], difference = way()
            entries[name] = Entry(difference, time.perf_counter() - start)
        except ExportError as error:
            entries[name] = Entry(problem=_line(str(error)))
    return files, entries


def run(
    one: Exportable, file: bytes, runtimes: Iterable[str], openvino_python: Path
) -> dict[str, Entry]:
    """What the runtimes make of the cases of a bundle with this ONNX file."""
    cases = reference_cases(one.model, one.config)
    files = {
        VOCABULARY_FILE: one.vocabulary,
        ONNX_FILE: file,
        "cases.json": json.dumps(cases).encode(),
    }
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        bundle = write_bundle(Path(folder) / "bundle", files, config=one.config).path
        for name in runtimes:
            start = time.perf_counter()
            if name == "onnxruntime":
                difference, problem = in_onnxruntime(file, cases)
            else:
                difference, problem = in_program(_command(name, openvino_python), bundle)
            found[name] = Entry(difference, time.perf_counter() - start, problem)
    return found


def in_onnxruntime(file: bytes, cases: dict[str, Any]) -> tuple[float, str]:
    """The largest difference from the cases, relative where scores exceed 1, and what is wrong."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    names, largest = [value.name for value in session.get_outputs()], 0.0
    for case in cases["cases"]:
        inputs = {name: np.array(values, np.int32) for name, values in case["inputs"].items()}
        for name, values in zip(names, session.run(names, inputs), strict=True):
            wanted = np.array(case["outputs"][name])
            if values.shape != wanted.shape:
                return 0.0, f"{name} of shape {values.shape}, expected {wanted.shape}"
            largest = max(
                largest,
                float((np.abs(values - wanted) / np.maximum(1, np.abs(wanted))).max(initial=0)),
            )
    return largest, "" if largest <= cases["tolerance"] else f"differs by {largest:.1e}"


def in_program(command: list[str], bundle: Path) -> tuple[float, str]:
    """The same by a program, which prints it."""
    done = subprocess.run([*command, str(bundle)], capture_output=True, text=True, check=False)
    found = re.search(r"largest difference ([\d.]+e[+-]?\d+)", done.stdout)
    if done.returncode or not found:
        return 0.0, _line(done.stderr) or _line(done.stdout) or f"exit code {done.returncode}"
    return float(found[1]), ""


def _command(name: str, openvino_python: Path) -> list[str]:
    if name in NODE:
        return ["node", str(Path(__file__).with_suffix(".mjs")), name]
    python = openvino_python if name == "openvino" else sys.executable
    return [str(python), str(ROOT / "examples" / name / "predict.py")]


def _missing(name: str, openvino_python: Path) -> str:
    """Why a runtime cannot be run; empty if it can."""
    if name not in RUNTIMES:
        return f"expected one of {', '.join(RUNTIMES)}"
    if name in NODE and not (shutil.which("node") and (ROOT / "js" / "node_modules").is_dir()):
        return "run `npm ci` in js"
    if name == "openvino" and openvino_python != Path(sys.executable):
        done = subprocess.run(
            [str(openvino_python), "-c", "import openvino, thinstack"],
            capture_output=True,
            check=False,
        )
        return "" if done.returncode == 0 else f"{openvino_python} has no openvino and thinstack"
    return (
        "pip install openvino"
        if name == "openvino" and importlib.util.find_spec("openvino") is None
        else ""
    )


def markdown_table(table: dict[str, dict[str, Entry]], columns: list[str]) -> list[str]:
    """A row a model, a column a format or runtime, and below the export that took longest."""
    rows = [["model", *columns], ["---"] * (1 + len(columns))]
    rows += [
        [name, *(str(row.get(column, Entry(skipped=True))) for column in columns)]
        for name, row in table.items()
    ]
    exports = [
        (row[format].seconds, name, format) for name, row in table.items() for format in SUFFIXES
    ]
    seconds, name, format = max(exports, default=(0.0, "none", NODES))
    verdict = "met" if seconds <= SECONDS_TARGET else "MISSED"
    slowest = (
        f"Slowest export with verification: {seconds:.1f} s ({name}, {format}); target at most "
        f"{SECONDS_TARGET}: {verdict}"
    )
    return [
        *(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows),
        "",
        slowest,
    ]


def _line(text: str) -> str:
    """The last line that says something: a traceback's own message."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


if __name__ == "__main__":
    typer.run(main)
