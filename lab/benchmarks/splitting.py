"""Speed of the runtime's splitter, raw text to sentences of treebank words, against spaCy's
tokeniser and sentencizer with the same treebank conventions; and how its time grows with hostile
texts.

    python lab/benchmarks/splitting.py --data FOLDER [--rounds 20] [--json]

Texts are SST's training sentences, detokenised. Trust the ratios only.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Annotated

import spacy
import typer
from rich.console import Console
from timing import interleaved, ratio, sst_trees

from thinstack.integrations.spacy.splitter import sentences_of
from thinstack.text.english import EnglishSplitter
from thinstack.text.raw_text import detokenize

TEXTS, WORDS = 1000, 20
LENGTH = 50_000
HOSTILE = [".", '"', "'", "a.", "1", "1,", " ", "a", "n", "na", "n't", "a-", "a'", "(", ".)", "! "]
HOSTILE += [". . ", ".:(", ":((", "-_", "--", "- ", "\n", "\n ", "\r", "www.", "http://", "@", "a@"]
HOSTILE += ["Mr. ", "No. ", "…", "é", "😀\u200d", "cannot", "etc. -", "A. ", ". --"]
MOST = 8  # times the time for four times the text


def growth(unit: str) -> tuple[float, float]:
    """CPU seconds over a text of four times LENGTH characters, and how many times those over LENGTH
    they are."""
    seconds = []
    for length in (LENGTH, 4 * LENGTH):
        text = f"b. {unit * (length // len(unit))}b"
        runs = []
        for _ in range(3):
            start = process_time()
            list(EnglishSplitter()([text]))
            runs.append(process_time() - start)
        seconds.append(min(runs))
    return seconds[1], seconds[1] / seconds[0]


def main(
    data: Annotated[Path, typer.Option(envvar="THINSTACK_DATA")],
    rounds: Annotated[int, typer.Option()] = 20,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    trees = sst_trees(data)[:TEXTS]
    texts = [detokenize(tree.words) for tree in trees]
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")

    def by_spacy(texts: Iterable[str]) -> None:
        for doc in nlp.pipe(texts):
            sentences_of(doc)

    subjects = {
        "thinstack": lambda _: list(EnglishSplitter()(texts)),
        "spaCy": lambda _: by_spacy(texts),
    }
    seconds = interleaved(subjects, rounds)
    scale = 1e6 * WORDS / sum(len(tree.words) for tree in trees)
    figures = {name: round(median(runs) * scale, 1) for name, runs in seconds.items()}
    grown = {unit: growth(unit) for unit in HOSTILE}
    worst = max(grown, key=lambda unit: grown[unit][1])
    slowest = max(grown, key=lambda unit: grown[unit][0])
    result = {
        "microseconds_of_20_words": figures,
        "ratio": round(ratio(seconds["thinstack"], seconds["spaCy"]), 3),
        "four_times_the_text": [worst, round(grown[worst][1], 2)],
        "slowest_long_text": [slowest, round(grown[slowest][0], 2)],
    }
    console = Console()
    if as_json:
        console.print_json(json.dumps(result))
        return
    for name, value in figures.items():
        console.print(f"{name}: {value} us for {WORDS} words")
    console.print(f"thinstack over spaCy: {result['ratio']}")
    verdict = "linear" if grown[worst][1] <= MOST else "NOT LINEAR"
    console.print(
        f"hostile texts, four times as long: at most {grown[worst][1]:.1f} times the time"
    )
    console.print(f"({worst!r}): {verdict}; {4 * LENGTH:,} characters take at most", end=" ")
    console.print(f"{grown[slowest][0]:.2f} s ({slowest!r})")


if __name__ == "__main__":
    typer.run(main)
