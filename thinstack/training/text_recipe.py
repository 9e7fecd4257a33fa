"""Makes the recipe that `thinstack train TABLE` runs: what is learnt from the table, where learning
starts, and with which settings."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.hub import is_address
from thinstack.core.class_sets import ClassSets
from thinstack.core.config import ModelConfig
from thinstack.core.embedding import FineTuning
from thinstack.data.files.paths import FilePath, in_resolved_folder
from thinstack.data.tables.table import Table
from thinstack.data.tables.table_kinds import named_separator
from thinstack.data.trees.pairs import TABLE
from thinstack.errors import ConfigError, DataError, InputError
from thinstack.plugins.manager import manager
from thinstack.training.examples.datasets import read_items
from thinstack.training.examples.inputs import Inputs
from thinstack.training.recipe import DataConfig, ExportConfig, InitConfig, Recipe, TrainingConfig
from thinstack.training.tasks._pairs import Pairs
from thinstack.training.tasks._table import TableTask
from thinstack.training.tasks.texts.weights import with_weights

TEXTS: Final = FineTuning(
    texts=120_000,
    epochs=(4, 20),
    training={"vector_learning_rate": 1.0, "average": 0.7},
    own_classes={"epochs": 5, "learning_rate": 0.1, "warm_up": 0.2, "average": 0.0},
    quantize="int8-tables",
)
"""The settings, unless the embedding has others. They did well on held-out training texts of TREC
and SST, from 500 to 8,000 of them. Classes that are the bundle's own, or sets of them, are learnt
in fewer epochs, because its head knows them. Their rates rise first: AdaGrad's first steps are
as large as its rate, and would undo what phrases mean before the penalty counts."""

VECTORS: Final = """Word vectors start from the input table of
sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)."""

FEWEST_WATCHED: Final = 200
WATCHED: Final = {"stop_on": "dev", "patience": 3}
"""The fewest texts that choose an epoch, and how. With fewer, chance would choose it."""

STARTED: Final = "Learning started from the bundle {}, whose data and terms hold here too."


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """What a user says of a table. What is left out, the table or thinstack decides.

    Attributes:
        text_column: the column of the texts, or the two of pairs: "text", or "text_a" and "text_b"
            if the table has these and no "text".
        label_column, score_column: the column that is learnt. Pairs have scores if `score_column`
            is named, or if the table has a column "score" and no "label".
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


def table_recipe(path: Path, name: str, options: TableOptions, inputs: Inputs) -> Recipe:
    """The recipe, of this `name`, for the table at `path`. `inputs`: of the table's folder.

    Raises DataError for a table that cannot be read, and what `table_task` and `text_recipe` raise.
    """
    data, task = table_task(path, options, inputs)
    bad: list[DataError] | None = [] if task.skip_bad else None
    file = inputs.table(path.name).named(path)
    rows = task.rows(file, bad, options.labels)
    values = [row.values[task.target_column] for row in rows]
    labels = task.labels_of(values, str(file), options.labels, options.scale)
    init = options.init or task.init
    start = None if init == "none" else inputs.bundle(init)
    if data.dev is None:
        watched = round(len(values) * (data.dev_share or 0.0))
    else:
        watched = sum(1 for _ in task.rows(inputs.table(data.dev), bad, options.labels))
    recipe = text_recipe(
        name,
        data,
        task,
        labels,
        texts=len(values),
        init=init,
        start=start,
        scale=options.scale,
        seeds=options.seeds,
        epochs=options.epochs,
        watched=watched,
    )
    if recipe.model.class_sets and start is not None:
        recipe = with_weights(recipe, read_items(recipe, inputs)[0], start)
    return recipe


def table_task(path: Path, options: TableOptions, inputs: Inputs) -> tuple[DataConfig, TableTask]:
    """The `data` and the `task` of a recipe for the table at `path`.

    Raises DataError for pairs with both or neither of "label" and "score", and if the table cannot
    be read. Raises InputError for columns and options that do not go together, and ConfigError for
    other bad settings.
    """
    source, table = "the settings of the table", options.table(inputs.table(path.name).named(path))
    columns = tuple(options.text_column) or _text_columns(table)
    kind = _kind(table, columns, options)
    if options.span_group is not None and "span_group" not in kind.model_fields:
        raise InputError("--span-group: it is of --task spans; leave one of them out")
    said = vars(options) | {"text_column": columns[0], "pair_columns": columns, "format": TABLE}
    fields = {
        name: said[name]
        for name, field in kind.model_fields.items()
        if said.get(name) not in (None, field.default)
    }
    parts = {"dev": options.dev, "test": options.test}
    files = {
        name: _name_in(inputs.folder, file) for name, file in parts.items() if file is not None
    }
    share = {} if options.dev is not None else {"dev_share": 0.1}
    data = DataConfig.parse({"train": path.name, **files, **share}, source=source)
    task = kind.parse(fields, source=source)
    return data, task.model_copy(update={"separator": _separator(data, options, inputs)})


