"""How fast the npm package is beside Python: texts to trees and scores, one thread each.

    npm --prefix js ci && npm --prefix js run build
    python lab/benchmarks/javascript.py --data FOLDER [--model sentiment] [--texts 1101]
    [--rounds 7] [--json]

SST's development sentences as raw text: splitting, tokenising, pieces and the model. Each subject
is a process or a predictor that stays; all take turns, round after round.
"""

import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from timing import interleaved, ratio

import thinstack
from thinstack.bundle import open_bundle
from thinstack.data.trees.treebank import read_trees
from thinstack.text.raw_text import detokenize

BENCH = Path(__file__).parents[2] / "js" / "bench.mjs"


def in_python(model: str, texts: Sequence[str]) -> Callable[[int], None]:
    """Predict all texts in Python, on one thread."""
    predictor = thinstack.load(model, threads=1, isolated=False)

    def run(_: int) -> None:
        for _result in predictor.stream(texts):
            pass

    return run


def in_node(bundle: Path, texts: Path, entry: str, processes: ExitStack) -> Callable[[int], None]:
    """Predict all texts in a process of node, with onnxruntime-node or -web."""
    words = ["node", str(BENCH), str(bundle), str(texts), entry]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = processes.enter_context(subprocess.Popen(words, text=True, **pipes))
    processes.callback(process.stdin.close)

    def run(_: int) -> None:
        process.stdin.write("\n")
        process.stdin.flush()
        if not process.stdout.readline().strip():
            raise RuntimeError(f"{' '.join(words)} ended; build the package first")

    return run


def main(
    data: Annotated[Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/.")],
    model: Annotated[str, typer.Option(help="Name or folder of a bundle.")] = "sentiment",
    texts: Annotated[int, typer.Option(min=1, help="Texts at most.")] = 1101,
    rounds: Annotated[int, typer.Option(min=1)] = 7,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Measure texts a second in Python, in node and in WebAssembly."""
    chosen = [detokenize(tree.words) for tree in read_trees(data / "sst/dev.txt")][:texts]
    bundle = open_bundle(model).path
    with tempfile.TemporaryDirectory() as folder, ExitStack() as processes:
        path = Path(folder) / "texts.json"
        path.write_text(json.dumps(chosen))
        subjects = {"Python": in_python(model, chosen)}
        for name, entry in (("onnxruntime-node", "node"), ("onnxruntime-web in node", "web")):
            subjects[name] = in_node(bundle, path, entry, processes)
        seconds = interleaved(subjects, rounds)
    found = [
        {
            "subject": name,
            "texts_a_second": len(chosen) / median(each),
            "times_as_fast_as_python": ratio(seconds["Python"], each),
        }
        for name, each in seconds.items()
    ]
    if as_json:
        Console().print_json(json.dumps(found))
        return
    table = Table("", "texts/s", "of Python's speed")
    for row in found:
        fast = f"{row['times_as_fast_as_python']:.2f}"
        table.add_row(row["subject"], f"{row['texts_a_second']:,.0f}", fast)
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
