"""Writes the texts that `recipes/vectors-start.toml`, `vectors-second.toml` and `vectors.toml`, one
after the other, learn from, as tables of one column:

    python lab/scripts/vector_texts.py --data DATA --out DATA

`vectors-start.jsonl` has 200,000 texts: sentences without labels, those of the training parts of
treebanks and tables, texts of two to four of them, sentences that are composed by templates, and
single words. `vectors-second.jsonl` has 80,000 of those that are left, 75,000 composed ones, and
the sentences of SST. `vectors-train.jsonl` has these, and all others, 445,000 texts.
`vectors-dev.jsonl` has a thousand sentences of the development part of the STS
benchmark.
"""

import argparse
import gzip
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from thinstack.data.tables.cell_text import is_missing
from thinstack.data.trees.treebank import Labelled, read_labelled
from thinstack.text.raw_text import detokenize
from thinstack.training.lesson import LabelledTree, Treebank
from thinstack_lab.lessons.composed import Composed

TABLES = (
    "customer-reviews",
    "amazon-rated",
    "alexa-reviews",
    "mpqa-phrases",
    "aspects-restaurants",
    "aspects-laptops",
    "categories-restaurants",
)
RECIPES = Path(__file__).parents[1] / "recipes"
JOINED = 0.12
"""Texts of several sentences, as a share of the sentences."""
COMPOSED = (2.0, 11.0)
"""Composed sentences of the two tables, as a share of those of SST."""
STARTING, FURTHER, FURTHER_COMPOSED = 200_000, 80_000, 75_000
MOST_DEV = 1000
LABELS = ("very negative", "negative", "neutral", "positive", "very positive")


def sources(data: Path) -> Iterator[list[str]]:
    """The texts of each source."""
    by_source = dict[str, list[str]]()
    with gzip.open(data / "text/sentences.tsv.gz", "rt", encoding="utf-8") as file:
        for line in file:
            source, text = line.rstrip("\n").split("\t", 1)
            by_source.setdefault(source, []).append(text)
    yield from by_source.values()
    treebank = read_labelled(data / "sst/train.txt", LABELS)
    yield [detokenize(tree.words) for tree, _ in treebank]
    yield composed(treebank, COMPOSED[0])
    rows = [json.loads(line) for line in (data / "snli/train.jsonl").open(encoding="utf-8")]
    yield [row[side] for row in rows for side in ("sentence1", "sentence2")]
    lines = (data / "sick/SICK_train.txt").read_text(encoding="utf-8").splitlines()[1:]
    yield [side for line in lines for side in line.split("\t")[1:3]]
    lines = (data / "ud_ewt/en_ewt-ud-train.conllu").read_text(encoding="utf-8").splitlines()
    yield [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
    rows = [json.loads(line) for line in (data / "trec/trec_train.jsonl").open(encoding="utf-8")]
    yield [row["sentence"] for row in rows]
    for name in TABLES:
        table = (data / "domains" / f"{name}.jsonl").open(encoding="utf-8")
        yield [detokenize(json.loads(line)["text"].split(" ")) for line in table]


def composed(treebank: Sequence[Labelled], share: float) -> list[str]:
    """Sentences of thinstack's templates, with words of the treebank among others."""
    lesson = Composed(share=share, sentences=True)
    trees = [LabelledTree(tree, labels) for tree, labels in treebank]
    known = Treebank(trees, len(LABELS), labels=LABELS, folders=[RECIPES])
    drawn = lesson.trees(known, np.random.default_rng(0))
    return [detokenize(tree.tree.words) for tree in drawn]


def words(data: Path) -> list[str]:
    """Whole words of the vocabulary."""
    pieces = (data / "encoders/all-minilm-l6-v2/vocab.txt").read_text(encoding="utf-8").split()
    return [piece for piece in pieces if piece.isascii() and piece.isalpha()]


def texts(data: Path) -> list[str]:
    """All texts, but those that mean a missing value in tables, such as the answer "None"."""
    draw, every = random.Random(0), dict[str, None]()
    for part in sources(data):
        some = list(dict.fromkeys(text.strip() for text in part if text.strip()))
        every |= dict.fromkeys(some)
        for _ in range(round(JOINED * len(some))):
            every[" ".join(draw.sample(some, draw.randint(2, 4)))] = None
    every |= dict.fromkeys(words(data))
    shuffled = [text for text in every if not is_missing(text)]
    draw.shuffle(shuffled)
    return shuffled


def further(data: Path, left: Sequence[str]) -> list[str]:
    """What is learnt after the start, from the texts that it has `left`."""
    draw, treebank = random.Random(1), read_labelled(data / "sst/train.txt", LABELS)
    more = list(dict.fromkeys(composed(treebank, COMPOSED[1])))
    draw.shuffle(more)
    rows = [*more[:FURTHER_COMPOSED], *left[:FURTHER]]
    rows = list(dict.fromkeys([*rows, *(detokenize(tree.words) for tree, _ in treebank)]))
    draw.shuffle(rows)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    rows = [json.loads(line) for line in (chosen.data / "sts/dev.jsonl").open(encoding="utf-8")]
    dev = list(dict.fromkeys(row[side] for row in rows for side in ("text_a", "text_b")))
    held = {text.lower() for text in dev}
    every = [text for text in texts(chosen.data) if text.lower() not in held]
    parts = {"start": every[:STARTING], "second": further(chosen.data, every[STARTING:])}
    parts["train"] = list(dict.fromkeys([*every, *parts["second"]]))
    random.Random(2).shuffle(parts["train"])
    parts["dev"] = dev[:: len(dev) // MOST_DEV][:MOST_DEV]
    for name, part in parts.items():
        lines = (json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in part)
        (chosen.out / f"vectors-{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        Console().print(f"vectors-{name}.jsonl: {len(part):,} texts")


if __name__ == "__main__":
    main()
