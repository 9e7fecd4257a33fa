"""What models of sentiment understand of the suites, beside VADER, TextBlob and a MiniLM that was
fine-tuned on the same film sentences.

    python lab/benchmarks/suites.py --out lab/results/suites.md
        [--model NAME=BUNDLE ...] [--encoder FOLDER --train FILE --runs FOLDER]

Without an encoder there is no row of MiniLM. `--train` is SST's train.txt; what MiniLM has learnt
is kept in `--runs`. The bundles' figures are those of `thinstack evaluate BUNDLE --suite all`.
"""

import json
import platform
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from beside_rivals import MINILM, Rival, minilm_scores, textblob, vader
from rich.console import Console
from suites_page import page_of

import thinstack
from thinstack.core.scale import FIVE
from thinstack.evaluate.suite import AspectCase, Case, Half, halves, read_suite, suite_names
from thinstack.evaluate.suite_evaluation import (
    SuiteFigures,
    aspect_suite_figures,
    evaluate_suite,
    polarity_figures,
    suite_figures,
)

MODELS: Final = (
    "sentiment=sentiment",
    "sentiment-context=models/thinstack-sentiment-context/thinstack_sentiment_context/model",
    "sentiment-open=models/thinstack-sentiment-open/thinstack_sentiment_open/model",
)
console = Console(stderr=True)

Measure = Callable[[Sequence[Any]], SuiteFigures]


def of_bundle(path: str) -> Measure:
    predictor = thinstack.load(path, isolated=False)
    return lambda cases: evaluate_suite(predictor, cases)


def of_rival(rival: Rival) -> Measure:
    """A rival's number is the margin and the polarity."""

    def measure(cases: Sequence[Case]) -> SuiteFigures:
        found = rival.opinions([case.text for case in cases])
        return suite_figures(cases, found.values, found.sides.astype(int), found.values)

    return measure


def of_minilm(encoder: Path, train: Path, runs: Path) -> Measure:
    score = minilm_scores(encoder, train, runs)
    return lambda cases: polarity_figures(cases, score([case.text for case in cases]), FIVE)


def without_aspects(measure: Measure) -> Measure:
    """The same for a model that says nothing of terms."""

    def measured(cases: Sequence[Case] | Sequence[AspectCase]) -> SuiteFigures:
        if aspects := [case for case in cases if isinstance(case, AspectCase)]:
            return aspect_suite_figures(aspects, None)
        return measure(cases)

    return measured


def figures_of(measure: Measure, half: Half) -> dict[str, dict[str, Any]]:
    """The figures of every suite, by its name."""
    return {name: measure(halves(read_suite(name), half)).figures for name in suite_names()}


def main(
    out: Annotated[Path, typer.Option(help="File for the page; the JSON is written next to it.")],
    model: Annotated[list[str] | None, typer.Option(help="NAME=BUNDLE.")] = None,
    encoder: Annotated[Path | None, typer.Option(help="Folder of a small BERT.")] = None,
    train: Annotated[Path | None, typer.Option(help="SST's train.txt.")] = None,
    runs: Annotated[Path | None, typer.Option(help="Folder of the fine-tuned encoder.")] = None,
) -> None:
    """Measure every model on the reported half of every suite, and write the page."""
    if len({encoder is None, train is None, runs is None}) > 1:
        raise typer.BadParameter("--encoder, --train and --runs go together")
    measures = {}
    for name, path in (named.split("=", 1) for named in model or MODELS):
        measures[f"`{name}`"] = of_bundle(path)
    for rival in (vader(), textblob()):
        measures[rival.name] = without_aspects(of_rival(rival))
    if encoder and train and runs:
        measures[MINILM] = without_aspects(of_minilm(encoder, train, runs))
    figures = {}
    for name, measure in measures.items():
        figures[name] = figures_of(measure, "reported")
        console.print(name, {suite: each["accuracy"] for suite, each in figures[name].items()})
    packages = ("vaderSentiment", "textblob")
    versions = {"Python": platform.python_version()} | {name: version(name) for name in packages}
    report = {"versions": versions, "models": figures}
    out.write_text(page_of(report), encoding="utf-8")
    out.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
