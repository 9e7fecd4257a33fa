"""How well categories that are named by three examples each (`thinstack.Category`) are found: the
categories of restaurants of SemEval-2014 task 4 (Pontiki et al. 2014), in percent.

    python lab/benchmarks/categories.py --data FOLDER --out lab/results/categories.md

The examples were written once, before any text was scored. A fifth of the texts, which `sha256`
draws, chose the threshold; the others are reported on. No model was trained on these categories.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer
from numpy.typing import NDArray

import thinstack
from thinstack.runtime.categories import THRESHOLD

EXAMPLES: Final = {
    "food": ["the food was delicious", "tasty dishes", "the pizza was cold"],
    "service": ["our waiter was rude", "friendly staff", "slow service"],
    "price": ["overpriced", "pay extra", "cheap"],
    "ambience": ["a cozy atmosphere", "a noisy room", "nice decor"],
    "anecdotes/miscellaneous": ["I went there last week", "we will come back", "a great place"],
}
GRID: Final = [round(0.3 + 0.02 * step, 2) for step in range(16)]
_LOW: Final = 0.01  # so every category is found, with its similarity

Bools = NDArray[np.bool_]


def similarities(model: thinstack.Predictor, texts: Sequence[str]) -> NDArray[np.float64]:
    """How similar each text is to each category, (T, K)."""
    categories = [thinstack.Category(name, some, _LOW) for name, some in EXAMPLES.items()]
    rows = np.zeros((len(texts), len(categories)))
    places = {name: place for place, name in enumerate(EXAMPLES)}
    for row, result in zip(rows, model.stream(texts), strict=True):
        for aspect in result.about(*categories):
            place = places[str(aspect.asked)]
            row[place] = max(row[place], aspect.probability)
    return rows


def micro_f1(found: Bools, gold: Bools) -> float:
    """In percent, over all texts and categories."""
    return float(200 * (found & gold).sum() / (found.sum() + gold.sum()))


def row(name: str, found: Bools, gold: Bools) -> str:
    """A row of the page: over all, and by category."""
    parts = [micro_f1(found[:, place], gold[:, place]) for place in range(gold.shape[1])]
    return f"| {name} | {' | '.join(f'{value:.1f}' for value in (micro_f1(found, gold), *parts))} |"


def page(rows: Sequence[Mapping[str, Any]], model: thinstack.Predictor) -> str:
    """The page, by rows with `text` and `categories`."""
    texts = [row["text"] for row in rows]
    names = [{one["category"] for one in row["categories"]} for row in rows]
    gold = np.array([[name in own for name in EXAMPLES] for own in names])
    digests = [hashlib.sha256(text.encode()).digest() for text in texts]
    chooses = np.array([int.from_bytes(digest, "big") % 5 == 0 for digest in digests])
    scores = similarities(model, texts)
    best = max(GRID, key=lambda least: micro_f1(scores[chooses] >= least, gold[chooses]))
    rest, scores = gold[~chooses], scores[~chooses]
    most = np.zeros_like(rest)
    most[:, 0] = True
    no_other = scores >= THRESHOLD
    no_other[:, -1] = ~no_other[:, :-1].any(axis=1)
    about = (
        f"F1 in percent, by the model `vectors`, on {len(rest):,} sentences about restaurants with "
        f"{rest.sum():,} categories; {chooses.sum()} others chose the threshold {best:.2f} (the "
        f"default is {THRESHOLD:.2f}).\nWritten by `lab/benchmarks/categories.py`."
    )
    lines = [
        "# Categories by three examples each",
        "",
        about,
        "",
        f"| | micro-F1 | {' | '.join(EXAMPLES)} |",
        f"|---|---|{'---|' * len(EXAMPLES)}",
        row("by examples, one threshold", scores >= THRESHOLD, rest),
        row("the same; the last category where no other is found", no_other, rest),
        row("always `food`, the most frequent", most, rest),
    ]
    return "\n".join(lines) + "\n"


def main(
    data: Annotated[Path, typer.Option(help="Folder that holds domains/.")],
    out: Annotated[Path | None, typer.Option(help="File for the page.")] = None,
) -> None:
    """Measure, and write the page."""
    file = data / "domains/categories-restaurants.jsonl"
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    text = page(rows, thinstack.load("vectors"))
    if out is None:
        typer.echo(text)
    else:
        out.write_text(text, "utf-8")


if __name__ == "__main__":
    typer.run(main)
