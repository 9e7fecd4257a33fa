"""What `thinstack train` says of texts: what was left out, what was taken for what, and how a plain
rival does."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text as Line

from thinstack.data.files import write_atomically
from thinstack.errors import escaped
from thinstack.measure.figures import Figures, figure_names, shown
from thinstack.measure.text_figures import confusion
from thinstack.show.confusion import WIDEST, matrix
from thinstack.training.datasets import Datasets
from thinstack.training.evaluate import Answers
from thinstack.training.pair_tables import shared_pairs
from thinstack.training.texts import shared_texts

__all__ = ["say_what_is_odd", "show_texts"]

SKIPPED_FILE: Final = "skipped.txt"


def say_what_is_odd(datasets: Datasets, out: Path, console: Console) -> None:
    """Tell how many rows were left out, with the file that lists them, and how many texts, or
    pairs, stand in both parts."""
    if datasets.skipped:
        lines = "".join(f"{error}\n" for error in datasets.skipped)
        write_atomically(out / SKIPPED_FILE, lines)
        count = f"rows that cannot be used and are left out: {len(datasets.skipped):,}"
        console.print(
            Line(f"{count} ({escaped(str(out / SKIPPED_FILE))} lists them)", style="yellow")
        )
    if shared := shared_texts(*datasets.texts) + shared_pairs(*datasets.pairs):
        what = "pairs" if datasets.pairs[0] else "texts"
        problem = f"{shared:,} of the {what} to report on stand among those to train on too"
        console.print(Line(f"{problem}: the figures flatter", style="yellow"))


def show_texts(
    answers: Answers, own: Figures, rival: tuple[str, Figures], labels: Sequence[str], to: Console
) -> None:
    """The figures beside the rival's, and the confusion matrix of a seed's answers."""
    names = figure_names("texts", labels)
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
    to.print(f"of {texts:,} texts: by chance alone an accuracy is off by some {error:.1f}")
    if len(labels) <= WIDEST:
        to.print(matrix(confusion(answers.predicted, answers.gold, len(labels)), labels))
