"""Prints the figures of seeds and the classes of data, and writes the model card, `card.jinja`."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, StrictUndefined, Template
from rich.console import Console
from rich.table import Table
from rich.text import Text

from thinstack.bundle.front_matter import front_matter
from thinstack.errors import escaped
from thinstack.evaluate.accuracy import BINS
from thinstack.evaluate.figures import Figures, interval_line, mean_and_std, percent, shown
from thinstack.evaluate.suite_evaluation import markdown
from thinstack.training.examples.datasets import Datasets
from thinstack.training.loop.seeds import SeedResult, Spreads
from thinstack.training.publish.calibrate import Calibration
from thinstack.training.recipe import Recipe

MAX_LISTED: Final = 20
"""Maximum classes in a list."""

MEASURED_ON: Final = {
    "root_calibration_error": "sentences",
    "phrase_calibration_error": "phrases",
    "calibration_error": "all",
}
PARSER_FIGURES: Final = {
    "choices_right": "correct splits along the file's trees",
    "span_f1": "unlabeled F1 of its own trees without whole sentences",
    "span_f1_with_root": "with them",
    "span_f1_by_sentence": "as a mean over sentences",
    "exact_trees": "exact trees",
}


def card(
    recipe: Recipe,
    result: SeedResult,
    shipped: dict[str, dict[str, Any]],
    over_seeds: dict[str, Any],
    calibration: Calibration,
    suites: dict[str, dict[str, Any]],
    *,
    size: int,
) -> str:
    """Return the model card, as Markdown with front matter.

    `shipped`: the figures of the bundle, by tree source. `over_seeds`: their means over all seeds.
    `suites`: the figures of each suite. `size`: the ONNX file in bytes.
    """
    model, data = recipe.model, recipe.data
    measured = (recipe.name, model, shipped, over_seeds)
    return _template().render(
        {"recipe": recipe, "model": model, "data": data, "result": result, "size": size},
        shipped=shipped,
        over_seeds=over_seeds,
        calibration=calibration,
        suites=suites,
        head=front_matter(*measured, reported=data.reported, **recipe.card.model_dump()),
        names=recipe.task.columns(model.shown_labels),
    )


@cache
def _template() -> Template:
    text = files("thinstack.training.publish").joinpath("card.jinja").read_text(encoding="utf-8")
    templates = Environment(
        autoescape=False,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    templates.filters["as_markdown"] = as_markdown
    for function in (interval_line, mean_and_std, percent, shown):
        templates.globals[function.__name__] = function
    templates.globals |= {"suite_table": markdown, "BINS": BINS, "MEASURED_ON": MEASURED_ON}
    return templates.from_string(text)


def as_markdown(label: str) -> str:
    """Escape a label for Markdown."""
    return re.sub(r"([\\`*_\[\]#|~])", r"\\\1", escape(escaped(label), quote=False))


def show_seeds(
    results: Sequence[SeedResult], over_seeds: Spreads, recipe: Recipe, console: Console
) -> None:
    """Print the figures by tree source and seed, and their means over several seeds; for a model
    that parses, also those of its parses."""
    plus_minus = "+-" if console.options.ascii_only else "±"
    names = recipe.task.names(recipe.model.shown_labels)
    percent = ", accuracies in percent" if any("accuracy" in name for name in names) else ""
    title = f"on the development data{percent}"
    table = Table("trees", "seed", title=title, title_justify="left", collapse_padding=True)
    for name in names.values():
        table.add_column(name, justify="right", min_width=max(map(len, name.split())))
    for source, spread in over_seeds.items():
        for one in results:
            table.add_row(
                source, str(one.seed), *(shown(key, one.dev[source][key]) for key in names)
            )
        if len(results) == 1:
            table.add_section()
            continue
        means = (mean_and_std(key, spread[key], plus_minus) for key in names)
        table.add_row(source, "mean", *means, style="bold", end_section=True)
    console.print(table)
    parser = over_seeds.get("self", {})
    if "choices_right" in parser:
        shares = ", ".join(
            f"{mean_and_std('accuracy', parser[key], plus_minus)} {name}"
            for key, name in PARSER_FIGURES.items()
        )
        console.print(f"as a parser, mean of all seeds, in percent: {shares}")


def show_test(test: Mapping[str, Figures], recipe: Recipe, console: Console) -> None:
    """Print the figures on the held-out file, by tree source."""
    for source, figures in test.items():
        trees = f", {source} trees" if len(test) > 1 else ""
        parts = (recipe.task.line(figures, recipe.model.shown_labels), interval_line(figures))
        line = f"on the held-out data, {recipe.data.test}{trees}: {'; '.join(filter(None, parts))}"
        console.print(Text(escaped(line)), soft_wrap=True)


def say_classes(
    labels: Sequence[str], datasets: Datasets, console: Console, more: Iterable[str] = ()
) -> None:
    """Print each class with its numbers of training and development examples, and `more` lines."""
    train, dev = (
        Counter(int(one.gold.targets[one.gold.whole]) for one in part)
        for part in (datasets.train, datasets.dev)
    )
    listed = [f"{label} {train[n]:,} + {dev[n]:,}" for n, label in enumerate(labels)]
    rest = f" and {len(listed) - MAX_LISTED:,} more" if len(listed) > MAX_LISTED else ""
    line = f"classes (training + development): {', '.join(listed[:MAX_LISTED])}{rest}"
    for text in (line, *more):
        console.print(Text(escaped(text)), soft_wrap=True)
    if without := [label for n, label in enumerate(labels) if not train[n]]:
        problem = f"no training examples: {', '.join(without[:MAX_LISTED])}"
        console.print(Text(escaped(problem), style="yellow"))
