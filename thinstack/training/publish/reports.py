"""Prints the figures of the seeds of a recipe, and the classes that a model learns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from thinstack.errors import escaped
from thinstack.evaluate.figures import Figures, interval_line, mean_and_std, shown
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.example import Example
from thinstack.training.loop.seeds import SeedResult, Spreads
from thinstack.training.recipe import Recipe

MAX_LISTED: Final = 20
"""Classes that are listed."""

PARSER_FIGURES = {
    "choices_right": "right choices along the file's trees",
    "span_f1": "unlabelled F1 of its own trees without the whole sentences",
    "span_f1_with_root": "with them",
    "span_f1_by_sentence": "as a mean over sentences",
    "exact_trees": "exact trees",
}


def show_seeds(
    results: Sequence[SeedResult], over_seeds: Spreads, recipe: Recipe, console: Console
) -> None:
    """Print a table with a row for each tree source and seed, and one for the mean over several
    seeds. For a model that parses, print how right its parses are."""
    plus_minus = "+-" if console.options.ascii_only else "±"
    names = recipe.task.names(recipe.model.shown_labels)
    title = "on the development data, accuracies in percent"
    table = Table(title=title, title_justify="left", collapse_padding=True)
    table.add_column("trees")
    table.add_column("seed")
    for name in names.values():
        table.add_column(name, justify="right", min_width=max(map(len, name.split())))
    for source, spread in over_seeds.items():
        for result in results:
            figures = result.dev[source]
            table.add_row(source, str(result.seed), *(shown(key, figures[key]) for key in names))
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
        console.print(f"as a parser, mean of all seeds, percent: {shares}")


def show_test(test: Mapping[str, Figures], recipe: Recipe, console: Console) -> None:
    """Print the figures of a model on the file that chose nothing, by tree source."""
    for source, figures in test.items():
        named = recipe.task.line(figures, recipe.model.shown_labels)
        trees = f", {source} trees" if len(test) > 1 else ""
        line = f"on {recipe.data.test}, which chose nothing{trees}: {named}"
        more = interval_line(figures)
        console.print(Text(escaped(f"{line}; {more}" if more else line)), soft_wrap=True)


def say_classes(
    labels: Sequence[str], datasets: Datasets, console: Console, more: Iterable[str] = ()
) -> None:
    """Print each class with its numbers of examples to train on and to report on, and `more`
    lines."""
    train, dev = (_counts(part, len(labels)) for part in (datasets.train, datasets.dev))
    both = zip(labels, train.tolist(), dev.tolist(), strict=True)
    listed = [f"{label} {learnt:,} + {seen:,}" for label, learnt, seen in both]
    rest = f" and {len(listed) - MAX_LISTED:,} more" if len(listed) > MAX_LISTED else ""
    line = f"classes (to train on + to report on): {', '.join(listed[:MAX_LISTED])}{rest}"
    for text in (line, *more):
        console.print(Text(escaped(text)), soft_wrap=True)
    if without := [label for label, count in zip(labels, train.tolist(), strict=True) if not count]:
        problem = f"no example to train on: {', '.join(without[:MAX_LISTED])}"
        console.print(Text(escaped(problem), style="yellow"))


def _counts(examples: Iterable[Example], classes: int) -> NDArray[np.int64]:
    """The number of examples of each class, by the target of the whole example."""
    targets = [int(one.gold.targets[one.gold.whole]) for one in examples]
    return np.bincount([label for label in targets if label >= 0], minlength=classes)
