"""Measures `thinstack.themes`:

    python lab/benchmarks/themes.py --data DATA --out lab/results/themes.json

planted: tables of 2,000 reviews in which eight complaints are planted (`themes_planted.py`): the
share of each theme beside the true one, and whether its name or words have a word of the complaint.
stable: of 1,500 reviews, the adjusted Rand index of the clauses' groups with those that are found
in 90% of the rows, over clauses that are in a group both times.
categories: SemEval-2014's categories of restaurants as named themes, three examples each. A fifth
of the sentences chooses the threshold, the others are measured: micro-F1 over five categories.
speed: seconds of one core from 1,500 texts to themes, beside MiniLM's vectors of the same texts.
"""

import argparse
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd
from rich.console import Console
from themes_planted import SETS, Complaint, PlantedTable, planted_table

import thinstack
from thinstack.errors import LanguageWarning

IGNORED: Final = ("alexa", "echo", "dot", "spot", "show", "plus", "amazon")
REVIEWS: Final = 1500
REPEATS: Final = 8
SIDES: Final = {"complaints": -1, "praise": 1}
CATEGORIES: Final = {
    "food": ("delicious food", "the menu", "tasteless meal"),
    "service": ("friendly staff", "slow service", "rude waiter"),
    "price": ("overpriced", "good value", "cheap prices"),
    "ambience": ("nice atmosphere", "noisy room", "beautiful decor"),
    "anecdotes/miscellaneous": (
        *("I come here often", "my favorite restaurant", "recommend this place"),
    ),
}
CONSOLE: Final = Console()

Model = thinstack.Predictor


def planted(model: Model, table: PlantedTable, complaints: Sequence[Complaint]) -> list[Any]:
    """Of each complaint the true share, that of the theme that has most of its texts, how many of
    the theme's texts have the complaint, and whether it is named with a word of it."""
    frame = pd.DataFrame({"text": table.texts})
    themes = thinstack.themes(frame, model=model, ignore=IGNORED)
    complained = {theme.name for theme in themes if theme.side == "negative"}
    rows = [
        {match.theme for match in themes.of(row)} & complained for row in range(len(table.texts))
    ]
    figures = []
    for number, complaint in enumerate(complaints):
        has = [number in numbers for numbers in table.planted]
        counts = Counter(
            name for names, one in zip(rows, has, strict=True) if one for name in names
        )
        name = max(counts, key=lambda name: counts[name], default="")
        texts = sum(name in names for names in rows)
        words = {*themes[name].words, *name.lower().split()} if name else set()
        figures.append(
            {
                "complaint": complaint.words[0],
                "share": round(100 * table.share(number), 1),
                "theme": name,
                "words": themes[name].words if name else (),
                "found": round(100 * texts / len(rows), 1),
                "precision": round(100 * counts[name] / max(texts, 1)),
                "is_named": not words.isdisjoint(complaint.words),
            }
        )
    return figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", default="measured")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    warnings.simplefilter("ignore", LanguageWarning)
    model = thinstack.load("vectors", threads=1)
    table = planted_table(args.data, SETS[args.set], args.seed)
    for row in planted(model, table, SETS[args.set]):
        CONSOLE.print(row)


if __name__ == "__main__":
    main()
