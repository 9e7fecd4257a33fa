"""Measures a model of sentiment on the suites that thinstack brings along, for its card and its
results."""

from collections.abc import Mapping
from typing import Any

from thinstack.core.scale import Scale
from thinstack.evaluate.figures import percent
from thinstack.evaluate.suite import halves, read_suite, suite_names
from thinstack.evaluate.suite_evaluation import evaluate_suite, suite_rows
from thinstack.runtime.predictor import Predictor

_SECTION = """
## What it understands

English sentences of known polarity, from raw text: the reported half of the suite `{name}`
(docs/suite.md of thinstack), by `thinstack evaluate BUNDLE --suite {name}`.

| | right | of | percent |
|---|---|---|---|
{rows}
"""


def measure_suites(predictor: Predictor) -> dict[str, dict[str, Any]]:
    """The figures on the reported half of each suite, by its name
    (`thinstack.evaluate.suite_evaluation`). Empty for a model whose classes have no negative and
    positive side."""
    if Scale.of(predictor.labels) is None:
        return {}
    return {
        name: evaluate_suite(predictor, halves(read_suite(name), "reported")).figures
        for name in suite_names()
    }


def suite_section(suites: Mapping[str, Mapping[str, Any]]) -> str:
    """The sections of a card on suites, as Markdown. `suites`: the figures of each suite."""
    sections = []
    for name, figures in suites.items():
        rows = "\n".join(
            f"| {row} | {found['right']} | {found['total']} | {percent(found['accuracy'])} |"
            for row, found in suite_rows(figures)
        )
        sections.append(_SECTION.format(name=name, rows=rows))
    return "".join(sections)
