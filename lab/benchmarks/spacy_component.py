"""Speed and memory of the spaCy component over SST's dev sentences as running text, against spaCy's
own text classifier.

    python lab/benchmarks/spacy_component.py --data FOLDER [--model sentiment] [--threads 1]
    [--processes 1] [--docs 100000] [--json]

The sentences are detokenised and go through spaCy's tokenizer; a sentencizer is the only other
component beside `tree_sentiment`. The rival is a `textcat` with the ensemble that is spaCy's
default; it is not trained, for its weights do not change its speed. The pipelines take turns, round
after round, at each batch size: `nlp.pipe(texts, batch_size=...)`, or `nlp(text)` for 1. Trust the
ratios only. `--docs` then runs so many documents and reports how memory grows. torch is kept out,
as if it were not installed: spaCy would import it, though nothing here uses it.
"""

import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
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
from spacy.training import Example

from thinstack.data.trees.treebank import read_trees
from thinstack.text.raw_text import detokenize

PLAIN, OURS, RIVAL = "tokenizer and sentencizer", "tree_sentiment", "textcat ensemble"
BATCHES = (1, 8, 64, 256)
# Batch size: times the rival's sentences a second that the project set out to reach.
TARGETS = {1: 1.5, 64: 1.5}


def pipeline(**settings: Any) -> Language:
    """A sentencizer and, if it has settings, the component."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    if settings:
        nlp.add_pipe("tree_sentiment", config=settings)
    return nlp


def rival(texts: Sequence[str]) -> Language:
    """spaCy's classifier of five classes, with the vocabulary of these texts and random weights."""
    nlp = spacy.blank("en")
    nlp.add_pipe("textcat")
    labels = [dict.fromkeys("01234", 0.0) | {str(number): 1.0} for number in range(5)]
    pairs = zip(texts, cycle(labels), strict=False)
    examples = [Example.from_dict(nlp.make_doc(text), {"cats": cats}) for text, cats in pairs]
    nlp.initialize(lambda: examples)
    return nlp


def seconds(nlp: Language, texts: Iterable[str], *, batch_size: int, n_process: int) -> float:
    """How long the pipeline takes over the texts; nothing is kept."""
    start = time.perf_counter()
    if batch_size == n_process == 1:
        for text in texts:
            nlp(text)
    else:
        for _ in nlp.pipe(texts, batch_size=batch_size, n_process=n_process):
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
    model: Annotated[str, typer.Option(help="Name or folder of a bundle.")] = "sentiment",
    threads: Annotated[int, typer.Option(min=1)] = 1,
    processes: Annotated[int, typer.Option(min=1)] = 1,
    rounds: Annotated[int, typer.Option(min=1)] = 7,
    docs: Annotated[
        int, typer.Option(min=0, help="Documents to run for the growth of memory.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Measure sentences a second, and resident memory."""
    texts = [detokenize(tree.words) for tree in read_trees(data / "sst" / "dev.txt")]
    before = resident_mb()
    plain, ours = pipeline(), pipeline(model=model, threads=threads)
    sentences = sum(len(list(doc.sents)) for doc in plain.pipe(texts))
    settings = {"batch_size": BATCHES[-1], "n_process": processes}
    seconds(ours, texts, **settings)
    resident = {"spacy": before, "all": resident_mb()}
    grown = growth(ours, texts, docs, **settings) if docs else []
    runs = {PLAIN: plain, OURS: ours, RIVAL: rival(texts)}
    speeds = []
    for batch in BATCHES:
        times: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(rounds + 1):
            for name, nlp in runs.items():
                times[name].append(seconds(nlp, texts, batch_size=batch, n_process=processes))
        times = {name: found[1:] for name, found in times.items()}  # the first is to warm up
        ratios = [slow / fast for slow, fast in zip(times[RIVAL], times[OURS], strict=True)]
        speed = {name: sentences / median(found) for name, found in times.items()}
        speeds.append({"batch": batch, "sentences_per_s": speed, "ratio": median(ratios)})
    result = {
        "model": model,
        "threads": threads,
        "processes": processes,
        "documents": len(texts),
        "sentences": sentences,
        "speeds": speeds,
        "resident_mb": resident,
        "growth": grown,
    }
    console = Console()
    if as_json:
        console.print_json(json.dumps(result))
    else:
        show(console, result)


def show(console: Console, result: dict[str, Any]) -> None:
    """The figures as tables."""
    title = f"{result['sentences']} sentences of SST dev, {result['threads']} threads, sentences/s"
    columns = ("batch", PLAIN, RIVAL, OURS, "times the rival", "target")
    table = Table(*columns, title=title)
    for found in result["speeds"]:
        speed, batch = found["sentences_per_s"], found["batch"]
        target = TARGETS.get(batch)
        verdict = "met" if target is not None and found["ratio"] >= target else "MISSED"
        table.add_row(
            str(batch),
            *(f"{speed[name]:,.0f}" for name in (PLAIN, RIVAL, OURS)),
            f"{found['ratio']:.2f}",
            "" if target is None else f"{target} {verdict}",
        )
    console.print(table)
    memory = result["resident_mb"]
    console.print(
        f"resident: {memory['all']:.0f} MB in all, of which {memory['spacy']:.0f} before the "
        "pipelines were made"
    )
    growth = result["growth"]
    for done, resident in growth[:: max(1, len(growth) - 1)]:  # the first and the last
        console.print(f"after {done:,} documents: {resident:.1f} MB")


if __name__ == "__main__":
    typer.run(main)
