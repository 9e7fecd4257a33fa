"""The page of `beside.py`, in Markdown."""

import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Final

from beside_sets import Texts

Rows = Mapping[str, Mapping[str, Mapping[str, float]]]
"""The figures of each model, by set."""

SHORT: Final = """
Accuracy in percent of models that classify raw texts as positive or negative, with the threshold
that suits each model best on the set, which flatters every model; and texts per second on one core,
over all sets. Texts labeled neutral are left out.
"""
ABOUT: Final = """
No model was trained on these texts. `sentiment`, `sentiment-context` and MiniLM were trained on the
training set of *film*, `sentiment` and `sentiment-open` on other rows of the product sentences, and
`sentiment-context` on other rows of every set. Speeds marked - were not measured.
"""
MINILM: Final = """
MiniLM is all-MiniLM-L6-v2 ([training](sentiment-rivals.md)).
"""
FIXED: Final = """
- **sign**: accuracy if numbers above 0 are positive and numbers below 0 negative. 0 is wrong.
- **own rule**: accuracy of the polarity that the model itself predicts. Neutral is wrong.
- **r**: Pearson's correlation of the number with the label: -1 or 1, SST's five classes, or the
  mean of 20 people's ratings.
"""
SOURCES: Final = {
    "film": "SST dev.txt (Socher et al. 2013), sentences",
    "product reviews": "customer reviews of Hu & Liu (2004), sentences, held-out rows of one half",
    "rated product sentences": "Amazon sentences of Hutto & Gilbert (2014), on which VADER was "
    "tested, held-out rows of one half",
    "restaurants": "SemEval-2014 task 4, training part, held-out sentences whose terms all have "
    "the same polarity",
}
COLUMNS: Final = {"sign": "sign", "own": "own rule"}


def page_of(sets: Sequence[Texts], rows: Rows, rules: Mapping[str, tuple[str, str]]) -> str:
    """The page of these figures."""
    models: dict[tuple[str, str], list[str]] = {}
    for name, rule in rules.items():
        models.setdefault(rule, []).append(name)
    lines = [f"| {', '.join(names)} | {' | '.join(rule)} |" for rule, names in models.items()]
    named = "\n".join(["| model | its number | its own rule |", "|---|---|---|", *lines])
    made = (
        f"Made by `python lab/benchmarks/beside.py` with Python {platform.python_version()}, "
        f"vaderSentiment {version('vaderSentiment')}, textblob {version('textblob')}, on one of "
        f"{os.cpu_count()} cores of {platform.machine()}."
    )
    parts = [
        "# Sentiment compared with VADER, TextBlob and MiniLM",
        SHORT.strip(),
        table(["model", *(one.name for one in sets), "texts/s"], short(sets, rows)),
        ABOUT.strip(),
        *([MINILM.strip()] if any(name.startswith("MiniLM") for name in rows) else []),
        made,
        "## Fixed thresholds",
        FIXED.strip(),
        named,
    ]
    for one in sets:
        positive, negative = int((one.numbers > 0).sum()), int((one.numbers < 0).sum())
        counts = f"{positive:,} positive and {negative:,} negative texts"
        about = f"{SOURCES[one.name]}, {counts}." if one.name in SOURCES else f"{counts}."
        parts += [f"## {one.name[:1].upper()}{one.name[1:]}", f"{about[:1].upper()}{about[1:]}"]
        parts.append(table(["model", *COLUMNS.values(), "r"], whole(one.name, rows)))
    return "\n\n".join(parts) + "\n"


def short(sets: Sequence[Texts], rows: Rows) -> list[list[str]]:
    count = sum(len(one.texts) for one in sets)
    commoner = [
        100
        * float(max((one.numbers > 0).sum(), (one.numbers < 0).sum()) / (one.numbers != 0).sum())
        for one in sets
    ]
    return [
        ["majority baseline", *(f"{share:.1f}" for share in commoner), "-"],
        *(
            [
                name,
                *(f"{found[one.name]['cut']:.1f}" for one in sets),
                f"{count / sum(each['seconds'] for each in found.values()):,.0f}",
            ]
            for name, found in rows.items()
        ),
    ]


def whole(name: str, rows: Rows) -> list[list[str]]:
    return [
        [model, *(f"{found[name][key]:.1f}" for key in COLUMNS), f"{found[name]['r']:.3f}"]
        for model, found in rows.items()
    ]


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in (heads, *rows)]
    return "\n".join([lines[0], f"|{'---|' * len(heads)}", *lines[1:]])
