"""What a table is about: what its options say, and which task its columns stand for."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from thinstack.data.files.paths import FilePath, in_resolved_folder
from thinstack.data.tables.table import Table
from thinstack.errors import DataError, InputError
from thinstack.plugins.manager import manager
from thinstack.training.examples.inputs import Inputs
from thinstack.training.recipe import DataConfig
from thinstack.training.tasks._table import TableTask
from thinstack.training.tasks.pairs import TABLE, Pairs


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """What a user says of a table. What is left out, the table or thinstack decides.

    Attributes:
        text_column: the column of the texts, or the two of pairs: "text", or "text_a" and "text_b"
            if the table has these and no "text".
        label_column, score_column: the column that is learnt. Pairs have scores if `score_column`
            is named, or if the table has a column "score" and no "label".
        add: a further table to train on, such as of corrections, whose rows replace those of the
            same texts.
        dev, test: further tables, to report on and to measure on at the end. Without `dev`, a tenth
            of the rows is set aside.
        encoding, separator, header, skip_bad, span_group: as the fields of tasks.
        task: "texts", "spans" or "aspects". A table with the columns "start" and "end" needs it.
        init: the name or folder of the bundle where learning starts, or "none".
        labels: the classes in their order, or the whole numbers on the scale of scores.
        scale, epochs, seeds: as `text_recipe` takes them.
    """

    text_column: Sequence[str] = ()
    label_column: str | None = None
    score_column: str | None = None
    add: Path | None = None
    dev: Path | None = None
    test: Path | None = None
    encoding: str = "utf-8"
    separator: str | None = None
    header: bool | None = None
    skip_bad: bool = False
    task: str | None = None
    span_group: str | None = None
    init: str | None = None
    labels: Sequence[str] = ()
    scale: bool | None = None
    epochs: int | None = None
    seeds: Sequence[int] = (1,)

    def table(self, path: FilePath) -> Table:
        """A file as a table that is written as the options say."""
        return Table(path, encoding=self.encoding, separator=self.separator, header=self.header)


def table_task(path: Path, options: TableOptions, inputs: Inputs) -> tuple[DataConfig, TableTask]:
    """The `data` and the `task` of a recipe for the table at `path`.

    Raises DataError for pairs with both or neither of "label" and "score", and if the table cannot
    be read. Raises InputError for columns and options that do not go together, and ConfigError for
    other bad settings.
    """
    source, table = "the settings of the table", options.table(inputs.table(path.name).named(path))
    columns = tuple(options.text_column) or _text_columns(table)
    name = _task_of(table, columns, options)
    kind: type[TableTask] = manager().find("task", name).plugin
    if options.span_group is not None and "span_group" not in kind.model_fields:
        raise InputError("--span-group: works only with --task spans; leave one of them out")
    said = vars(options) | {"text_column": columns[0], "pair_columns": columns, "format": TABLE}
    fields = {
        name: said[name]
        for name, field in kind.model_fields.items()
        if said.get(name) not in (None, field.default)
    }
    parts = {"add": options.add, "dev": options.dev, "test": options.test}
    files = {
        name: _name_in(inputs.folder, file) for name, file in parts.items() if file is not None
    }
    share = {} if options.dev is not None else {"dev_share": 0.1}
    data = DataConfig.parse({"train": path.name, **files, **share}, source=source)
    return data, kind.parse(fields, source=source)


def _task_of(table: Table, columns: Sequence[str], options: TableOptions) -> str:
    """The name of the task of a table with these `columns` of texts."""
    if len(columns) > 2:
        raise InputError(
            f"--text: expected one, or two for pairs, found {len(columns)}; leave some out"
        )
    if len(columns) == 2:
        there, others = "pairs", {"--task": options.task, "--span-group": options.span_group}
    else:
        there, others = "one column of texts", {"--score": options.score_column}
    for option, value in others.items():
        if value is not None:
            raise InputError(f"{option}: does not work with {there}; leave it out")
    if len(columns) == 1:
        if (asked := options.task or (options.span_group and "spans")) is None:
            with suppress(DataError):
                ask_about_spans(str(table.path), table.columns)
        return f"{asked or 'texts'}.v1"
    named = table.columns
    label, score = options.label_column is not None, options.score_column is not None
    if not (label or score):
        label, score = "label" in named, "score" in named
    if label == score:
        both = "both" if label else ", ".join(map(repr, named))
        raise DataError(
            f"{table.path}: expected the column 'label' (classes) or 'score' (ratings) of "
            f"pairs, found {both}; name the target column with --label or --score"
        )
    return "relatedness.v1" if score else "entailment.v1"


def ask_about_spans(source: str, columns: Iterable[str]) -> None:
    """Raise InputError, which names the `source`, for columns that seem to be of spans: nobody has
    said whether their rows label phrases or whole texts."""
    names = {name.strip().lower(): name for name in columns}
    if {"start", "end"} <= {*names}:
        raise InputError(
            f"{source}: its columns {names['start']!r} and {names['end']!r} may mark the "
            "phrase that each row labels; choose what to train (in Python task=): --task "
            "spans for the labels of phrases; --task aspects for opinions about terms; or "
            "--task texts for the labels of whole texts"
        )


def _text_columns(table: Table) -> tuple[str, ...]:
    """The columns of texts: those of pairs if the table has one of them. A table that cannot be
    read is left to its reader, which says why, as one of pairs is that lacks the other."""
    pair: tuple[str, str] = Pairs.model_fields["pair_columns"].default
    columns: Sequence[str] = ()
    with suppress(DataError):
        columns = table.columns
    return pair if "text" not in columns and {*pair} & {*columns} else ("text",)


def _name_in(folder: Path, file: Path) -> str:
    """The name of a file as a recipe whose files are in `folder` has it."""
    path = in_resolved_folder(file)
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)
