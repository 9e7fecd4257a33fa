"""Prints the figures of a model of texts beside a plain rival's, and how its answers are spread."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from thinstack.evaluate.accuracy import NAMES, confusion
from thinstack.evaluate.figures import Figures, figure_names, shown
from thinstack.integrations.show.terminal import WIDEST, matrix
from thinstack.training.publish.measuring import Answers

__all__ = ["show_texts"]


def show_texts(
    answers: Answers, own: Figures, rival: tuple[str, Figures], labels: Sequence[str], to: Console
) -> None:
    """Print the figures of a seed beside the rival's, and the confusion matrix of its answers."""
    names = figure_names(NAMES, labels)
    table = Table(title="beside a plain rival, percent", title_justify="left")
    table.add_column("")
    for name in names.values():
        table.add_column(name, justify="right")
    for title, figures in (("this model", own), rival):
        table.add_row(title, *(shown(key, figures[key]) for key in names))
    to.print(table)
    accuracy, texts = own["accuracy"], own["texts"]
    assert accuracy is not None
    assert texts is not None
    error = (accuracy * (100 - accuracy) / texts) ** 0.5
    to.print(f"of {texts:,} texts: just by chance, an accuracy is off by some {error:.1f}")
    if len(labels) <= WIDEST:
        to.print(matrix(confusion(answers.predicted, answers.gold, len(labels)), labels))
