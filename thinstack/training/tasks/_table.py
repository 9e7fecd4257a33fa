"""What tasks over tables share: how a table is written, and what `thinstack train TABLE` takes for
a recipe."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple, Self

from rich.console import Console
from rich.text import Text

from thinstack.bundle import Bundle
from thinstack.core.scale import ClassSets
from thinstack.data.files.paths import FileContent, FilePath
from thinstack.data.files.writing import write_atomically
from thinstack.data.tables.alike import likeness, unknown_label
from thinstack.data.tables.cell_text import Classes
from thinstack.data.tables.csv_rows import csv_line
from thinstack.data.tables.dialects import Separator
from thinstack.data.tables.table import Table
from thinstack.data.tables.table_rows import COLUMN_ADVICE, RowChecks, TableRow
from thinstack.errors import DataError, InputError, escaped
from thinstack.text.sentences import Splitter, splitter
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.labels import find_labels
from thinstack.training.examples.set_aside import repeated
from thinstack.training.publish.reports import say_classes
from thinstack.training.recipe import Recipe
from thinstack.training.task import Task

SKIPPED_FILE: Final = "skipped.txt"

NOTABLE: Final = 0.03
"""The share of a table's words from which on unknown words are named."""


class Defaults(NamedTuple):
    """What a recipe for a table has, unless it takes over the head of another bundle.

    Attributes:
        head: the task head.
        dropout: of the words' vectors.
        description: of the bundle.
        learning_rate: of `training.rule`.
    """

    head: Mapping[str, Any]
    dropout: float
    description: str
    learning_rate: float = 0.05


class TableTask(Task):
    """Learns from the rows of a table.

    Attributes:
        defaults: the settings that `thinstack train TABLE` takes.
        advice: what to do about a missing column.
        starts: the bundles where learning may start unless a user names one, the best first.
    """

    items: ClassVar[str] = "texts"
    defaults: ClassVar[Defaults]
    advice: ClassVar[str] = COLUMN_ADVICE
    starts: ClassVar[tuple[str, ...]] = ("sentiment",)

    encoding: str = "utf-8"
    """Encoding of the table."""
    separator: Separator | None = None
    """Character between the cells of the table. By default, it is detected in each file."""
    header: bool | None = None
    """Whether the first row names the columns. If not, columns are named "1", "2" and so on. By
    default it does, and a first row that looks like the other rows is an error."""
    skip_bad: bool = False
    """Skip unusable rows, and list them in skipped.txt. Otherwise, the first one stops the run."""

    @property
    @abstractmethod
    def columns_read(self) -> list[str]:
        """The columns that are read."""

    @property
    def optional_columns(self) -> list[str]:
        """Those in which nothing may stand."""
        return []

    @property
    @abstractmethod
    def target_column(self) -> str:
        """The column that holds what is learnt."""

    def classes(self, labels: Collection[str]) -> Classes | None:
        """The column of classes, of which `labels` are known; None for a column of numbers."""
        return Classes(self.target_column, labels)

    def table(self, path: FilePath) -> Table:
        """A file as a table that is written as the settings say."""
        return Table(path, encoding=self.encoding, separator=self.separator, header=self.header)

    def for_corrections(self, file: FilePath) -> Self:
        """The task as it reads a file of corrections. What `thinstack serve` saves is UTF-8 with
        commas and a header, however the table is written."""
        try:
            saved = FileContent.of(file).content().decode(errors="replace")
        except OSError:  # `rows` says why
            return self
        if not saved.startswith(csv_line(self.columns_read)) or "\ufffd" in saved:
            return self
        return self.model_copy(update={"encoding": "utf-8", "separator": None, "header": None})

    def text_of(self, row: TableRow) -> Hashable:
        """What a row of the table has in common with the correction that replaces it."""
        columns = (name for name in self.columns_read if name != self.target_column)
        return tuple(likeness(row.values[name]) for name in columns)

    def rows(
        self, path: FilePath, skipped: list[DataError] | None = None, labels: Collection[str] = ()
    ) -> Iterator[TableRow]:
        """The rows of a table.

        `labels`: the classes, if they are known; one of them may be a word such as "NA", which else
        stands for a missing value. The errors of bad rows, with file and line, go to the list
        `skipped`; without it the first is raised.
        """
        classes = self.classes(labels)
        checks: RowChecks = {"skipped": skipped, "advice": self.advice, "classes": classes}
        checks["optional"] = self.optional_columns
        return self.table(path).rows(self.columns_read, **checks)

    def report_data(self, recipe: Recipe, datasets: Datasets, out: Path, console: Console) -> None:
        self.say_targets(recipe, datasets, console)
        say_what_is_odd(self, recipe, datasets, out, console)

    def say_targets(self, recipe: Recipe, datasets: Datasets, console: Console) -> None:
        """Print what is learnt: the classes, and how many rows have each."""
        say_classes(recipe.model.shown_labels, datasets, console)

    # -- what `thinstack train TABLE` asks

    def labels_of(
        self, values: Sequence[str], source: str, named: Sequence[str], scale: bool | None
    ) -> tuple[str, ...]:
        """The labels of a model that learns these values of `target_column`; those that a user has
        `named`, if any. `source` leads messages. `scale`: whether a user takes them for a scale.
        Raises InputError for a scale whose order is not known."""
        return tuple(named) or self.labels_in(values, f"{source}, {self.target_column}")

    def labels_in(self, values: Sequence[str], source: str) -> tuple[str, ...]:
        """The labels of these values of `target_column`, if a user names none: classes."""
        return find_labels(values, source)

    def settled(
        self, labels: Sequence[str], scale: bool | None, start: Bundle | None
    ) -> tuple[Self, ClassSets | None]:
        """The task with the settings that follow from its `labels`, and what these stand for among
        the classes of the bundle where learning starts.

        That is nothing (empty) if they are these classes, and None if they are classes of their
        own. `scale`: whether they are a scale in their order; None leaves that to their names.
        Raises InputError for a `scale` that does not fit.
        """
        if scale:
            raise InputError(
                f"--scale: works only with classes of texts, found {self.summary}; leave it out"
            )
        same = start is not None and tuple(labels) == start.config.labels
        pairs = same and start is not None and start.reads_pairs
        return self, {} if same and pairs == ("pairs" in self.heads) else None

    def starts_for(self, labels: Sequence[str], scale: bool | None) -> tuple[str, ...]:
        """Those of `starts` that suit these labels. Raises what `settled` raises."""
        return self.starts