def _kind(table: Table, columns: Sequence[str], options: TableOptions) -> type[TableTask]:
    """The task of a table with these `columns` of texts."""
    if len(columns) > 2:
        raise InputError(
            f"--text: expected one, or two for pairs, found {len(columns)}; leave some out"
        )
    if len(columns) == 2:
        name = _pair_task(table, options)
    elif options.score_column is not None:
        raise InputError(
            "--score: scores are of pairs, found one column of texts; name two columns with --text"
        )
    else:
        if (asked := options.task or (options.span_group and "spans")) is None:
            with suppress(DataError):
                ask_about_spans(str(table.path), table.columns)
        name = f"{asked or 'texts'}.v1"
    kind: type[TableTask] = manager().find("task", name).plugin
    return kind


def _pair_task(table: Table, options: TableOptions) -> str:
    for option, said in (("--task", options.task), ("--span-group", options.span_group)):
        if said:
            raise InputError(f"{option}: texts and phrases of texts, found pairs; leave it out")
    columns = table.columns
    label, score = options.label_column is not None, options.score_column is not None
    if not (label or score):
        label, score = "label" in columns, "score" in columns
    if label == score:
        both = "both" if label else ", ".join(map(repr, columns))
        raise DataError(
            f"{table.path}: expected the column 'label' (classes) or 'score' (ratings) of pairs, "
            f"found {both}; name the column to learn with --label or --score"
        )
    return "relatedness.v1" if score else "entailment.v1"


def ask_about_spans(source: str, columns: Iterable[str]) -> None:
    """Raise InputError, which names the `source`, for columns that seem to be of spans: nobody has
    said whether their rows label phrases or whole texts."""
    names = {name.strip().lower(): name for name in columns}
    if {"start", "end"} <= {*names}:
        raise InputError(
            f"{source}: its columns {names['start']!r} and {names['end']!r} may say which phrase "
            "of the text each row labels; say what is learnt (in Python task=): --task spans, the "
            "labels of phrases; --task aspects, terms and what is said of them; or --task texts, "
            "the labels of whole texts"
        )


def _text_columns(table: Table) -> tuple[str, ...]:
    """The columns of texts: those of pairs if the table has them. A table that cannot be read is
    left to its reader, which says why."""
    pair: tuple[str, str] = Pairs.model_fields["pair_columns"].default
    columns: Sequence[str] = ()
    with suppress(DataError):
        columns = table.columns
    return pair if "text" not in columns and {*pair} <= {*columns} else ("text",)


def _name_in(folder: Path, file: Path) -> str:
    """The name of a file as a recipe whose files are in `folder` has it."""
    path = in_resolved_folder(file)
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _separator(data: DataConfig, options: TableOptions, inputs: Inputs) -> str | None:
    """The separator that a recipe names: of all its tables, if the names of these do not tell it.
    Where it is not the same in all, it is found whenever they are read."""
    if options.separator is not None:
        return options.separator
    pairs: set[tuple[str | None, str]] = set()
    for name in (data.train, data.dev, data.test):
        if name and not name.endswith(".spacy"):
            with suppress(DataError):  # Its reader says why it cannot be read.
                if dialect := options.table(inputs.table(name)).dialect:
                    pairs.add((named_separator(name), dialect.separator))
    separators = {separator for _, separator in pairs}
    by_name = all(named == separator for named, separator in pairs)
    return None if by_name or len(separators) > 1 else separators.pop()


