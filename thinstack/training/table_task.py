"""Determines the task and the data section of a recipe from a table and its options."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from thinstack.data.files.paths import in_resolved_folder
from thinstack.data.tables.table import Table
from thinstack.errors import DataError, InputError
from thinstack.plugins.manager import manager
from thinstack.training.examples.inputs import Inputs
from thinstack.training.recipe import DataConfig
from thinstack.training.tasks._table import TableTask
from thinstack.training.tasks.pairs import TABLE, Pairs


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """The options of a table. Defaults depend on the table.

    Attributes:
        text_column: the text column, or the two of pairs. By default "text", or "text_a" and
            "text_b" if the table has one of these and no "text".
        label_column, score_column: the target column. Pairs have ratings if `score_column` is set,
            or if the table has a column "score" and no "label".
        add: another training table, such as corrections, whose rows replace those with the same
            texts.
        dev, test: the development and the test table. Without `dev`, a tenth of the rows is set
            aside.
        encoding, separator, header, skip_bad, span_group: as in the fields of tasks.
        task: "texts", "spans" or "aspects"; required if there are columns "start" and "end".
        init: the name or folder of the bundle to start from, or "none".
        labels: the classes in order, or the whole numbers of the scale of ratings.
        scale, epochs, seeds: as in `text_recipe`.
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


def table_task(path: Path, options: TableOptions, inputs: Inputs) -> tuple[DataConfig, TableTask]:
    """Return the `data` and the `task` of a recipe for the table at `path`.

    Raises DataError if the table cannot be read, or for pairs with both or neither of "label" and
    "score"; InputError for columns and options that do not fit together; and ConfigError for other
    invalid settings.
    """
    source, file = "the settings of the table", inputs.table(path.name).named(path)
    table = Table(
        file, encoding=options.encoding, separator=options.separator, header=options.header
    )
    columns = tuple(options.text_column)
    if not columns:
        pair: tuple[str, str] = Pairs.model_fields["pair_columns"].default
        names = set[str]()
        with suppress(DataError):  # which reading the rows reports
            names = {*table.columns}
        columns = pair if "text" not in names and names.intersection(pair) else ("text",)
    kind: type[TableTask] = manager().find("task", _task_of(table, columns, options)).plugin
    if options.span_group is not None and "span_group" not in kind.model_fields:
        raise InputError("--span-group: works only with --task spans; use both or neither")
    said = vars(options) | {"text_column": columns[0], "pair_columns": columns, "format": TABLE}
    fields = {
        name: said[name]
        for name, field in kind.model_fields.items()
        if said.get(name) not in (None, field.default)
    }
    files = {"train": path.name}
    for part in ("add", "dev", "test"):
        if (other := said[part]) is not None:
            resolved = in_resolved_folder(other)
            inside = resolved.is_relative_to(inputs.folder)
            files[part] = str(resolved.relative_to(inputs.folder) if inside else resolved)
    share = {} if options.dev is not None else {"dev_share": 0.1}
    return DataConfig.parse(files | share, source=source), kind.parse(fields, source=source)


def _task_of(table: Table, columns: Sequence[str], options: TableOptions) -> str:
    if len(columns) > 2:
        raise InputError(
            f"--text: expected one column, or two for pairs, found {len(columns)}; drop some"
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
    names = table.columns
    label, score = options.label_column is not None, options.score_column is not None
    if not (label or score):
        label, score = "label" in names, "score" in names
    if label == score:
        both = "both" if label else ", ".join(map(repr, names))
        raise DataError(
            f"{table.path}: expected the column 'label' (classes) or 'score' (ratings) of "
            f"pairs, found {both}; set the target column with --label or --score"
        )
    return "relatedness.v1" if score else "entailment.v1"


def ask_about_spans(source: str, columns: Iterable[str]) -> None:
    """Raise InputError, which starts with `source`, if these columns seem to contain spans, because
    it is unclear whether rows label phrases or whole texts."""
    names = {name.strip().lower(): name for name in columns}
    if {"start", "end"} <= {*names}:
        raise InputError(
            f"{source}: the columns {names['start']!r} and {names['end']!r} may mark the "
            "phrase that each row labels; choose what to train (in Python task=): --task "
            "spans for the labels of phrases; --task aspects for opinions about terms; or "
            "--task texts for the labels of whole texts"
        )
