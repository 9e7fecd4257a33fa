"""Makes the recipe that `thinstack train TABLE` runs, and finds out what it learns from the table:
classes of texts, classes of pairs, or scores of pairs."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.hub import is_address
from thinstack.core.config import EmbeddingConfig, ModelConfig
from thinstack.core.embedding import FineTuning
from thinstack.core.scale import ClassSets
from thinstack.data.files.paths import in_resolved_folder
from thinstack.data.tables.table import Table
from thinstack.data.tables.table_kinds import named_separator
from thinstack.data.trees.pairs import TABLE
from thinstack.errors import ConfigError, DataError, InputError
from thinstack.plugins.manager import manager
from thinstack.training.examples.inputs import Inputs
from thinstack.training.recipe import DataConfig, Recipe
from thinstack.training.tasks._pairs import Pairs
from thinstack.training.tasks._table import TableTask

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

BOTH: Final = "label", "score"
"""The columns that say what is learnt from pairs."""

FEWEST_WATCHED: Final = 200
WATCHED: Final = {"stop_on": "dev", "patience": 3}
"""The fewest texts that choose an epoch, and how. With fewer, chance would choose it."""

STARTED: Final = "Learning started from the bundle {}, whose data and terms hold here too."


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
    """The recipe of a `task` for a table of so many `texts`, or pairs, with these classes.

    `init`: the name or folder of the bundle where learning starts; `start` is that bundle, if it is
    open already. "none" starts from the wordpiece vectors that thinstack brings along, a fresh cell
    and balanced trees. If the classes of texts are the bundle's own, or sets of them
    (`TableTask.class_sets`), its head is kept too, and its phrases keep their meaning. `scale`:
    whether the classes, in their order, are a scale; by default their names tell. `epochs`: by
    default it follows from the number of texts. `watched`: how many texts there are to choose the
    epoch by; from `FEWEST_WATCHED` on the best epoch is kept, and learning stops early.

    Raises InputError for a `scale` of pairs or of two classes, and ConfigError for a bundle whose
    trees are not binary.
    """
    if start is None and init != "none":
        start = open_bundle(init)
    defaults, predicts = task.defaults, task.predicts
    sets = task.class_sets(labels, scale, start.config) if predicts and start else None
    own = sets is not None
    model = _fresh(labels) if start is None else _started(start, init, labels, sets)
    model["embedding"]["dropout"] = defaults.dropout
    if not own:
        model["head"] = defaults.head
    elif "dropout" in (options := model["head"].get("options", {})):
        options["dropout"] = defaults.head["options"]["dropout"]
    tuning = _tuning(model)
    parts = ["embedding", "encoder"]
    parts += ["parser"] if model.get("parser") else []
    parts += ["head"] if own else []
    parses = ModelConfig.parse(model, source="model").parses
    source: dict[str, Any] = {"vectors": "wordpieces", "vector_std": 0.3, "statement": VECTORS}
    if start is not None:
        source = {"statement": STARTED.format(init if is_address(init) else Path(init).name)}
    whole: dict[str, Any] = {
        "name": re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "texts",
        "schema": 1,
        "description": defaults.description,
        "data": files.model_copy(update=source).model_dump(exclude_defaults=True),
        "task": task.settled(labels, scale, own=own).model_dump(exclude_defaults=True),
        "model": model,
        "training": {"learning_rate": defaults.learning_rate, "seeds": tuple(seeds)}
        | _training(tuning, texts, own_trees=parses and not task.teaches_parser, own=own)
        | ({} if epochs is None else {"epochs": epochs})
        | (WATCHED if watched >= FEWEST_WATCHED else {}),
        "export": {
            "inference_only": predicts,
            "quantize": tuning.quantize if predicts else TEXTS.quantize,
        },
    }
    if start is not None:
        frozen = ["parser"] if "parser" in parts and not task.teaches_parser else []
        whole["init"] = {"bundle": init, "parts": parts, "frozen": frozen}
    return Recipe.parse(whole, source="the recipe of the table")


def _tuning(model: Mapping[str, Any]) -> FineTuning:
    """What suits the embedding of a model."""
    embedding = EmbeddingConfig.model_validate(model["embedding"])
    own: FineTuning | None
    own = manager().find("embedding", embedding.registered).plugin.fine_tuning
    return own or TEXTS


def _training(tuning: FineTuning, texts: int, *, own_trees: bool, own: bool) -> dict[str, Any]:
    least, most = tuning.epochs
    differing = dict(tuning.own_classes) if own else {}
    most = differing.pop("epochs", most)
    epochs = min(most, max(least, round(tuning.texts / max(texts, 1))))
    training: dict[str, Any] = {"epochs": epochs, "stop_on": "nothing", **tuning.training}
    training |= {"gold": False, "sources": ["self"]} if own_trees else {}
    return training | differing


def _fresh(labels: Sequence[str]) -> dict[str, Any]:
    return {
        "labels": list(labels),
        "embedding": {"kind": "wordpieces", "size": 100},
        "cell": {"name": "nary_lstm.v1", "hidden_size": 150},
        "tree_source": "balanced",
    }


def _started(
    start: Bundle, init: str, labels: Sequence[str], sets: ClassSets | None
) -> dict[str, Any]:
    """The model of a bundle, with these labels, which are `sets` of its classes or classes of their
    own."""
    config = start.config
    if config.trees != "binary":
        problem = f"found one of {config.trees} trees; name another bundle, or none"
        raise ConfigError(f"{init}: expected a bundle of binary trees to start from, {problem}")
    excluded = {"schema_version", "class_sets", "class_weights", "texts"}  # it learns means
    model = config.model_dump(mode="json", exclude_defaults=True, exclude=excluded)
    model["labels"] = list(labels) if sets is None else list(config.labels)
    return model | ({"class_sets": sets} if sets else {})


def table_data(
    path: Path,
    settings: Mapping[str, Any],
    *,
    text_columns: Sequence[str] = (),
    inputs: Inputs | None = None,
) -> tuple[DataConfig, TableTask]:
    """The `data` and the `task` of a recipe for a table. `inputs`: what was opened of its folder
    before.

    `settings`: `dev`, `dev_share`, and fields of table tasks, except the columns of texts. A value
    of None counts as not given. `text_columns`: one column of texts, or two columns of pairs. By
    default it is "text", or "text_a" and "text_b" if the table has these and no "text".

    A table of texts with the columns "start" and "end" is asked about: `settings` must name the
    `task`: "texts", "spans" or "aspects".

    Pairs have scores if `score_column` is given, or if the table has a column "score" and no
    "label". Raises DataError if it has both or neither, and if the table cannot be read. Raises
    InputError for columns that do not go together, and ConfigError for other bad settings.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    dialect = {name: given[name] for name in ("encoding", "separator", "header") if name in given}
    inputs = inputs or Inputs(in_resolved_folder(path).parent)
    table = Table(inputs.table(path.name).named(path), **dialect)
    columns = tuple(text_columns) or _columns(table)
    if len(columns) > 2:
        raise InputError(
            f"--text: expected one, or two for pairs, found {len(columns)}; leave some out"
        )
    files = {"train": path.name, **_development(inputs.folder, given)}
    if (test := given.pop("test", None)) is not None:
        files["test"] = _beside(inputs.folder, test)
    if len(columns) == 2:
        name = _pair_task(table, given)
        given |= {"format": TABLE, "pair_columns": columns}
    elif "score_column" in given:
        raise InputError(
            "--score: scores are of pairs, found one column of texts; name two columns with --text"
        )
    else:
        if "task" not in given:
            with suppress(DataError):
                ask_about_spans(str(path), table.columns)
        name = f"{given.pop('task', 'texts')}.v1"
        given |= {"text_column": columns[0]}
    kind: type[TableTask] = manager().find("task", name).plugin
    if "span_group" in given and "span_group" not in kind.model_fields:
        raise InputError("--span-group: it is of --task spans; leave one of them out")
    settings = {key: value for key, value in given.items() if key in kind.model_fields}
    source = "the settings of the table"
    data, task = DataConfig.parse(files, source=source), kind.parse(settings, source=source)
    return data, task.model_copy(update={"separator": _separator(data, task, inputs)})


