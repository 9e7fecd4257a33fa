"""Whether results and memory stay the same however much a process is asked.

    python lab/benchmarks/steadiness.py [--docs 100000] [--threads 32] [--runs 1000]
        [--models sst ...] [--json]

Three figures: by how much memory grows while one spaCy pipeline scores many Docs, after the first
tenth of them; how many results of many threads, which share one model, differ from those of one
thread; and how far scores of sentences differ when they are scored in batches or one by one. The
sentences are made of words of the model's vocabulary and of others, with a fixed seed.
"""

import gc
import json
import random
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer
from rich.console import Console

from thinstack import load
from thinstack.runtime.predictor import Predictor

WORDS = ("the", "film", "is", "not", "bad", "at", "all", ",", "though", "its", "long", "plot")
WORDS += ("never", "quite", "works", "zyzzyva", ".", "!")
MEGABYTE: Final = 1e6
Sentences = list[list[str]]


def sentences(count: int, seed: int = 0, most: int = 40) -> Sentences:
    """So many sentences of 1 to `most` words."""
    rng = random.Random(seed)
    return [rng.choices(WORDS, k=rng.randint(1, most)) for _ in range(count)]


def held_mb() -> float:
    """Memory of this process in MB (10^6 bytes), as Linux tells it."""
    gc.collect()
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.split("VmRSS:")[1].split()[0]) * 1024 / MEGABYTE


def growth(docs: int, model: str = "sentiment") -> dict[str, float]:
    """Memory after a tenth of the Docs and at the end. Every text is another one."""
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tree_sentiment", config={"model": model, "threads": 1})
    rng = random.Random(0)

    def texts(first: int, last: int) -> Iterator[str]:
        for number in range(first, last):
            yield f"{' '.join(rng.choices(WORDS, k=12))} number{number % 1000}."

    def run(first: int, last: int) -> float:
        for _ in nlp.pipe(texts(first, last), batch_size=256):
            pass
        return held_mb()

    start, end = run(0, docs // 10), run(docs // 10, docs)
    return {"docs": docs, "start_mb": start, "end_mb": end, "growth": end / start - 1}


def same(first: Any, second: Any) -> bool:
    """Whether two predictions are equal, bit for bit."""
    return bool(
        first.transitions.tobytes() == second.transitions.tobytes()
        and first.node_scores.tobytes() == second.node_scores.tobytes()
    )


def threads_differ(threads: int, runs: int, model: str = "sentiment") -> int:
    """How many results of threads that share a predictor differ from those of one thread. Each run
    is of two sentences, and every thread has them in another order."""
    predictor = load(model, threads=1, isolated=False)
    asked = [sentences(2, seed=number, most=12) for number in range(runs)]
    expected = [predictor.predict(one) for one in asked]
    wrong: list[int] = []

    def work(shift: int) -> None:
        bad = 0
        for step in range(runs):
            place = (step + shift * 31) % runs
            found = predictor.predict(asked[place])
            bad += not all(map(same, found, expected[place]))
        wrong.append(bad)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(wrong) if len(wrong) == threads else threads * runs


def batched(predictor: Predictor, given: Sequence[Sequence[str]]) -> dict[str, float]:
    """Sentences one by one and all together: how many trees, labels and scores differ."""
    lone = [predictor.predict([one])[0] for one in given]
    whole = predictor.predict(given)
    pairs = list(zip(lone, whole, strict=True))
    trees = [one.transitions.tobytes() != two.transitions.tobytes() for one, two in pairs]
    alike = [pair for pair, other in zip(pairs, trees, strict=True) if not other]
    apart = [float(np.abs(one.node_scores - two.node_scores).max()) for one, two in alike]
    return {
        "sentences": len(given),
        "not_bitwise": sum(not same(*pair) for pair in pairs),
        "trees": sum(trees),
        "labels": sum((one.label_ids != two.label_ids).any() for one, two in alike),
        "largest": max(apart, default=0.0),
    }


def main(
    docs: Annotated[int, typer.Option(help="0: leave this out.")] = 100_000,
    threads: Annotated[int, typer.Option(help="0: leave this out.")] = 32,
    runs: Annotated[int, typer.Option(help="Of each thread.")] = 1_000,
    models: Annotated[list[str] | None, typer.Option(help="For lone and batched.")] = None,
    count: Annotated[int, typer.Option(help="Sentences, lone and batched.")] = 2_000,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Measure whether results and memory stay the same."""
    found: dict[str, Any] = {}
    if docs:
        found["docs"] = growth(docs)
    if threads:
        wrong = threads_differ(threads, runs)
        found["threads"] = {"threads": threads, "runs": runs, "different": wrong}
    for model in models or ["sentiment"]:
        found[f"lone and batched, {model}"] = batched(
            load(model, threads=1, isolated=False), sentences(count)
        )
    text = json.dumps(found, default=float)
    sys.stdout.write(f"{text}\n") if as_json else Console().print_json(text)


if __name__ == "__main__":
    typer.run(main)
