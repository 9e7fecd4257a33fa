"""What a second thread is worth: sentences scored on one thread and on several.

    python lab/benchmarks/threads.py --data FOLDER [--model sentiment] [--threads 2] [--rounds 9]
    [--json]

SST's development sentences, over the model's own trees. A row has about so many sentences a batch;
"own batches" are the sizes that a user gets. All take turns, round after round; run it with nothing
else on the machine.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table
from timing import interleaved, ratio

import thinstack
from thinstack.data.trees.treebank import read_trees
from thinstack.runtime.predictor import Predictor
from thinstack.text import batching

SIZES: Final = (32, 128, None)
Run = Callable[[int], None]


def scored(predictor: Predictor, words: Sequence[Sequence[str]], size: int | None) -> Run:
    """Score all sentences, about `size` of them a batch."""
    usual = batching.BATCH_NODES["cpu"]
    mean = sum(2 * len(sentence) - 1 for sentence in words) / len(words)

    def run(_: int) -> None:
        batching.BATCH_NODES["cpu"] = usual if size is None else round(size * mean)
        try:
            predictor.trees_and_scores(words)
        finally:
            batching.BATCH_NODES["cpu"] = usual

    return run


def main(
    data: Annotated[Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/.")],
    model: Annotated[str, typer.Option(help="Name or folder of a bundle.")] = "sentiment",
    threads: Annotated[int, typer.Option(min=2, help="Threads of the pool.")] = 2,
    rounds: Annotated[int, typer.Option(min=1)] = 9,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Measure sentences a second on one thread and on several."""
    words = [tree.words for tree in read_trees(data / "sst/dev.txt")]
    predictors = {
        count: thinstack.load(model, threads=count, isolated=False) for count in (1, threads)
    }
    subjects = {
        f"{size} {count}": scored(predictor, words, size)
        for size in SIZES
        for count, predictor in predictors.items()
    }
    seconds = interleaved(subjects, rounds)
    found = [
        {
            "sentences_a_batch": size,
            "one_thread": len(words) / median(seconds[f"{size} 1"]),
            "threads": len(words) / median(seconds[f"{size} {threads}"]),
            "times_as_fast": ratio(seconds[f"{size} 1"], seconds[f"{size} {threads}"]),
        }
        for size in SIZES
    ]
    if as_json:
        Console().print_json(json.dumps(found))
        return
    table = Table("sentences a batch", "1 thread, sentences/s", f"{threads} threads", "ratio")
    for row in found:
        size = row["sentences_a_batch"]
        table.add_row(
            "own batches" if size is None else str(size),
            f"{row['one_thread']:,.0f}", f"{row['threads']:,.0f}", f"{row['times_as_fast']:.2f}",
        )  # fmt: skip
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
