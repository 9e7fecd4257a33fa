"""Speed and memory of the spaCy component over SST's dev sentences as running text.

    python benchmarks/spacy_component.py --data FOLDER [--model sst] [--threads 2] [--processes 1]
    [--docs 100000] [--json]

The sentences are detokenised and go through spaCy's tokenizer; a sentencizer is the only other
component. The pipelines with and without `tree_sentiment` take turns, round after round. `--docs`
then runs so many documents and reports how memory grows. torch is kept out, as if it were not
installed: spaCy would import it, though nothing here uses it.
"""

import json
import os
import sys
import time
from collections.abc import Iterable
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Annotated, Any

sys.modules["torch"] = None  # type: ignore[assignment]

import spacy
import typer
from rich.console import Console
from rich.table import Table
from spacy.language import Language

from thinstack.data.raw_text import detokenize
from thinstack.data.treebank import read_trees


def pipeline(**settings: Any) -> Language:
    """A sentencizer and, if it has settings, the component."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    if settings:
        nlp.add_pipe("tree_sentiment", config=settings)
    return nlp


def seconds(nlp: Language, texts: Iterable[str], **settings: int) -> float:
    """How long the pipeline takes over the texts; nothing is kept."""
    start = time.perf_counter()
    for _ in nlp.pipe(texts, **settings):
        pass
    return time.perf_counter() - start


def resident_mb() -> float:
    """Memory of this process in MB (10^6 bytes), as Linux tells it."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def growth(nlp: Language, texts: list[str], docs: int, **settings: int) -> list[tuple[int, float]]:
    """Resident MB after each tenth of so many documents."""
    endless, found, done = cycle(texts), [], 0
    for tenth in range(1, 11):
        seconds(nlp, islice(endless, docs * tenth // 10 - done), **settings)
        done = docs * tenth // 10
        found.append((done, resident_mb()))
    return found


def main(
    data: Annotated[Path, typer.Option(help="Folder that holds sst/dev.txt.")],
    model: Annotated[str, typer.Option(help="Name or folder of a bundle.")] = "sst",
    threads: Annotated[int, typer.Option(min=1)] = 2,
    processes: Annotated[int, typer.Option(min=1)] = 1,
    batch_size: Annotated[int, typer.Option(min=1)] = 256,
    rounds: Annotated[int, typer.Option(min=1)] = 7,
    docs: Annotated[
        int, typer.Option(min=0, help="Documents to run for the growth of memory.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Measure sentences a second in `nlp.pipe`, and resident memory."""
    texts = [detokenize(tree.words) for tree in read_trees(data / "sst" / "dev.txt")]
    before = resident_mb()
    plain, full = pipeline(), pipeline(model=model, threads=threads)
    sentences = sum(len(list(doc.sents)) for doc in plain.pipe(texts))
    settings = {"batch_size": batch_size, "n_process": processes}
    runs = {"without tree_sentiment": plain, "with tree_sentiment": full}
    for nlp in runs.values():
        seconds(nlp, texts, **settings)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, nlp in runs.items():
            times[name].append(seconds(nlp, texts, **settings))
    result = {
        "model": model,
        "threads": threads,
        "processes": processes,
        "batch_size": batch_size,
        "documents": len(texts),
        "sentences": sentences,
        "sentences_per_s": {name: sentences / median(found) for name, found in times.items()},
        "resident_mb": {"spacy": before, "all": resident_mb()},
        "growth": growth(full, texts, docs, **settings) if docs else [],
    }
    console = Console()
    if as_json:
        console.print_json(json.dumps(result))
    else:
        show(console, result, times)


def show(console: Console, result: dict[str, Any], times: dict[str, list[float]]) -> None:
    """The figures as tables."""
    table = Table(
        "pipeline",
        "sentences/s",
        "slowest and fastest round",
        title=f"{result['sentences']} sentences of SST dev",
    )
    for name, speed in result["sentences_per_s"].items():
        low, high = result["sentences"] / max(times[name]), result["sentences"] / min(times[name])
        table.add_row(name, f"{speed:,.0f}", f"{low:,.0f} to {high:,.0f}")
    console.print(table)
    memory = result["resident_mb"]
    console.print(
        f"resident: {memory['all']:.0f} MB in all, of which {memory['spacy']:.0f} before the "
        "pipelines were made"
    )
    for done, resident in result["growth"]:
        console.print(f"after {done:,} documents: {resident:.1f} MB")


if __name__ == "__main__":
    typer.run(main)