class TextTask(TableTask):
    """Learns from a table with a column of texts and one of labels."""

    text_column: str = "text"
    """Text column."""
    label_column: str = "label"
    """Label column."""

    @property
    def columns_read(self) -> list[str]:
        return [self.text_column, self.label_column]

    @property
    def target_column(self) -> str:
        return self.label_column

    def text_of(self, row: TableRow) -> Hashable:
        return likeness(row.values[self.text_column])

    def splitter(self) -> Splitter:
        """The function that cuts texts into sentences."""
        return splitter()

    def group_of(self, item: Any) -> Hashable:
        return likeness(item.text)

    def no_words(self, text: str) -> DataError:
        """The error of a text that has no words."""
        return DataError(f"expected a text with words in {self.text_column}, found {text!r:.60}")


def check_label(label: str, labels: Sequence[str], column: str, what: str = "model.labels") -> None:
    """Raise DataError for a `label` in this `column` of a table that is not one of the `labels`."""
    if label not in labels:
        expected = f"one of {what} ({', '.join(labels)})"
        raise DataError(f"expected {expected} in {column}, {unknown_label(label, labels)}")


@contextmanager
def located(path: FilePath, row: TableRow, skipped: list[DataError] | None) -> Iterator[None]:
    """Put file and line before a DataError of the block, and add it to the list `skipped`. Without
    a list it is raised."""
    try:
        yield
    except DataError as error:
        problem = DataError(f"{path}:{row.line}: {error}")
        if skipped is None:
            raise problem from None
        skipped.append(problem)


def say_what_is_odd(
    task: TableTask, recipe: Recipe, datasets: Datasets, out: Path, console: Console
) -> None:
    """Print how many rows were left out, which texts stand in several rows or in both parts, and
    which words have no piece. The errors of the rows go to `skipped.txt` in the folder `out`."""
    if datasets.skipped:
        list_of, count = out / SKIPPED_FILE, len(datasets.skipped)
        write_atomically(list_of, "".join(f"{error}\n" for error in datasets.skipped))
        listed = f"listed in {escaped(str(list_of))}"
        console.print(Text(f"skipped unusable rows: {count:,} ({listed})", style="yellow"))
    what, (train, dev) = task.items, datasets.items
    several, unlike = repeated([*train, *dev], task.class_of, task.group_of)
    if several and not task.repeats:
        aside = "" if recipe.data.dev else ", all rows of each in the same part"
        odd = f", {unlike:,} of them with different classes" if unlike else ""
        console.print(Text(f"{what} that occur in several rows: {several:,}{odd}{aside}"))
    if unknown := _unknown_words(task, datasets):
        console.print(Text(escaped(unknown), style="yellow"))
    learnt = {task.group_of(row) for row in train}
    if shared := sum(task.group_of(row) in learnt for row in dev):
        problem = f"{shared:,} of the development {what} are also in the training data"
        console.print(Text(f"{problem}, so the figures are too high", style="yellow"))


def _unknown_words(task: TableTask, datasets: Datasets) -> str:
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
        f"{share:.0%} of the words are unknown to the model, such as {most:.80}: it cannot "
        "tell them apart"
    )
