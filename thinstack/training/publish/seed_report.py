"""Prints the figures of the seeds of a recipe."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from thinstack.evaluate.figures import mean_and_std, shown
from thinstack.training.loop.seeds import SeedResult, Spreads
from thinstack.training.recipe import Recipe

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
    """Print the figures of each seed and their means as a table, and for a model that parses how
    right its parses are."""
    plus_minus = "+-" if console.options.ascii_only else "±"
    console.print(_table(results, over_seeds, recipe, plus_minus))
    own = over_seeds.get("self", {})
    if "choices_right" in own:
        figures = ", ".join(
            f"{mean_and_std('accuracy', own[key], plus_minus)} {name}"
            for key, name in PARSER_FIGURES.items()
        )
        console.print(f"as a parser, mean of all seeds, percent: {figures}")


def _table(
    results: Sequence[SeedResult], over_seeds: Spreads, recipe: Recipe, plus_minus: str
) -> Table:
    """A row for each tree source and seed, and one for the mean over several seeds."""
    names = recipe.task.names(recipe.model.labels)
    table = Table(title="on the development data, accuracies in percent", title_justify="left")
    table.add_column("trees")
    table.add_column("seed")
    for name in names.values():
        table.add_column(name, justify="right")
    for source, spread in over_seeds.items():
        for result in results:
            figures = result.dev[source]
            table.add_row(source, str(result.seed), *(shown(key, figures[key]) for key in names))
        if len(results) == 1:
            table.add_section()
            continue
        means = (mean_and_std(key, spread[key], plus_minus) for key in names)
        table.add_row(source, "mean", *means, style="bold", end_section=True)
    return table