def text_recipe(
    name: str,
    files: DataConfig,
    task: TableTask,
    labels: Sequence[str],
    *,
    texts: int,
    init: str,
    start: Bundle | None = None,
    scale: bool | None = None,
    seeds: Sequence[int] = (1,),
    epochs: int | None = None,
    watched: int = 0,
) -> Recipe:
    """The recipe of a `task` for so many `texts`, or pairs, with these classes.

    `init`: the name or folder of the bundle where learning starts; `start` is that bundle, if it is
    open already. "none" starts from the wordpiece vectors that thinstack brings along, a fresh cell
    and balanced trees. If the classes of texts are the bundle's own, or sets of them
    (`TableTask.settled`), its head is kept too, and its phrases keep their meaning. `scale`:
    whether the classes, in their order, are a scale; by default their names tell. `epochs`: by
    default it follows from the number of texts. `watched`: how many texts there are to choose the
    epoch by; from `FEWEST_WATCHED` on the best epoch is kept, and learning stops early.

    Raises InputError for a `scale` of pairs or of two classes, and ConfigError for a bundle whose
    trees are not binary.
    """
    if start is None and init != "none":
        start = open_bundle(init)
    task, sets = task.settled(labels, scale, None if start is None else start.config)
    by_classes, predicts = sets is not None, task.predicts
    model = _model(task, labels, init, start, sets)
    spec = manager().find("embedding", model.embedding.registered)
    tuning: FineTuning = spec.plugin.fine_tuning or TEXTS
    training = {"learning_rate": task.defaults.learning_rate, "seeds": tuple(seeds)}
    training |= _training(tuning, texts, by_classes=by_classes)
    if model.parses and not task.teaches_parser:
        training |= {"gold": False, "sources": ["self"]}
    training |= {} if epochs is None else {"epochs": epochs}
    training |= WATCHED if watched >= FEWEST_WATCHED else {}
    sections: dict[str, Any] = {
        "name": re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "texts",
        "schema": 1,
        "description": task.defaults.description,
        "task": task,
        "model": model,
        "training": TrainingConfig.parse(training, source="the training of the table"),
        "export": ExportConfig(
            inference_only=predicts, quantize=tuning.quantize if predicts else TEXTS.quantize
        ),
    }
    if start is None:
        source = {"vectors": "wordpieces", "vector_std": 0.3, "statement": VECTORS}
    else:
        source = {"statement": STARTED.format(init if is_address(init) else Path(init).name)}
        parser = ["parser"] if model.parser is not None else []
        parts = ["embedding", "encoder", *parser, *(["head"] if by_classes else [])]
        frozen = [] if task.teaches_parser else parser
        sections["init"] = InitConfig(bundle=init, parts=parts, frozen=frozen)
    sections["data"] = files.model_copy(update=source)
    return Recipe.parse(sections, source="the recipe of the table")


def _training(tuning: FineTuning, texts: int, *, by_classes: bool) -> dict[str, Any]:
    """How a table of so many `texts` is learnt. `by_classes`: whether by the
    classes of the start."""
    least, most = tuning.epochs
    differing = dict(tuning.own_classes) if by_classes else {}
    most = differing.pop("epochs", most)
    epochs = min(most, max(least, round(tuning.texts / max(texts, 1))))
    return {"epochs": epochs, "stop_on": "nothing", **tuning.training, **differing}


def _model(
    task: TableTask, labels: Sequence[str], init: str, start: Bundle | None, sets: ClassSets | None
) -> ModelConfig:
    """The model: a fresh one, or that of the bundle `start`. `sets`: as `TableTask.settled` gives
    them."""
    if start is None:
        fields: dict[str, Any] = {
            "embedding": {"kind": "wordpieces", "size": 100},
            "cell": {"name": "nary_lstm.v1", "hidden_size": 150},
            "tree_source": "balanced",
        }
    else:
        config = start.config
        if config.trees != "binary":
            problem = f"found one of {config.trees} trees; name another bundle, or none"
            raise ConfigError(f"{init}: expected a bundle of binary trees to start from, {problem}")
        excluded = {"schema_version", "class_sets", "class_weights", "texts"}  # it learns means
        fields = config.model_dump(mode="json", exclude_defaults=True, exclude=excluded)
    fields["embedding"]["dropout"] = task.defaults.dropout
    if sets is None:
        fields |= {"labels": list(labels), "head": task.defaults.head}
    else:
        fields |= {"class_sets": sets} if sets else {}
        if "dropout" in (options := fields["head"].get("options", {})):
            options["dropout"] = task.defaults.head["options"]["dropout"]
    return ModelConfig.parse(fields, source="the model of the table")
