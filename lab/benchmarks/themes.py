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
import json
import random
import statistics
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from rich.console import Console
from themes_planted import SETS, Complaint, PlantedTable, planted_table

import thinstack
from thinstack.errors import LanguageWarning
from thinstack.integrations.report.reading import scored_rows
from thinstack.integrations.report.rows import TextRow
from thinstack.integrations.themes.clauses import ReadTexts, TextNodes
from thinstack.integrations.themes.finding import ClauseSample
from thinstack.integrations.themes.matching import (
    NAMED,
    NamedThemes,
    ignored_directions,
    theme_options,
)
from thinstack.training.tasks.vectors.encoder import StringEncoder

IGNORED: Final = ("alexa", "echo", "dot", "spot", "show", "plus", "amazon")
REVIEWS: Final = 1500
TABLES: Final = 3
ENCODER: Final = "encoders/all-minilm-l6-v2"
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
    complained = {theme.title for theme in themes if theme.side == "negative"}
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


def stable(model: Model, texts: Sequence[str]) -> dict[str, Any]:
    """Of each side the adjusted Rand index of groups, with the groups of 90% of the texts."""
    rows = (TextRow(f"line {number}", text) for number, text in enumerate(texts))
    pairs = list(scored_rows(model, rows))
    names = ignored_directions(model, IGNORED)
    rng, figures = random.Random(0), dict[str, Any]()
    chosen = [
        sorted(rng.sample(range(len(pairs)), round(0.9 * len(pairs)))) for _ in range(REPEATS)
    ]
    for name, side in SIDES.items():
        whole = _groups(pairs, range(len(pairs)), side, names)
        again = [_groups(pairs, some, side, names) for some in chosen]
        indices = [_rand_index(whole, some) for some in again]
        outside = sum(group < 0 for group in whole.values()) / len(whole)
        figures[name] = {
            "clauses": len(whole),
            "themes": max(whole.values()) + 1,
            "outside": round(outside, 2),
            "rand": round(statistics.mean(indices), 2),
            "deviation": round(statistics.stdev(indices), 2),
        }
    return figures


def _groups(
    pairs: Sequence[Any], places: Sequence[int], side: int, names: NDArray[np.float32]
) -> dict[tuple[int, str], int]:
    """The group of each clause, by its text and what it says."""
    sample = ClauseSample(side)
    texts = ReadTexts.of([pairs[place] for place in places], frozenset(IGNORED))
    sample.add(texts, 0)
    count = sum(row.unreadable is None for row in texts.rows)
    clauses = sample.groups(count, names)
    owners = [places[text] for text in clauses.texts.tolist()]
    return dict(zip(zip(owners, clauses.said, strict=True), clauses.groups.tolist(), strict=True))


def _rand_index(one: Mapping[Any, int], other: Mapping[Any, int]) -> float:
    """The adjusted Rand index (Hubert and Arabie 1985) over what both have in a group."""
    pairs = [(one[key], group) for key, group in other.items() if group >= 0 and one[key] >= 0]

    def together(counts: Counter[Any]) -> float:
        return sum(count * (count - 1) / 2 for count in counts.values())

    both = together(Counter(pairs))
    rows, columns = (together(Counter(column)) for column in zip(*pairs, strict=True))
    chance = rows * columns / (len(pairs) * (len(pairs) - 1) / 2)
    return (both - chance) / ((rows + columns) / 2 - chance)


