"""All tables of speed from one command: each benchmark runs in a process of its own, one after the
other, every row beside its rival of the same run.

    python lab/benchmarks/how_fast.py --data FOLDER [--old BUNDLE] --markdown lab/results/speed.md

Run it in the root of the repository, on a machine that does nothing else; it takes about eight
minutes. With `--old`, the bundled model is compared with that bundle (the one of 0.1.0, say).
The rivals of raw text are VADER and TextBlob (`lab/benchmarks/requirements.txt`), and the encoder
in `encoders/all-minilm-l6-v2` of FOLDER. A benchmark that fails ends it.
"""

import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import torch
import typer
from beside import MODELS
from rich.progress import track

from thinstack._onnxruntime import import_onnxruntime

onnxruntime = import_onnxruntime()

HERE = Path(__file__).parent
STARTS = "starts.py"  # the one that reads no data
ONE = ("--threads", "1")
DATA = "DATA"  # for the folder of data
MINILM = ("--encoder", f"{DATA}/encoders/all-minilm-l6-v2")


def benchmarks(old: str | None) -> list[tuple[str, tuple[str, ...]]]:
    """The title of each table, and the script and arguments that make it."""
    bundles = (old, "sentiment") if old else ("sentiment",)
    models = [part for named in MODELS for part in ("--model", named)]
    beside = ("contextual_speed.py", *models, *MINILM, "--lexicons")
    return [
        ("Raw text to polarity, one thread", beside),
        ("The bundled model, own parse, ONNX, one thread", ("own_parse.py", *bundles)),
        ("Raw text to results in spaCy", ("spacy_component.py", *ONE, "--docs", "20000")),
        ("The encoder, one thread", ("encoder.py", *ONE, "--hidden", "300")),
        ("SPINN, one thread", ("spinn.py", *ONE)),
        ("Splitting raw text", ("splitting.py",)),
        ("Training a table", ("tables.py",)),
        ("Starting", (STARTS,)),
    ]


def output_of(data: Path, script: str, arguments: tuple[str, ...]) -> str:
    """What a benchmark prints, as lines of text.

    Raises:
        typer.Exit: with the code and the messages of a benchmark that failed.
    """
    given = [re.sub(rf"^{DATA}\b", lambda _: str(data), each) for each in arguments]
    found = subprocess.run(
        [sys.executable, HERE / script, *given],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "110"},
    )
    if found.returncode:
        typer.echo(f"{script} failed:\n{found.stderr}", err=True)
        raise typer.Exit(found.returncode)
    return without_frames(found.stdout.strip("\n"))


def without_frames(text: str) -> str:
    """The text with its tables as columns, of whose frames only the inner lines stay."""
    lines = re.sub(r"^[┏└].*\n?", "", text, flags=re.MULTILINE)
    lines = re.sub(r"[┡├].*", lambda line: "─" * len(line[0]), lines)
    return "\n".join(re.sub("[┃│]", " ", line).rstrip() for line in lines.splitlines())


def machine() -> str:
    """The processor's name, where Linux tells it, and how many cores there are."""
    told = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.+)$", told.read_text() if told.exists() else "", re.M)
    return f"{os.cpu_count()} cores of {(names or [platform.machine()])[0]}"


def section(title: str, script: str, arguments: tuple[str, ...], table: str) -> str:
    """A table under its title, with its command."""
    command = " ".join(["python", f"lab/benchmarks/{script}", *arguments])
    return f"## {title}\n\n`{command}`\n\n```\n{table}\n```"


def main(
    data: Annotated[Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/.")],
    markdown: Annotated[Path, typer.Option(help="File that is written.")],
    old: Annotated[str | None, typer.Option(help="Name or folder of an older bundle.")] = None,
) -> None:
    """Run every benchmark of speed and write their tables to one file."""
    made = (
        f"Made by `python lab/benchmarks/how_fast.py` with Python {platform.python_version()}, "
        f"torch {torch.__version__}, onnxruntime {onnxruntime.__version__}, CPU capability "
        f"{torch.backends.cpu.get_cpu_capability()}, on {machine()}, {datetime.now(UTC).date()}. "
        "Each ratio is of one run; trust the ratios, not the milliseconds."
    )
    parts = ["# How fast", made]
    for title, (script, *rest) in track(benchmarks(old), description="benchmarks"):
        arguments = (*rest, *(() if script == STARTS else ("--data", DATA)))
        table = output_of(data, script, arguments)
        parts.append(section(title, script, arguments, table))
        markdown.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
