"""Writes the recipe for `thinstack train TABLE`: what to train on, where to start, and with which
settings."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from thinstack.bundle import Bundle, is_installed, open_bundle
from thinstack.bundle.hub import is_address
from thinstack.bundle.weights import load_model
from thinstack.core.config import ModelConfig
from thinstack.core.embedding import FineTuning
from thinstack.core.scale import ClassSets, set_matrix
from thinstack.errors import ConfigError, DataError
from thinstack.plugins.manager import manager
from thinstack.training.examples.datasets import read_items
from thinstack.training.examples.inputs import Inputs
from thinstack.training.loop.measuring import text_scores_of
from thinstack.training.recipe import DataConfig, ExportConfig, InitConfig, Recipe, TrainingConfig
from thinstack.training.table_task import TableOptions, table_task
from thinstack.training.tasks._table import TableTask
from thinstack.training.tasks.texts import Text

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

MOST_WEIGHED: Final = 2000
"""Maximum texts that weights are fitted on, evenly spread."""
_TOWARDS_ONE: Final = 1e-3
"""Weight of the squared logarithms of the weights, relative to the mean loss of a text."""


def table_recipe(path: Path, name: str, options: TableOptions, inputs: Inputs) -> Recipe:
    """Return the recipe with this `name` for the table at `path`. `inputs`: of the table's folder.

    Raises DataError for a table that cannot be read, and the errors of `table_task` and
    `text_recipe`.
    """
    data, task = table_task(path, options, inputs)
    bad: list[DataError] | None = [] if task.skip_bad else None
    file = inputs.table(path.name).named(path)
    rows = list(task.rows(file, bad, options.labels))
    watched = round(len(rows) * (data.dev_share or 0.0))
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
    options: TableOptions = TableOptions(),  # noqa: B008 - it is frozen
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


def with_weights(recipe: Recipe, items: Sequence[Text], start: Bundle) -> Recipe:
    """Add the most likely weights of the labels for these training texts, by the scores of the
    initial bundle: labels may be more or less frequent than in its treebank."""
    texts, config = items[:: -(-len(items) // MOST_WEIGHED)], recipe.model
    gold = [config.shown_labels.index(text.label) for text in texts]
    words = [text.sentences for text in texts]
    examples = recipe.task.made_examples(words, gold, start.vocabulary(), config)
    source = "self" if config.parses else "gold"
    sets = set_matrix(config.labels, config.class_sets)
    masses = text_scores_of(load_model(start), examples, source, sets)(None)
    weights = fit_weights(masses, np.array(gold)).tolist()
    rounded = {"class_weights": tuple(float(f"{weight:.4g}") for weight in weights)}
    return recipe.model_copy(update={"model": config.model_copy(update=rounded)})


def fit_weights(masses: NDArray[np.floating], gold: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weights (S,), with the product 1, that maximize the likelihood of the labels
    `gold` (T,), if a label is as probable as its weight times its mass (T, S)."""
    logs = np.log(np.maximum(masses.astype(np.float64), np.finfo(np.float32).tiny))
    shares = np.bincount(gold, minlength=logs.shape[1]) / len(gold)

    def loss(bias: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        likely = log_softmax(logs + bias, axis=1)
        value = -likely[np.arange(len(gold)), gold].mean() + _TOWARDS_ONE * (bias**2).sum()
        return float(value), np.exp(likely).mean(0) - shares + 2 * _TOWARDS_ONE * bias

    bias = minimize(loss, np.zeros(logs.shape[1]), jac=True).x
    weights: NDArray[np.float64] = np.exp(bias - bias.mean())
    return weights