def categories(model: Model, path: Path) -> dict[str, Any]:
    """Micro-F1 of named themes: by phrases and their sentence, and by whole sentences only."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    has = [{one["category"] for one in row["categories"]} for row in rows]
    gold = np.array([[name in names for name in CATEGORIES] for names in has])
    chooses = np.random.default_rng(0).permutation(len(rows)) < len(rows) // 5
    several = gold.sum(axis=1) > 1
    figures = {"majority": _f1(np.arange(len(CATEGORIES)) == gold.sum(axis=0).argmax(), gold)}
    results = model([row["text"] for row in rows])
    for how, scores in (
        ("phrases", _phrase_scores(model, results)),
        ("sentences", _sentence_scores(model, results)),
    ):
        thresholds = np.arange(0.2, 0.8, 0.01)
        values = [_f1(scores[chooses] >= one, gold[chooses]) for one in thresholds]
        best = thresholds[int(np.argmax(values))]
        said = scores >= best
        figures[how] = {
            "threshold": round(float(best), 2),
            "f1": _f1(said[~chooses], gold[~chooses]),
            "f1 of several topics": _f1(said[~chooses & several], gold[~chooses & several]),
            "f1 of one topic": _f1(said[~chooses & ~several], gold[~chooses & ~several]),
            "f1 by the default threshold": _f1(scores[~chooses] >= NAMED, gold[~chooses]),
            "the best is right": round(
                100 * float(gold[~chooses, scores[~chooses].argmax(axis=1)].mean()), 1
            ),
        }
    return figures


def _phrase_scores(model: Model, results: Sequence[Any]) -> NDArray[np.float64]:
    """(n, K) the similarity of the best phrase of each sentence."""
    scores = np.full((len(results), len(CATEGORIES)), -1.0)
    matcher = NamedThemes(model, theme_options(CATEGORIES, (), "both", None, 0, 1e-6))
    for place, result in enumerate(results):
        matches = matcher.match(TextNodes([result]))
        scores[place, matches["theme"]] = matches["similarity"]
    return scores


def _sentence_scores(model: Model, results: Sequence[Any]) -> NDArray[np.float64]:
    vectors = np.stack([result.vector for result in results])
    return np.stack(
        [(vectors @ model.encode(examples).T).max(axis=1) for examples in CATEGORIES.values()],
        axis=1,
    )


def _f1(said: NDArray[np.bool_], gold: NDArray[np.bool_]) -> float:
    right = (said & gold).sum()
    total = np.broadcast_to(said, gold.shape).sum() + gold.sum()
    return round(float(200 * right / max(total, 1)), 1)


def speed(model: Model, data: Path, texts: Sequence[str]) -> dict[str, float]:
    """Seconds of one core from texts to themes, and to MiniLM's vectors."""
    frame = pd.DataFrame({"text": texts})
    thinstack.themes(frame.head(64), model=model)
    figures = {"themes": _seconds(lambda: thinstack.themes(frame, model=model, ignore=IGNORED))}
    figures["read only"] = _seconds(lambda: list(model.stream(texts)))
    torch.set_num_threads(1)
    encoder = StringEncoder(ENCODER, data, "mean")
    figures["MiniLM, whole texts, vectors only"] = _seconds(lambda: encoder.encode(texts))
    return figures


def _seconds(work: Callable[[], Any]) -> float:
    """The least of three runs, in seconds of this process."""
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return round(min(times), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--set", choices=[*SETS], default="measured")
    parser.add_argument("--parts", nargs="*", default=["planted", "stable", "categories", "speed"])
    asked = parser.parse_args()
    warnings.simplefilter("ignore", LanguageWarning)
    model, figures = thinstack.load("vectors", threads=1), dict[str, Any]()
    lines = (asked.data / "domains/alexa-reviews.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines[:REVIEWS]]
    if "planted" in asked.parts:
        complaints = SETS[asked.set]
        for seed in range(TABLES):
            table = planted_table(asked.data, complaints, seed)
            figures[f"planted, {asked.set}, table {seed}"] = planted(model, table, complaints)
    if "stable" in asked.parts:
        figures["stable"] = stable(model, texts)
    if "categories" in asked.parts:
        path = asked.data / "domains/categories-restaurants.jsonl"
        figures["categories"] = categories(model, path)
    if "speed" in asked.parts:
        figures["speed"] = speed(model, asked.data, texts)
    CONSOLE.print_json(json.dumps(figures))
    if asked.out:
        asked.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
