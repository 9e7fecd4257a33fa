"""Many Docs in spaCy, by threads and by processes: Docs a second, and what a Doc costs on its way
between processes.

    python lab/benchmarks/spacy_scale.py --data FOLDER [--docs 50000] [--model sentiment]
    [--threads 2] [--processes 2] [--batch-size 256 --batch-size 1000] [--rounds 3] [--json]

SST's development and training sentences, over and over, as raw text: tokeniser, sentencizer and
`tree_sentiment` are timed together, and the results are not kept. All ways take turns, round after
round, at each batch size; a ratio is the median over rounds, beside one thread of the same round.
With processes, the component has one thread in each. Worker processes are started in each round, as
`nlp.pipe` does. Run it with nothing else on the machine. torch is kept out, as if it were not
installed: spaCy would import it, though nothing here uses it.

The second table is why processes cost more: microseconds a Doc, on one thread, of the pipeline and
of `Doc.to_bytes` and `Doc.from_bytes`, with results and without (the bare Doc of a tokeniser and a
sentencizer). Workers write, and the one process that has the results reads them all, so it gives no
more Docs a second than `from_bytes` does, however many workers there are.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Final

sys.modules["torch"] = None  # type: ignore[assignment]

import srsly
import typer
from rich.console import Console
from rich.table import Table
from spacy.language import Language
from spacy.tokens import Doc
from spacy_component import pipeline

from thinstack.data.trees.treebank import read_trees
from thinstack.text.raw_text import detokenize

ONE: Final = "1 thread"
CROSSING: Final = 1000  # Docs of the second table
Run = Callable[[], object]


def texts_of(data: Path, count: int) -> list[str]:
    """So many texts, a sentence of SST each."""
    trees = [tree for part in ("dev", "train") for tree in read_trees(data / f"sst/{part}.txt")]
    return list(islice(cycle([detokenize(tree.words) for tree in trees]), count))


def seconds(run: Run) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def piped(nlp: Language, texts: Sequence[str], batch_size: int, processes: int) -> Run:
    """Run all texts through a pipeline and keep nothing."""

    def run() -> None:
        for _ in nlp.pipe(texts, batch_size=batch_size, n_process=processes):
            pass

    return run


def scale(
    texts: Sequence[str], ways: dict[str, tuple[Language, int]], batch_size: int, rounds: int
) -> list[dict[str, Any]]:
    """Docs a second by each way, and times those of one thread."""
    runs = {way: piped(nlp, texts, batch_size, count) for way, (nlp, count) in ways.items()}
    for nlp, count in ways.values():  # to warm up
        piped(nlp, texts[: 4 * batch_size], batch_size, count)()
    took: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, run in runs.items():
            took[way].append(seconds(run))
    return [
        {
            "way": way,
            "batch_size": batch_size,
            "docs_per_s": len(texts) / median(found),
            "times_one_thread": median(a / b for a, b in zip(took[ONE], found, strict=True)),
        }
        for way, found in took.items()
    ]


def crossing(nlp: Language, texts: Sequence[str], rounds: int) -> dict[str, dict[str, float]]:
    """Microseconds a Doc: the pipeline, and the way to bytes and back, with results and without;
    and of one call of `srsly.msgpack_dumps` on an empty list, which finds its encoders anew."""
    found = {"one call of msgpack": {"to_bytes": best(srsly.msgpack_dumps, [[]] * 1000, rounds)}}
    for name, pipe in (("bare Doc", pipeline()), ("Doc with results", nlp)):
        docs = list(pipe.pipe(texts))
        packed = [doc.to_bytes() for doc in docs]
        found[name] = {
            "pipeline": best(list, [pipe.pipe(texts) for _ in range(rounds)], rounds, len(texts)),
            "to_bytes": best(Doc.to_bytes, docs, rounds),
            "from_bytes": best(lambda data: Doc(nlp.vocab).from_bytes(data), packed, rounds),
            "bytes": sum(map(len, packed)) / len(texts),
        }
    return found


def best(
    call: Callable[[Any], object], items: Sequence[Any], rounds: int, docs: int | None = None
) -> float:
    """Microseconds a Doc, the least of several rounds. An item is a Doc; of so many `docs`, it is a
    round."""
    if docs is not None:
        return min(seconds(lambda item=item: call(item)) for item in items) / docs * 1e6
    return min(seconds(lambda: list(map(call, items))) for _ in range(rounds)) / len(items) * 1e6


def main(
    data: Annotated[Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/.")],
    model: Annotated[str, typer.Option(help="Name or folder of a bundle.")] = "sentiment",
    docs: Annotated[int, typer.Option(min=1000)] = 50_000,
    threads: Annotated[int, typer.Option(min=2)] = 2,
    processes: Annotated[int, typer.Option(min=2)] = 2,
    batch_size: Annotated[list[int] | None, typer.Option(help="Of nlp.pipe.")] = None,
    rounds: Annotated[int, typer.Option(min=1)] = 3,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Measure Docs a second by threads and by processes."""
    texts, one = texts_of(data, docs), pipeline(model=model, threads=1)
    ways = {
        ONE: (one, 1),
        f"{threads} threads": (pipeline(model=model, threads=threads), 1),
        f"n_process={processes}": (one, processes),
        f"n_process={processes}, no tree_sentiment": (pipeline(), processes),
    }
    rows = [row for size in batch_size or [256, 1000] for row in scale(texts, ways, size, rounds)]
    result = {"docs": docs, "ways": rows, "crossing": crossing(one, texts[:CROSSING], rounds)}
    if as_json:
        Console().print_json(json.dumps(result))
    else:
        show(Console(), result)


def show(console: Console, result: dict[str, Any]) -> None:
    """The figures as tables."""
    table = Table("", "batch_size", "Docs/s", "times 1 thread", title=f"{result['docs']:,} Docs")
    for row in result["ways"]:
        speed, times = f"{row['docs_per_s']:,.0f}", f"{row['times_one_thread']:.2f}"
        table.add_row(row["way"], str(row["batch_size"]), speed, times)
    console.print(table)
    columns = ("pipeline", "to_bytes", "from_bytes", "bytes")
    table = Table("", *columns, title="us a Doc, one thread")
    for name, costs in result["crossing"].items():
        table.add_row(name, *(f"{costs[key]:,.0f}" if key in costs else "" for key in columns))
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
