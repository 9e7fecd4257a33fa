"""What tasks over tables share: how a table is written, and what `thinstack train TABLE` takes for
a recipe."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from pydantic import Field
from rich.console import Console

from thinstack.core.config.separator import Separator
from thinstack.data.files.paths import FilePath
from thinstack.data.tables.table import Table
from thinstack.data.tables.table_rows import COLUMN_ADVICE, Classes, RowChecks, TableRow
from thinstack.errors import DataError
from thinstack.training.examples.datasets import Datasets
from thinstack.training.publish.class_report import say_classes
from thinstack.training.recipe import Recipe
from thinstack.training.task import Task
from thinstack.training.tasks._table_report import say_what_is_odd

__all__ = ["Defaults", "TableTask", "located"]


class Defaults(NamedTuple):
    """What a recipe for a table has, unless it takes over the head of another bundle.

    Attributes:
        head: the task head.
        dropout: of the words' vectors.
        description: of the bundle, with {} in place of the labels.
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
        repeats: whether several rows usually have the same text.
    """

    items: ClassVar[str] = "texts"
    defaults: ClassVar[Defaults]
    advice: ClassVar[str] = COLUMN_ADVICE
    repeats: ClassVar[bool] = False

    encoding: str = Field(default="utf-8", description="The encoding of a table.")
    separator: Separator | None = Field(
        default=None,
        description="The character between the cells of a table. By default it is found in each "
        "file.",
    )
    header: bool | None = Field(
        default=None,
        description="Whether the first row of a table names its columns. If not, their names are "
        '"1", "2" and so on. By default it does, but a first row that looks like any other row is '
        "an error.",
    )
    skip_bad: bool = Field(
        default=False,
        description="Leave out rows of a table that cannot be used, and list them in the file "
        "skipped.txt. Otherwise the first one ends the run.",
    )

    @property
    @abstractmethod
    def columns_read(self) -> list[str]:
        """The columns that are read."""

    @property
    @abstractmethod
    def target_column(self) -> str:
        """The column that holds what is learnt."""

    def classes(self, labels: Collection[str]) -> Classes | None:
        """The column of classes, of which `labels` are known; None for a column of numbers."""
        return Classes(self.target_column, labels)

    def rows(
        self, path: FilePath, skipped: list[DataError] | None = None, labels: Collection[str] = ()
    ) -> Iterator[TableRow]:
        """The rows of a table.

        `labels`: the classes, if they are known; one of them may be a word such as "NA", which else
        stands for a missing value. The errors of bad rows, with file and line, go to the list
        `skipped`; without it the first is raised. Raises what `Table.rows` raises.
        """
        table = Table(path, encoding=self.encoding, separator=self.separator, header=self.header)
        checks: RowChecks = {"skipped": skipped, "advice": self.advice}
        checks["classes"] = self.classes(labels)
        return table.rows(self.columns_read, **checks)

    def report_data(self, recipe: Recipe, datasets: Datasets, out: Path, console: Console) -> None:
        say_classes(recipe.model.labels, datasets, console, self.scale_lines(recipe.model.labels))
        say_what_is_odd(self, recipe, datasets, out, console)

    def scale_lines(self, labels: Sequence[str]) -> Iterable[str]:
        """Lines about whether the labels are taken for a scale."""
        return ()

    # -- what `thinstack train TABLE` asks

    @abstractmethod
    def find_labels(
        self, values: Sequence[str], source: str, scale: bool | None = None
    ) -> tuple[str, ...]:
        """The labels of a model that learns these values of `target_column`. `source` leads
        messages. `scale`: whether a user takes them for a scale.

        Raises DataError for values that cannot be learnt, and InputError for a scale whose order is
        not known.
        """

    def settled(self, labels: Sequence[str], scale: bool | None, *, own: bool) -> Self:
        """The task with the settings that follow from its `labels`.

        `scale`: whether they are a scale in their order; None leaves that to their names. `own`:
        whether they are those of the bundle where learning starts. Raises InputError for a `scale`
        that does not fit.
        """
        return self


@contextmanager
def located(path: FilePath, row: TableRow, skipped: list[DataError] | None) -> Iterator[None]:
    """Put file and line before a DataError of the block, and add it to the list `skipped`. Without
    a list it is raised."""
    try:
        yield
    except DataError as error:
        found = DataError(f"{path}:{row.line}: {error}")
        if skipped is None:
            raise found from None
        skipped.append(found)
