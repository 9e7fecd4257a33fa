"""The page of `suites.py`, in Markdown."""

import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any, Final

from beside_page import table

from thinstack.evaluate.aspect_figures import ASPECT_NAMES

Figures = Mapping[str, Mapping[str, Any]]
"""The figures of a model, by suite."""

ABOUT: Final = """
Figures of sentiment models on the reported halves of the suites, from raw text.
[docs/suite.md](../../docs/suite.md) explains the kinds and the rules. For `aspects`, terms are
counted; a dash means that the model does not label terms. For VADER and TextBlob, `compound` and
`polarity` serve as both the margin and the polarity, and their own rules decide what is neutral
([beside.md](beside.md)). The number in parentheses is the spread: the greatest polarity in a set
minus the least, averaged over sets.

MiniLM is all-MiniLM-L6-v2, fine-tuned without a tree on SST's training sentences and one phrase of
each, with seed 1 ([sentiment-rivals.md](sentiment-rivals.md)). No rival was chosen by these
figures. We knew the totals of four trials of our models when we finalized the recipes
([suite.md](../../docs/suite.md#the-two-halves)).
"""


def page_of(figures: Mapping[str, Figures]) -> str:
    """The page of these models."""
    made = (
        f"Made by `python lab/benchmarks/suites.py` with Python {platform.python_version()}, "
        f"vaderSentiment {version('vaderSentiment')}, textblob {version('textblob')}."
    )
    parts = [
        "# Suites: comparison with VADER, TextBlob and MiniLM",
        ABOUT.strip(),
        made,
        "## In short",
        "Percentage of correct sentences, and of sets whose labels share a polarity (spread):",
        table(["suite", "of", *figures], list(short(figures))),
        "## Correct answers",
        "In percent, by kind:",
        table(["suite", "kind", "of", *figures], list(right(figures))),
        "## Sets of one side",
        "In percent, by kind (spread):",
        table(["suite", "kind", "sets", *figures], list(sets(figures))),
    ]
    if found := list(aspects(figures)):
        parts += ["## Terms", "In percent, for suites of aspects:"]
        parts.append(table(["suite", "figure", *figures], found))
    return "\n\n".join(parts) + "\n"


def short(figures: Mapping[str, Figures]) -> Iterator[list[str]]:
    for suite, first in suites(figures):
        what = "terms" if "aspects" in first else "sentences"
        yield [f"`{suite}`", f"{first['total']:,} {what}", *cells(figures, suite)]
        if first["sets"]["total"]:
            shares = cells(figures, suite, "sets")
            yield [f"`{suite}`, one side", f"{first['sets']['total']:,} sets", *shares]


def right(figures: Mapping[str, Figures]) -> Iterator[list[str]]:
    for suite, first in suites(figures):
        yield [f"`{suite}`", "total", f"{first['total']:,}", *cells(figures, suite)]
        for kind, found in first["kinds"].items():
            percents = cells(figures, suite, "kinds", kind)
            yield [f"`{suite}`", kind.replace("_", " "), f"{found['total']:,}", *percents]


def sets(figures: Mapping[str, Figures]) -> Iterator[list[str]]:
    for suite, first in suites(figures):
        if not first["sets"]["total"]:
            continue
        total = f"{first['sets']['total']:,}"
        yield [f"`{suite}`", "total", total, *cells(figures, suite, "sets")]
        for kind, found in first["sets"]["kinds"].items():
            shares = cells(figures, suite, "sets", "kinds", kind)
            yield [f"`{suite}`", kind.replace("_", " "), f"{found['total']:,}", *shares]


def aspects(figures: Mapping[str, Figures]) -> Iterator[list[str]]:
    """What suites of aspects have beside the terms that are right, if a model has it."""
    for suite, first in suites(figures):
        for key in [key for key in first.get("aspects", ()) if key != "polarity_accuracy"]:
            values = [of_model[suite]["aspects"][key] for of_model in figures.values()]
            shown = ["-" if value is None else f"{value:.1f}" for value in values]
            if {*shown} != {"-"}:
                yield [f"`{suite}`", ASPECT_NAMES[key], *shown]


def suites(figures: Mapping[str, Figures]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The suites, with the figures of the first model."""
    yield from next(iter(figures.values())).items()


def cells(figures: Mapping[str, Figures], suite: str, *keys: str) -> Iterator[str]:
    """For each model, the percentage under these keys of a suite and, of sets, the spread; "-" if
    it has none."""
    for of_model in figures.values():
        found = of_model[suite]
        for key in keys:
            found = found[key]
        spread = f" ({found['spread']:.2f})" if "spread" in found else ""
        yield "-" if found["accuracy"] is None else f"{found['accuracy']:.1f}{spread}"
