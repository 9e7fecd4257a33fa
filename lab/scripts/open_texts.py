"""Writes the files of `recipes/sentiment-open*.toml`, whose terms allow commercial use:

    python lab/scripts/open_texts.py --data DATA --out DATA

`open-trees.txt` has the trees of SNLI's captions (CC BY-SA 4.0), neutral as a whole: they state
what is seen. `open-texts.txt` has sentences of DBpedia and WikiText-2 (CC BY-SA 3.0) without
labels.
"""

import argparse
import gzip
import json
import random
from pathlib import Path

from rich.console import Console

from thinstack.core import Tree
from thinstack.data.trees.brackets import from_brackets, to_brackets
from thinstack.errors import TreeError

TREES, MOST_WORDS = 9000, 40
SOURCES = ("dbpedia", "wiki")


def trees(path: Path) -> list[str]:
    """Trees with a neutral root and other labels unknown, "?"."""
    rows = [json.loads(line) for line in path.open(encoding="utf-8")]
    sides = [f"{side}_binary_parse" for side in ("sentence1", "sentence2")]
    parses = dict.fromkeys(row[side] for row in rows for side in sides)
    lines = []
    for parse in parses:
        try:
            tree = from_brackets(parse, labelled=False)
            steps = tree.transitions
        except TreeError:  # a few are not binary
            continue
        if 2 < len(tree.words) <= MOST_WORDS:
            labels = ["?"] * (len(tree) - 1) + ["2"]
            lines.append(to_brackets(Tree.from_transitions(steps, tree.words, labels)))
    random.Random(0).shuffle(lines)
    return lines[:TREES]


def texts(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        pairs = [line.rstrip("\n").split("\t", 1) for line in file]
    return [text for source, text in pairs if source in SOURCES]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    parts = {
        "open-trees.txt": trees(chosen.data / "snli/train.jsonl"),
        "open-texts.txt": texts(chosen.data / "text/sentences.tsv.gz"),
    }
    for name, lines in parts.items():
        (chosen.out / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        Console().print(f"{name}: {len(lines):,} lines")


if __name__ == "__main__":
    main()
