"""The base classes of tasks on tables: how to read a table, and how to write a recipe for it."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple, Self

from rich.console import Console
from rich.text import Text

from thinstack.bundle import Bundle
from thinstack.core.config import ModelConfig
from thinstack.core.scale import ClassSets
from thinstack.data.files.paths import FileContent, FilePath
from thinstack.data.files.writing import write_atomically
from thinstack.data.tables.alike import likeness, unknown_label
from thinstack.data.tables.cell_text import Classes, csv_line
from thinstack.data.tables.dialects import Separator
from thinstack.data.tables.table import Table
from thinstack.data.tables.table_rows import COLUMN_ADVICE, RowChecks, TableRow
from thinstack.errors import DataError, InputError, escaped
from thinstack.text.sentences import Sentence, Splitter, splitter
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.labels import find_labels
from thinstack.training.examples.set_aside import repeated
from thinstack.training.publish.reports import say_classes
from thinstack.training.recipe import Recipe
from thinstack.training.task import Task

SKIPPED_FILE: Final = "skipped.txt"

AT_ONCE: Final = 1000
"""Texts that are split into words at a time."""

NOTABLE: Final = 0.03
"""Minimum share of unknown words in a table that triggers a warning."""


class Defaults(NamedTuple):
    """Settings of a recipe for a table, unless it reuses the head of another bundle.

    Attributes:
        head: the task head.
        dropout: of the leaf vectors.
        description: of the bundle.
        learning_rate: of `training.rule`.
    """

    head: Mapping[str, Any]
    dropout: float
    description: str
    learning_rate: float = 0.05


class TableTask(Task):
    """A task on the rows of a table.

    Attributes:
        defaults: the settings for `thinstack train TABLE`.
        advice: what to do about a missing column.
        starts: the bundles to start from by default, the best one first.
    """

    items: ClassVar[str] = "texts"
    defaults: ClassVar[Defaults]
    advice: ClassVar[str] = COLUMN_ADVICE
    starts: ClassVar[tuple[str, ...]] = ("sentiment",)
    evaluate_options: ClassVar = None  # `thinstack evaluate` needs the names of the columns

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
    def text_columns(self) -> Sequence[str]:
        """The columns of texts."""

    @property
    @abstractmethod
    def target_column(self) -> str:
        """The column of labels or ratings."""

    @property
    def columns_read(self) -> list[str]:
        """The columns to read."""
        return [*self.text_columns, self.target_column]

    @property
    def optional_columns(self) -> list[str]:
        """The columns whose cells may be empty."""
        return []

    def classes(self, labels: Collection[str]) -> Classes | None:
        """Describe the column of classes, with the known `labels`; None for a column of numbers."""
        return Classes(self.target_column, labels)

    def table(self, path: FilePath) -> Table:
        """Open a file as a table in the format of the settings."""
        return Table(path, encoding=self.encoding, separator=self.separator, header=self.header)

    def for_corrections(self, file: FilePath) -> Self:
        # `thinstack serve` saves UTF-8 with commas and a header, whatever the format of the table.
        try:
            saved = FileContent.of(file).content().decode(errors="replace")
        except OSError:  # `rows` reports it
            return self
        if not saved.startswith(csv_line(self.columns_read)) or "\ufffd" in saved:
            return self
        return self.model_copy(update={"encoding": "utf-8", "separator": None, "header": None})

    def text_of(self, row: TableRow) -> Hashable:
        """Return what a row has in common with the correction that replaces it."""
        return tuple(likeness(row.values[column]) for column in self.text_columns)

    def row_checks(self, skipped: list[DataError] | None, labels: Collection[str]) -> RowChecks:
        """Return the checks of `rows`."""
        return {
            "skipped": skipped,
            "advice": self.advice,
            "classes": self.classes(labels),
            "optional": self.optional_columns,
        }

    def rows(
        self, path: FilePath, skipped: list[DataError] | None = None, labels: Collection[str] = ()
    ) -> Iterator[TableRow]:
        """Iterate over the rows of a table.

        `labels`: the classes, if known, in case one of them looks like a missing value, such as
        "NA". `skipped` receives the errors of bad rows, with file and line; without it, the first
        one is raised.
        """
        return self.table(path).rows(self.columns_read, **self.row_checks(skipped, labels))

    def read(self, path: FilePath, model: ModelConfig, skipped: list[DataError]) -> list[Any]:
        items, bad = list[Any](), skipped if self.skip_bad else None
        rows, cut = self.rows(path, bad, model.shown_labels), self.splitter()
        while batch := list(islice(rows, AT_ONCE)):
            texts = [cut([row.values[column] for row in batch]) for column in self.text_columns]
            for row, *sentences in zip(batch, *texts, strict=True):
                with located(path, row, bad):
                    for column, part in zip(self.text_columns, sentences, strict=True):
                        if not part:
                            raise no_words(column, row.values[column])
                    items.append(self.item(row, sentences, model))
        return items

    def item(self, row: TableRow, texts: Sequence[list[Sentence]], model: ModelConfig) -> Any:
        """Return the item of a row, for `read`. `texts`: the sentences of each of its texts. Raises
        DataError without the place."""
        raise NotImplementedError

    def splitter(self) -> Splitter:
        """Return the function that splits texts into sentences."""
        return splitter()

    def report_data(self, recipe: Recipe, datasets: Datasets, out: Path, console: Console) -> None:
        def say(line: str, style: str = "yellow") -> None:
            console.print(Text(escaped(line), style=style))

        self.say_targets(recipe, datasets, console)
        if datasets.skipped:
            path, count = out / SKIPPED_FILE, len(datasets.skipped)
            write_atomically(path, "".join(f"{error}\n" for error in datasets.skipped))
            say(f"skipped unusable rows: {count:,} (listed in {path})")
        what, (train, dev) = self.items, datasets.items
        several, unlike = repeated([*train, *dev], self.class_of, self.group_of)
        if several and not self.repeats:
            aside = "" if recipe.data.dev else ", all rows of each in the same part"
            odd = f", {unlike:,} of them with different classes" if unlike else ""
            say(f"{what} that occur in several rows: {several:,}{odd}{aside}", style="")
        sentences = (words for row in (*train, *dev) for words in self.sentences(row))
        counts = Counter(word for words in sentences for word in words)
        knows = datasets.vocabulary.knows
        unknown = Counter({word: count for word, count in counts.items() if not knows(word)})
        share = unknown.total() / max(counts.total(), 1)
        if share >= NOTABLE:
            most = ", ".join(word for word, _ in unknown.most_common(5))
            problem = f"{share:.0%} of the words are unknown to the model, such as {most:.80}"
            say(f"{problem}: it cannot tell them apart")
        trained = {self.group_of(row) for row in train}
        for part, rows in (("development", dev), ("held-out", datasets.tested)):
            if shared := sum(self.group_of(row) in trained for row in rows):
                problem = f"{shared:,} of the {part} {what} are also in the training data"
                say(f"{problem}, so the figures are too high")

    def say_targets(self, recipe: Recipe, datasets: Datasets, console: Console) -> None:
        """Print the classes, and the number of rows of each."""
        say_classes(recipe.model.shown_labels, datasets, console)

    def labels_of(
        self, values: Sequence[str], source: str, named: Sequence[str], scale: bool | None
    ) -> tuple[str, ...]:
        """Return the labels of a model for these values of `target_column`: those that the user has
        `named`, or else `labels_in`. `source` starts messages. `scale`: whether the user calls them
        a scale. Raises InputError for a scale in unknown order."""
        return tuple(named) or self.labels_in(values, f"{source}, {self.target_column}")

    def labels_in(self, values: Sequence[str], source: str) -> tuple[str, ...]:
        """Return the labels in these values of `target_column`."""
        return find_labels(values, source)

    def settled(
        self, labels: Sequence[str], scale: bool | None, start: Bundle | None
    ) -> tuple[Self, ClassSets | None]:
        """Return the task with the settings that follow from its `labels`, and the classes of the
        bundle `start` that each label means: {} if they are the same classes, None if they are
        classes of their own.

        `scale`: whether they are a scale in their order; None decides by their names. Raises
        InputError for an unsuitable `scale`.
        """
        if scale:
            raise InputError(
                f"--scale: works only with classes of texts, found {self.summary}; leave it out"
            )
        same = start is not None and tuple(labels) == start.config.labels
        pairs = same and start is not None and start.reads_pairs
        return self, {} if same and pairs == ("pairs" in self.heads) else None

    def starts_for(self, labels: Sequence[str], scale: bool | None) -> tuple[str, ...]:
        """Return those of `starts` that suit these labels. Raises the errors of `settled`."""
        return self.starts


class TextTask(TableTask):
    """A task on a table with a text column and a label column."""

    text_column: str = "text"
    """Text column."""
    label_column: str = "label"
    """Label column."""

    @property
    def text_columns(self) -> Sequence[str]:
        return [self.text_column]

    @property
    def target_column(self) -> str:
        return self.label_column

    def group_of(self, item: Any) -> Hashable:
        return likeness(item.text)


def no_words(column: str, text: str) -> DataError:
    """Return the error of a text without words."""
    return DataError(f"expected a text with words in {column}, found {text!r:.60}")


def check_label(label: str, labels: Sequence[str], column: str, what: str = "model.labels") -> None:
    """Raise DataError unless a `label` in this `column` is one of the `labels`."""
    if label not in labels:
        expected = f"one of {what} ({', '.join(labels)})"
        raise DataError(f"expected {expected} in {column}, {unknown_label(label, labels)}")


@contextmanager
def located(path: FilePath, row: TableRow, skipped: list[DataError] | None) -> Iterator[None]:
    """Add file and line to a DataError of the block, and append it to `skipped`; without that list,
    raise it."""
    try:
        yield
    except DataError as error:
        problem = DataError(f"{path}:{row.line}: {error}")
        if skipped is None:
            raise problem from None
        skipped.append(problem)
