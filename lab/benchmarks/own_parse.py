"""Speed of bundles that make their own trees, each against the first, over SST's development
sentences on one thread: files run in turn, medians of rounds.

    python lab/benchmarks/own_parse.py --data FOLDER OLD NEW [--rounds 7] [--json]

OLD and NEW are names or folders of bundles. Rows: sentences of the file in its order, a batch of
1, 32 and 256 at a time; the same, cut so that sentences of a batch are of like length; and one
sentence of 4,000 words. Trust the ratios only.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from timing import interleaved, ratio

from thinstack._onnxruntime import import_onnxruntime
from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.manifest import ONNX_FILE
from thinstack.data.trees.treebank import read_trees

onnxruntime = import_onnxruntime()

Words = Sequence[Sequence[str]]
Feeds = dict[str, np.ndarray[Any, Any]]

LONG = 4000


def session_of(bundle: Bundle) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(bundle.read(ONNX_FILE), options)


def feeds_of(bundle: Bundle, names: Sequence[str], sentences: Words) -> Feeds:
    """The inputs of a batch without trees."""
    fields = bundle.vocabulary().fields([word for words in sentences for word in words])
    lengths = np.array([len(words) for words in sentences])
    trees = {"lengths": lengths, "breaks": 0 * lengths, "transitions": np.zeros(0, np.int64)}
    every = {**fields, **trees}
    return {name: every[name].astype(np.int32) for name in names}


def batches_of(sentences: Words) -> dict[str, list[Words]]:
    """The rows of the table: what is run, batch by batch."""
    ordered = sorted(sentences, key=len)

    def cut(source: Words, size: int) -> list[Words]:
        return [source[i : i + size] for i in range(0, len(source), size)]

    long = [word for words in sentences for word in words][:LONG]
    return {
        "batch 1": cut(sentences[:300], 1),
        "batch 32": cut(sentences, 32),
        "batch 256": cut(sentences, 256),
        "batch 32, like length": cut(ordered, 32),
        "batch 256, like length": cut(ordered, 256),
        f"one sentence of {LONG:,} words": [[long]],
    }


def runner(bundle: Bundle, batches: list[Words]) -> Callable[[int], None]:
    session = session_of(bundle)
    feeds = [
        feeds_of(bundle, [each.name for each in session.get_inputs()], batch) for batch in batches
    ]

    def run(_: int) -> None:
        for batch in feeds:
            session.run(None, batch)

    return run


def main(
    bundles: Annotated[list[str], typer.Argument(help="Names or folders of bundles.")],
    data: Annotated[Path, typer.Option(help="Folder that holds sst/dev.txt.")],
    rounds: int = 7,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    sentences = [tree.words for tree in read_trees(data / "sst/dev.txt")]
    opened = {name: open_bundle(name) for name in bundles}
    rows = {}
    for row, batches in batches_of(sentences).items():
        subjects = {name: runner(bundle, batches) for name, bundle in opened.items()}
        seconds = interleaved(subjects, rounds)
        count = sum(map(len, batches))
        rows[row] = {
            name: {
                "ms_a_sentence": 1000 * median(taken) / count,
                "of_the_first": ratio(taken, seconds[bundles[0]]),
            }
            for name, taken in seconds.items()
        }
    if as_json:
        Console().print_json(data=rows)
        return
    table = Table("ms a sentence (share of the first's)", *bundles)
    for row, found in rows.items():
        cells = [
            f"{each['ms_a_sentence']:.3f} ({each['of_the_first']:.2f})" for each in found.values()
        ]
        table.add_row(row, *cells)
    Console(width=120).print(table)


if __name__ == "__main__":
    typer.run(main)
