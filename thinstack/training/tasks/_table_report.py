"""Prints what is odd about the rows of a table: which are left out, which repeat one another, and
which words the model cannot read."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.text import Text

from thinstack.data.files.writing import write_atomically
from thinstack.errors import escaped
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.set_aside import repeated
from thinstack.training.recipe import Recipe

if TYPE_CHECKING:
    from thinstack.training.tasks._table import TableTask

__all__ = ["say_what_is_odd"]

SKIPPED_FILE: Final = "skipped.txt"

NOTABLE: Final = 0.03
"""The share of a table's words from which on unknown words are named."""


def say_what_is_odd(
    task: "TableTask", recipe: Recipe, datasets: Datasets, out: Path, console: Console
) -> None:
    """Print how many rows were left out, which texts stand in several rows or in both parts, and
    which words have no piece. The errors of the rows go to `skipped.txt` in the folder `out`.
    Raises OSError if that fails."""
    if datasets.skipped:
        lines = "".join(f"{error}\n" for error in datasets.skipped)
        write_atomically(out / SKIPPED_FILE, lines)
        count = f"rows that cannot be used and are left out: {len(datasets.skipped):,}"
        console.print(
            Text(f"{count} ({escaped(str(out / SKIPPED_FILE))} lists them)", style="yellow")
        )
    what, (train, dev) = task.items, datasets.items
    several, unlike = repeated([*train, *dev], task.class_of, task.group_of)
    if several and not task.repeats:
        aside = "" if recipe.data.dev else f"; all rows of one of the {what} are in one part"
        odd = f", {unlike:,} of them with different classes" if unlike else ""
        console.print(Text(f"{what} that stand in several rows: {several:,}{odd}{aside}"))
    if unknown := _unknown_words(task, datasets):
        console.print(Text(escaped(unknown), style="yellow"))
    known = {task.group_of(row) for row in train}
    if shared := sum(task.group_of(row) in known for row in dev):
        problem = f"{shared:,} of the {what} to report on are also among those to train on"
        console.print(Text(f"{problem}: the figures are too good", style="yellow"))


def _unknown_words(task: "TableTask", datasets: Datasets) -> str:
    """A warning for a table with a notable share of words that have no piece."""
    rows = (row for part in datasets.items for row in part)
    counts = Counter(word for row in rows for words in task.sentences(row) for word in words)
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
