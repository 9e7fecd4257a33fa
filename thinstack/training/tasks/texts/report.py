"""Prints the figures of a model of texts beside those of its plain rival, and what to try where the
rival is ahead."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from thinstack.evaluate.accuracy import NAMES, confusion
from thinstack.evaluate.figures import Figures, figure_names, interval_line, shown
from thinstack.integrations.show.terminal import WIDEST, matrix
from thinstack.training.loop.measuring import Answers
from thinstack.training.recipe import Recipe


def show_texts(
    answers: Answers, own: Figures, rival: tuple[str, Figures], recipe: Recipe, to: Console
) -> None:
    """Print the figures of a seed beside the rival's, and the confusion matrix of its answers."""
    labels = recipe.model.shown_labels
    names = figure_names(NAMES, labels)
    table = Table(title=f"on {recipe.data.reported}, percent", title_justify="left")
    table.add_column("")
    for name in names.values():
        table.add_column(name, justify="right")
    for title, figures in (("this model", own), rival):
        table.add_row(title, *(shown(key, figures[key]) for key in names))
    to.print(table)
    lines = [interval_line(own)]
    if recipe.training.stop_on == "dev":
        lines.append(
            "the epoch was chosen by these figures, so they are a little too good; a table that "
            "chooses nothing gives others: --test FILE"
        )
    for line in (*lines, *_what_to_try(own, rival, recipe)):
        to.print(Text(line), soft_wrap=True)
    if len(labels) <= WIDEST:
        to.print(matrix(confusion(answers.predicted, answers.gold, len(labels)), labels))


def _what_to_try(own: Figures, rival: tuple[str, Figures], recipe: Recipe) -> Iterator[str]:
    """What to do where the rival is ahead."""
    name, figures = rival
    ahead = (figures["accuracy"] or 0.0) - (own["accuracy"] or 0.0)
    if ahead <= 0:
        return
    start, tries = recipe.init.bundle if recipe.init else "none", ["more rows"]
    tries += ["--init sentiment"] if start == "none" else []
    tries += ["--init sentiment-context"] if start in ("none", "sentiment") else []
    tries += [f"--epochs {2 * recipe.training.epochs} or {max(1, recipe.training.epochs // 2)}"]
    yield (
        f"the plain rival, {name}, is ahead by {ahead:.1f} points: try {', '.join(tries)}; or take "
        "the rival, if you need no phrases"
    )