def _development(folder: Path, given: dict[str, Any]) -> dict[str, Any]:
    """The settings of what is reported on, taken out of those `given`."""
    share, dev = given.pop("dev_share", 0.1), given.pop("dev", None)
    if dev is None:
        return {"dev_share": share}
    return {"dev": _beside(folder, dev)}


def _beside(folder: Path, file: str) -> str:
    """The name of a file as a recipe whose files are in `folder` has it."""
    path = in_resolved_folder(Path(file))
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def ask_about_spans(source: str, columns: Iterable[str]) -> None:
    """Raise InputError, which names the `source`, for columns that seem to be of spans: nobody has
    said whether their rows label phrases or whole texts."""
    found = {name.strip().lower(): name for name in columns}
    if {"start", "end"} <= {*found}:
        names = f"{found['start']!r} and {found['end']!r}"
        raise InputError(
            f"{source}: its columns {names} may say which phrase of the text each row labels; say "
            "what is learnt (in Python task=): --task spans, the labels of phrases; --task aspects,"
            " terms and what is said of them; or --task texts, the labels of whole texts"
        )


def _columns(table: Table) -> tuple[str, ...]:
    """The columns of texts: those of pairs if the table has them. A table that cannot be read is
    left to its reader, which says why."""
    pair: tuple[str, str] = Pairs.model_fields["pair_columns"].default
    known: Collection[str] = ()
    with suppress(DataError):
        known = table.columns
    return pair if "text" not in known and {*pair} <= {*known} else ("text",)


def _separator(files: DataConfig, task: TableTask, inputs: Inputs) -> str | None:
    """The separator that a recipe names: of all its tables, if the names of these do not tell it.
    Where it is not the same in all, it is found whenever they are read."""
    if task.separator is not None:
        return task.separator
    tables = (files.train, files.dev, files.test)
    names = [name for name in tables if name and not name.endswith(".spacy")]
    found: set[tuple[str | None, str]] = set()
    for name in names:
        with suppress(DataError):  # Its reader says why it cannot be read.
            table = Table(inputs.table(name), encoding=task.encoding, header=task.header)
            if table.dialect:
                found.add((named_separator(name), table.dialect.separator))
    told = all(named == separator for named, separator in found)
    separators = {separator for _, separator in found}
    return None if told or len(separators) > 1 else separators.pop()


def _pair_task(table: Table, given: Mapping[str, Any]) -> str:
    if odd := [name for name in ("task", "span_group") if given.get(name)]:
        option = odd[0].replace("_", "-")
        raise InputError(f"--{option}: texts and phrases of texts, found pairs; leave it out")
    known = table.columns
    label, score = (f"{name}_column" in given for name in BOTH)
    if not (label or score):
        label, score = (name in known for name in BOTH)
    if label == score:
        found = "both" if label else ", ".join(map(repr, known))
        raise DataError(
            f"{table.path}: expected the column 'label' (classes) or 'score' (ratings) of pairs, "
            f"found {found}; name the column to learn with --label or --score"
        )
    return "relatedness.v1" if score else "entailment.v1"
