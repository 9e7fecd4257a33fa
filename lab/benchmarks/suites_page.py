"""The page of `suites.py`, in Markdown."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from beside_page import table

Figures = Mapping[str, Mapping[str, Any]]
"""The figures of a model, by suite."""

FEWEST: Final = 28
"""Texts or terms of the kinds that have a row; the JSON has all kinds."""

ABOUT: Final = """
Sentiment models on the reported halves of the [suites](../../docs/suite.md), from raw text. VADER's
`compound` and TextBlob's `polarity` serve as both the margin and the polarity, and their own rules
decide what is neutral ([beside.md](beside.md)). [sentiment-rivals.md](sentiment-rivals.md) has
MiniLM's training. No rival was chosen by these figures;
[suite.md](../../docs/suite.md#the-two-halves) says what we knew of ours.

Percentage of correct sentences or terms, and of sets whose texts all get the same polarity
(spread):
"""
KINDS: Final = f"""
Percentage correct, for kinds of at least {FEWEST} sentences or terms. `suites.json` has all kinds,
and sets by kind.
"""


def page_of(report: Mapping[str, Any]) -> str:
    """The page of the `models` and `versions` of a report."""
    figures = report["models"]
    versions = ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    parts = [
        "# Suites: comparison with VADER, TextBlob and MiniLM",
        ABOUT.strip(),
        table(["suite", "of", *figures], list(short(figures))),
        "## By kind",
        KINDS.strip(),
        table(["suite", "kind", "of", *figures], list(kinds(figures))),
        f"Made by `python lab/benchmarks/suites.py` with {versions}.",
    ]
    return "\n\n".join(parts) + "\n"


def short(figures: Mapping[str, Figures]) -> Iterator[list[str]]:
    for suite, first in suites(figures):
        what = "terms" if "aspects" in first else "sentences"
        yield [f"`{suite}`", f"{first['total']:,} {what}", *cells(figures, suite)]
        if first["sets"]["total"]:
            shares = cells(figures, suite, "sets")
            yield [f"`{suite}`, one side", f"{first['sets']['total']:,} sets", *shares]


def kinds(figures: Mapping[str, Figures]) -> Iterator[list[str]]:
    for suite, first in suites(figures):
        for kind, found in first["kinds"].items():
            if found["total"] >= FEWEST:
                percents = cells(figures, suite, "kinds", kind)
                yield [f"`{suite}`", kind.replace("_", " "), f"{found['total']:,}", *percents]


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
