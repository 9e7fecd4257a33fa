"""What a corpus costs on machines that are not here: seconds and money, from measured constants.

    python lab/benchmarks/corpus_costs.py [--sentences 1e9] [--rate 3700] [--start 1.4]
    [--engine 0.83] [--task 10000] [--longest 16777216] [--dollars 0.04]
    [--cores 2 --cores 64 ...] [--json]

Nothing is measured here; docs/corpora.md says where the constants come from. A run takes

    start + sentences / (cores x rate x engine) + task / (rate x engine)

seconds: the start of the workers, which load the model each; the work, shared by all cores; and the
last task, for which the others may wait. Where one text is longer than a task, it is the last task:
it takes `longest` characters / `CHARACTERS` a sentence as if they were sentences.
"""

import json
from typing import Annotated, Final, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

CHARACTERS: Final = 102
"""Of a sentence of SST, as running text, on average."""


class Cost(NamedTuple):
    """Of one number of cores: seconds, the share of them that is work, and dollars."""

    cores: int
    seconds: float
    busy: float
    dollars: float
    seconds_with_long_text: float


def cost(
    cores: int,
    *,
    sentences: float,
    rate: float,
    start: float,
    engine: float,
    task: float,
    longest: float,
    dollars: float,
) -> Cost:
    """What `sentences` cost on so many cores, which all are paid until the last one ends."""
    work = sentences / (cores * rate * engine)
    seconds = start + work + task / (rate * engine)
    last = max(task, longest / CHARACTERS) / (rate * engine)
    price = seconds * cores / 3600 * dollars
    return Cost(cores, seconds, work / seconds, price, start + work + last)


def main(
    sentences: Annotated[float, typer.Option(help="Of the corpus.")] = 1e9,
    rate: Annotated[float, typer.Option(help="Sentences a second of one core.")] = 3700,
    start: Annotated[float, typer.Option(help="Seconds until a worker has the model.")] = 1.4,
    engine: Annotated[float, typer.Option(help="Share of a core's time that scores.")] = 0.83,
    task: Annotated[float, typer.Option(help="Sentences of a task.")] = 10_000,
    longest: Annotated[float, typer.Option(help="Characters of the longest text.")] = 1 << 24,
    dollars: Annotated[float, typer.Option(help="For one core, an hour.")] = 0.04,
    cores: Annotated[list[int] | None, typer.Option(help="May be given again.")] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Print what a corpus costs by the number of cores."""
    constants = {
        "sentences": sentences, "rate": rate, "start": start, "engine": engine, "task": task,
        "longest": longest, "dollars": dollars,
    }  # fmt: skip
    found = [cost(count, **constants) for count in cores or [2, 16, 64, 256, 1024, 4096]]
    if as_json:
        Console().print_json(json.dumps([row._asdict() for row in found]))
        return
    table = Table("cores", "hours", "busy", "dollars", "hours with the longest text at the end")
    for row in found:
        hours, late = row.seconds / 3600, row.seconds_with_long_text / 3600
        cells = f"{hours:.2f}", f"{row.busy:.0%}", f"{row.dollars:.2f}", f"{late:.2f}"
        table.add_row(f"{row.cores:,}", *cells)
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
