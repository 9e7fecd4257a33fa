"""Writes the recipe for `thinstack train TABLE`: what to train on, where to start, and with which
settings."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from thinstack.bundle import Bundle, is_installed, open_bundle
from thinstack.bundle.hub import is_address
from thinstack.core.config import ModelConfig
from thinstack.core.embedding import FineTuning
from thinstack.core.scale import ClassSets
from thinstack.data.files.paths import in_resolved_folder
from thinstack.data.tables.table import Table
from thinstack.errors import ConfigError, DataError, InputError
from thinstack.plugins.manager import manager
from thinstack.training.examples.datasets import read_items
from thinstack.training.examples.inputs import Inputs
from thinstack.training.publish.calibrate import with_weights
from thinstack.training.recipe import DataConfig, ExportConfig, InitConfig, Recipe, TrainingConfig
from thinstack.training.tasks._table import TableTask
from thinstack.training.tasks.pairs import TABLE, Pairs
from thinstack.training.tasks.spans import ask_about_spans

TEXTS: Final = FineTuning(
    texts=120_000,
    epochs=(4, 20),
    training={"vector_learning_rate": 1.0, "average": 0.7},
    own_classes={"epochs": 5, "learning_rate": 0.1, "warm_up": 0.2, "average": 0.0},
    quantize="int8-tables",
)
"""The settings unless the embedding has others, tuned on held-out training texts of TREC and SST,
from 500 to 8,000 of them. Labels that are classes of the bundle, or sets of them, need fewer
epochs, because the head knows them, and a warm-up: AdaGrad's first steps are as large as its rate,
and would change the scores of phrases before the penalty takes effect."""

BY_VECTORS: Final = {
    "learning_rate": 0.03,
    "vector_learning_rate": 0.1,
    "warm_up": 0.2,
    "average": 0.0,
}
"""The settings of pairs whose head reads the vectors of the initial bundle. The rates of `TEXTS`
would undo these in the first steps."""

VECTORS: Final = """Word vectors start from the input table of
sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)."""

FEWEST_WATCHED: Final = 200
WATCHED: Final = {"stop_on": "dev", "patience": 3}
"""The minimum number of texts that select the epoch, and how. Fewer would select it by chance."""

STARTED: Final = "Learning started from the bundle {}, whose data and terms hold here too."


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


def table_recipe(path: Path, name: str, options: TableOptions, inputs: Inputs) -> Recipe:
    """Return the recipe with this `name` for the table at `path`. `inputs`: of the table's folder.

    Raises DataError for a table that cannot be read, and the errors of `table_task` and
    `text_recipe`.
    """
    data, task = table_task(path, options, inputs)
    bad: list[DataError] | None = [] if task.skip_bad else None
    file = inputs.table(path.name).named(path)
    rows = list(task.rows(file, bad, options.labels))
    watched = round(len(set(map(task.text_of, rows))) * (data.dev_share or 0.0))
    if data.add is not None:
        added = inputs.table(data.add)
        more = list(task.for_corrections(added).rows(added, bad, options.labels))
        replaced = {task.text_of(row) for row in more}
        rows = [row for row in rows if task.text_of(row) not in replaced] + more
    values = [row.values[task.target_column] for row in rows]
    labels = task.labels_of(values, str(file), options.labels, options.scale)
    if data.dev is not None:
        watched = sum(1 for _ in task.rows(inputs.table(data.dev), bad, options.labels))
    init = options.init or default_start(task, labels, options.scale)
    start = None if init == "none" else inputs.bundle(init)
    sizes = {"texts": len(values), "watched": watched}
    recipe = text_recipe(name, data, task, labels, init=init, start=start, options=options, **sizes)
    if recipe.model.class_sets and start is not None:
        recipe = with_weights(recipe, read_items(recipe, inputs)[0], start)
    return recipe


def default_start(task: TableTask, labels: Sequence[str], scale: bool | None) -> str:
    """Return the best installed bundle to start from."""
    starts = task.starts_for(labels, scale)
    return next(filter(is_installed, starts), starts[-1])


def text_recipe(
    name: str,
    files: DataConfig,
    task: TableTask,
    labels: Sequence[str],
    *,
    texts: int,
    init: str,
    start: Bundle | None = None,
    watched: int = 0,
    options: TableOptions = TableOptions(),
) -> Recipe:
    """Return the recipe of a `task` with these labels, for this number of `texts` or pairs.

    `init`: the name or folder of the bundle to start from, and `start` that bundle, if open. "none"
    starts from the wordpiece vectors that ship with thinstack, a new cell and balanced trees. If
    the labels are classes of the bundle, or sets of them (`TableTask.settled`), its head is reused,
    and phrases keep their scores. `watched`: the number of development texts; from `FEWEST_WATCHED`
    on, they select the epoch and stop training early. `options`: only `scale`, `epochs` and `seeds`
    are used.

    Raises InputError for a `scale` of pairs or of two classes, and ConfigError for a bundle whose
    trees are not binary.
    """
    if start is None and init != "none":
        start = open_bundle(init)
    task, sets = task.settled(labels, options.scale, start)
    model = _model(task, labels, init, start, sets)
    spec = manager().find("embedding", model.embedding.registered)
    tuning: FineTuning = spec.plugin.fine_tuning or TEXTS
    differing = {"epochs": tuning.epochs[1], **(tuning.own_classes if sets is not None else {})}
    epochs = options.epochs
    if epochs is None:
        epochs = max(tuning.epochs[0], round(tuning.texts / max(texts, 1)))
        epochs = min(differing["epochs"], epochs)
    training = {
        "learning_rate": task.defaults.learning_rate,
        "seeds": tuple(options.seeds),
        "stop_on": "nothing",
        **tuning.training,
        **differing,
        "epochs": epochs,
        **(BY_VECTORS if model.vectors is not None else {}),
        **(WATCHED if watched >= FEWEST_WATCHED else {}),
    }
    if model.parses and not task.teaches_parser:
        training |= {"gold": False, "sources": ["self"]}
    sections: dict[str, Any] = {
        "name": re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "texts",
        "schema": 1,
        "description": task.defaults.description,
        "task": task,
        "model": model,
        "training": TrainingConfig.parse(training, source="the training of the table"),
        "export": ExportConfig(inference_only=True, quantize=tuning.quantize),
    }
    if start is None:
        source = {"vectors": "wordpieces", "vector_std": 0.3, "statement": VECTORS}
    else:
        source = {"statement": STARTED.format(init if is_address(init) else Path(init).name)}
        reused = {"parser": model.parser, "head": sets, "vectors": model.vectors}
        parts = ["embedding", "encoder", *(part for part, one in reused.items() if one is not None)]
        frozen = () if task.teaches_parser or model.parser is None else ("parser",)
        sections["init"] = InitConfig(bundle=init, parts=parts, frozen=frozen)
    sections["data"] = files.model_copy(update=source)
    return Recipe.parse(sections, source="the recipe of the table")


def _model(
    task: TableTask, labels: Sequence[str], init: str, start: Bundle | None, sets: ClassSets | None
) -> ModelConfig:
    """Return a new model, or that of the bundle `start`. `sets`: from `TableTask.settled`."""
    if start is None:
        fields: dict[str, Any] = {
            "embedding": {"kind": "wordpieces", "size": 100},
            "cell": {"name": "nary_lstm.v1", "hidden_size": 150},
            "tree_source": "balanced",
        }
    else:
        config = start.config
        if config.trees != "binary":
            problem = f"found {config.trees} trees; choose another bundle, or none"
            raise ConfigError(f"{init}: expected a binary-tree bundle to start from, {problem}")
        # A text of a table is the mean of its sentences.
        excluded = {"schema_version", "class_sets", "class_weights", "aggregation"}
        excluded |= set() if "pairs" in task.heads else {"vectors"}  # which would not be trained
        fields = config.model_dump(mode="json", exclude_defaults=True, exclude=excluded)
    fields["embedding"]["dropout"] = task.defaults.dropout
    if sets is None:
        fields |= {"labels": list(labels), "head": task.defaults.head}
    else:
        fields |= {"class_sets": sets} if sets else {}
        if "dropout" in (options := fields["head"].get("options", {})):
            options["dropout"] = task.defaults.head["options"]["dropout"]
    return ModelConfig.parse(fields, source="the model of the table")
