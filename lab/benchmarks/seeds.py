"""Measures the seeds of one recipe: on the suites, on texts of several fields, and on words and
changes that should not matter.

    python lab/benchmarks/seeds.py NAME 1=BUNDLE 2=BUNDLE 3=BUNDLE --data DATA
        --out lab/results/seeds.json

Puts the figures in the file, under the name and the seeds. *Suites* are reported halves, in
percent. *Texts*: accuracy on SST's dev.txt and F1 of the trees, as on the cards; the best cuts of
`beside.py`; and the right ones of 60 everyday sentences. *Changed*: the shares of
`steady_words.py`, in percent.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from beside import figures, known_sets
from beside_rivals import bundle
from rich.console import Console
from steady_words import measure, scorer
from suites import figures_of, of_bundle

from thinstack.bundle import open_bundle
from thinstack.data.trees.treebank import read_labelled
from thinstack.text.raw_text import detokenize

SENTENCES = 300
"""The sentences of dev.txt that are changed."""


def figures_of_bundle(path: str, data: Path) -> dict[str, dict[str, float]]:
    """The figures of one seed."""
    card: dict[str, Any] = open_bundle(path).manifest.metrics["development"]
    suites = figures_of(of_bundle(path), "reported")
    texts = {
        "film, five classes": card["text"]["root_accuracy"],
        "film, binary": card["text"]["root_binary_accuracy"],
        "calibration error": card["text"]["root_calibration_error"],
        "F1 of trees": card["auto"]["span_f1"],
    }
    _, *fields = known_sets(data)
    texts |= {field.name: figures(bundle("", path), field)["cut"] for field in fields}
    treebank = read_labelled(data / "sst/dev.txt", tuple("01234"))[:SENTENCES]
    steady = measure(scorer(path), [detokenize(tree.words) for tree, _ in treebank])
    texts["everyday sentences"] = steady["everyday"]["right"]
    return {
        "suites": {name: suite["accuracy"] for name, suite in suites.items()},
        "texts": {name: round(value, 2) for name, value in texts.items()},
        "changed": {name: round(100 * share, 2) for name, share in steady["shares"].items()},
    }


def main(
    name: Annotated[str, typer.Argument(help="The recipe.")],
    seeds: Annotated[list[str], typer.Argument(help="SEED=BUNDLE.")],
    data: Annotated[Path, typer.Option(help="Folder that holds sst/ and domains/.")],
    out: Annotated[Path, typer.Option(help="A JSON file, which keeps other recipes.")],
) -> None:
    """Measure the seeds of one recipe."""
    report = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    bundles = dict(seed.split("=", 1) for seed in seeds)
    report[name] = {seed: figures_of_bundle(path, data) for seed, path in bundles.items()}
    Console().print_json(data=report[name])
    out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
