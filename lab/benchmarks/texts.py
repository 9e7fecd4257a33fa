"""What `thinstack train TABLE` makes of texts and labels, by its defaults, beside rivals.

    python lab/benchmarks/texts.py --data FOLDER --out FOLDER [--only NAME ...] [--markdown FILE]

Tables are made of TREC's questions and of SST's sentences, detokenised. Each is trained with three
seeds, from the bundled model and from word vectors alone, by the command line as a user calls it.
Rivals: TF-IDF and logistic regression (the command prints it), and spaCy's `textcat` ensemble by
`spacy train` with spaCy's own defaults, stopped early by the very texts that are reported on, which
flatters it. Runs that are there already are not made again.
"""

import csv
import json
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Annotated, Any, Final

import numpy as np
import typer
from rich.console import Console

from thinstack.data.trees.treebank import read_trees
from thinstack.text.raw_text import detokenize

if TYPE_CHECKING:
    from spacy.language import Language

Rows = list[tuple[str, str]]

SEEDS: Final = (1, 2, 3)
ASIDE: Final = 500
"""Questions of TREC that are reported on: evenly spread over its training file."""
NAMES: Final = ("very negative", "negative", "neutral", "positive", "very positive")

console = Console()


def questions(data: Path) -> tuple[Rows, Rows]:
    lines = (data / "trec/trec_train.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [(found["sentence"], found["label"]) for found in map(json.loads, lines)]
    aside = set((np.arange(ASIDE) * len(rows) // ASIDE).tolist())
    parts: tuple[Rows, Rows] = [], []
    for place, row in enumerate(rows):
        parts[place in aside].append(row)
    return parts


def sentences(data: Path, *, binary: bool) -> tuple[Rows, Rows]:
    parts: list[Rows] = []
    for part in ("train", "dev"):
        trees = read_trees(data / f"sst/{part}.txt")
        rows = [(detokenize(tree.words), int(tree.labels[tree.root] or 2)) for tree in trees]
        if binary:
            named = [
                (text, "negative" if label < 2 else "positive")
                for text, label in rows
                if label != 2
            ]
        else:
            named = [(text, NAMES[label]) for text, label in rows]
        parts.append(named)
    return parts[0], parts[1]


def some(rows: Rows, count: int, seed: int) -> Rows:
    return [rows[place] for place in np.random.default_rng(seed).permutation(len(rows))[:count]]


def tables(data: Path, name: str, seed: int) -> tuple[Rows, Rows]:
    """What is trained and reported on; small tables are drawn anew for each seed."""
    if name.startswith("trec"):
        train, dev = questions(data)
    else:
        train, dev = sentences(data, binary=name.startswith("sst-binary"))
    count = name.rpartition("-")[2]
    return (some(train, int(count), seed) if count.isdigit() else train), dev


TABLES: Final = {
    "trec": ("sentiment", "none"),
    "trec-600": ("sentiment", "none"),
    "sst": ("none",),
    "sst-binary-500": ("none",),
}
"""Tables, and where learning starts."""


def write(rows: Rows, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])


def run(*command: object) -> float:
    """Seconds that a command of Python's took; what it prints is printed if it fails."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout[-3000:] + done.stderr[-3000:])
    return time.perf_counter() - start


def ours(folder: Path, init: str, seed: int) -> list[dict[str, Any]]:
    """The figures of a run, and those of the plain rival beside it."""
    out = folder / f"from-{init}"
    seconds = run(
        "-m", "thinstack", "train", folder / "train.csv", "--dev", folder / "dev.csv",
        "--out", out, "--init", init, "--seed", seed,
    )  # fmt: skip
    results = json.loads((out / "results.json").read_text())
    (figures,) = results["seeds"][str(seed)]["dev"].values()
    ((name, rival),) = results["rival"].items()
    return [
        {"what": f"thinstack train, from {init}", "seconds": seconds, **figures},
        {"what": name, "seconds": None, **rival},
    ]


def textcat(folder: Path, seed: int, parts: dict[str, Rows]) -> dict[str, Any]:
    """The figures of spaCy's ensemble."""
    labels = sorted({label for _, label in parts["train"]})
    best, seconds = learn_textcat(folder, seed, parts)
    found = [doc.cats for doc in best.pipe(text for text, _ in parts["dev"])]
    gold = [label for _, label in parts["dev"]]
    right = [
        max(cats, key=cats.__getitem__) == label for cats, label in zip(found, gold, strict=True)
    ]
    row = {"what": "spaCy textcat ensemble", "seconds": seconds, "accuracy": 100 * fmean(right)}
    if set(NAMES) <= set(labels):
        sides = [
            (sum(cats[one] for one in NAMES[3:]) > sum(cats[one] for one in NAMES[:2]))
            == (label in NAMES[3:])
            for cats, label in zip(found, gold, strict=True)
            if label != "neutral"
        ]
        row["binary_accuracy"] = 100 * fmean(sides)
    return row


def learn_textcat(
    folder: Path, seed: int, parts: dict[str, Rows], *options: str, ensemble: bool = True
) -> "tuple[Language, float]":
    """spaCy's ensemble, or its bag of words, learnt from the rows "train" and stopped by the rows
    "dev", and the seconds that `spacy train` took; `options` go to it."""
    import spacy
    from spacy.tokens import DocBin

    nlp = spacy.blank("en")
    labels = sorted({label for _, label in parts["train"]})
    for name, rows in parts.items():
        docs = DocBin(store_user_data=True)
        for text, label in rows:
            doc = nlp.make_doc(text)
            doc.cats = {one: float(one == label) for one in labels}
            docs.add(doc)
        docs.to_disk(folder / f"{name}.spacy")
    config, out = folder / "textcat.cfg", folder / "textcat"
    goal = "accuracy" if ensemble else "efficiency"
    run("-m", "spacy", "init", "config", config, "-p", "textcat", "-o", goal, "-F")
    no_vectors = ("--components.tok2vec.model.embed.include_static_vectors", "false")
    seconds = run(
        "-m", "spacy", "train", config, "-o", out, "--training.seed", seed,
        "--paths.train", folder / "train.spacy", "--paths.dev", folder / "dev.spacy",
        "--paths.vectors", "null",  # which spaCy would download
        *(no_vectors if ensemble else ()), *options,
    )  # fmt: skip
    return spacy.load(out / "model-best"), seconds


def measured(data: Path, out: Path, name: str, seed: int, rivals: bool) -> list[dict[str, Any]]:
    folder = out / name / str(seed)
    train, dev = tables(data, name, seed)
    parts = {"train": train, "dev": dev}
    for part, rows in parts.items():
        write(rows, folder / f"{part}.csv")
    found: dict[str, dict[str, Any]] = {}
    kept = folder / "figures.json"
    if kept.is_file():
        found = json.loads(kept.read_text())
    for init in TABLES[name]:
        if f"thinstack train, from {init}" not in found:
            found |= {row["what"]: row for row in ours(folder, init, seed)}
            kept.write_text(json.dumps(found))
    if rivals and "spaCy textcat ensemble" not in found:
        row = textcat(folder, seed, parts)
        found[row["what"]] = row
        kept.write_text(json.dumps(found))
    return list(found.values())


def shown(rows: Iterable[dict[str, Any]], key: str) -> str:
    values = [row[key] for row in rows if row.get(key) is not None]
    if not values:
        return "-"
    return f"{fmean(values):.1f} ± {stdev(values) if len(values) > 1 else 0:.1f}"


def main(
    data: Annotated[Path, typer.Option(envvar="THINSTACK_DATA", help="Folder with trec/, sst/.")],
    out: Annotated[Path, typer.Option(help="Folder of the runs.")],
    only: Annotated[list[str] | None, typer.Option(help="Names of tables.")] = None,
    seed: Annotated[list[int] | None, typer.Option(help="Seeds.  [default: 1, 2, 3]")] = None,
    rivals: Annotated[bool, typer.Option(help="Train spaCy's ensemble too.")] = True,
    markdown: Annotated[
        Path | None, typer.Option(help="File that the table is written to.")
    ] = None,
) -> None:
    """Train on every table, and print accuracies: mean and deviation over seeds."""
    lines = [
        "| table | model | accuracy | macro F1 | binary | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for name in only or TABLES:
        rows = [row for one in seed or SEEDS for row in measured(data, out, name, one, rivals)]
        for what in dict.fromkeys(row["what"] for row in rows):
            same = [row for row in rows if row["what"] == what]
            cells = (
                shown(same, key) for key in ("accuracy", "macro_f1", "binary_accuracy", "seconds")
            )
            lines.append(f"| {name} | {what} | {' | '.join(cells)} |")
            console.print(lines[-1])
    if markdown is not None:
        markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
