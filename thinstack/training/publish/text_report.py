"""Prints what `thinstack train` says about texts: which rows were left out, which words the model
cannot read, how the answers are spread, and how a plain rival does."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text as Line

from thinstack.data.files.writing import write_atomically
from thinstack.errors import escaped
from thinstack.evaluate.figures import Figures, figure_names, shown
from thinstack.evaluate.text_figures import confusion
from thinstack.integrations.show.confusion import WIDEST, matrix
from thinstack.training.examples.datasets import Datasets, class_of, group_of
from thinstack.training.examples.pair_tables import shared_pairs
from thinstack.training.examples.texts import repeated, shared_texts
from thinstack.training.publish.measuring import Answers
from thinstack.training.recipe import Recipe

__all__ = ["say_what_is_odd", "show_texts"]

SKIPPED_FILE: Final = "skipped.txt"

NOTABLE: Final = 0.03
"""The share of a table's words from which on unknown words are named."""


def say_what_is_odd(recipe: Recipe, datasets: Datasets, out: Path, console: Console) -> None:
    """Print how many rows were left out, which texts stand in several rows or in both parts, and
    which words have no piece. The errors of the rows go to `skipped.txt` in the folder `out`.
    Raises OSError if that fails."""
    if datasets.skipped:
        lines = "".join(f"{error}\n" for error in datasets.skipped)
        write_atomically(out / SKIPPED_FILE, lines)
        count = f"rows that cannot be used and are left out: {len(datasets.skipped):,}"
        console.print(
            Line(f"{count} ({escaped(str(out / SKIPPED_FILE))} lists them)", style="yellow")
        )
    what = "pairs" if datasets.pairs[0] else "texts"
    rows: list[object] = [row for part in (*datasets.texts, *datasets.pairs) for row in part]
    several, unlike = repeated(rows, class_of, group_of)
    if several and not recipe.data.spans:
        aside = "" if recipe.data.dev else f"; all rows of one of the {what} are in one part"
        odd = f", {unlike:,} of them with different classes" if unlike else ""
        console.print(Line(f"{what} that stand in several rows: {several:,}{odd}{aside}"))
    if unknown := _unknown_words(datasets):
        console.print(Line(escaped(unknown), style="yellow"))
    if shared := shared_texts(*datasets.texts) + shared_pairs(*datasets.pairs):
        problem = f"{shared:,} of the {what} to report on are also among those to train on"
        console.print(Line(f"{problem}: the figures are too good", style="yellow"))


def _unknown_words(datasets: Datasets) -> str:
    """A warning for a table with a notable share of words that have no piece."""
    texts = [sentence for part in datasets.texts for text in part for sentence in text.sentences]
    pairs = [tree.words for part in datasets.pairs for pair in part for tree in pair.trees]
    counts = Counter(word for words in (*texts, *pairs) for word in words)
    knows = datasets.vocabulary.knows
    unknown = Counter({word: count for word, count in counts.items() if not knows(word)})
    share = unknown.total() / max(counts.total(), 1)
    if share < NOTABLE:
        return ""
    most = ", ".join(word for word, _ in unknown.most_common(5))
    return (
        f"{share:.0%} of the words are unknown to the model, such as {most:.80}: it takes all of "
        "them for one and the same word"
    )


def show_texts(
    answers: Answers, own: Figures, rival: tuple[str, Figures], labels: Sequence[str], to: Console
) -> None:
    """Print the figures of a seed beside the rival's, and the confusion matrix of its answers."""
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
    to.print(f"of {texts:,} texts: just by chance, an accuracy is off by some {error:.1f}")
    if len(labels) <= WIDEST:
        to.print(matrix(confusion(answers.predicted, answers.gold, len(labels)), labels))
