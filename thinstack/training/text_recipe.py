"""Makes the recipe that `thinstack train TABLE` runs."""

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.hub.remote import is_address
from thinstack.core.config import EmbeddingConfig, ModelConfig
from thinstack.core.embedding import FineTuning
from thinstack.errors import ConfigError
from thinstack.plugins.manager import manager
from thinstack.training.recipe import DataConfig, Recipe
from thinstack.training.task import Task
from thinstack.training.tasks._table import TableTask

TEXTS: Final = FineTuning(
    texts=120_000,
    epochs=(4, 20),
    training={"vector_learning_rate": 1.0, "average": 0.7},
    own_classes={"epochs": 5, "learning_rate": 0.002, "vector_learning_rate": 0.1},
    quantize="int8-tables",
)
"""The settings, unless the embedding has others. They did well on held-out training texts of TREC
and SST, from 500 to 8,000 of them. For classes that are the bundle's own, steps are small:
AdaGrad's first steps are as large as its rate, and steps of 0.05 undo what the treebank taught."""

VECTORS: Final = """Word vectors start from the input table of
sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)."""
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
) -> Recipe:
    """The recipe of a `task` for a table of so many `texts`, or pairs, with these classes.

    `init`: the name or folder of the bundle where learning starts; `start` is that bundle, if it is
    open already. "none" starts from the wordpiece vectors that thinstack brings along, a fresh cell
    and balanced trees. If the classes of texts are the bundle's own, its head is kept too, and its
    phrases keep their meaning. `scale`: whether the classes, in their order, are a scale; by
    default their names tell (`in_order`).

    Raises InputError for a `scale` of pairs or of two classes, and ConfigError for a bundle whose
    trees are not binary.
    """
    if start is None and init != "none":
        start = open_bundle(init)
    defaults, predicts = task.defaults, task.predicts
    own = predicts and start is not None and tuple(labels) == start.config.labels
    model = _fresh(labels) if start is None else _started(start, init, labels)
    if not own:
        model["embedding"]["dropout"] = defaults.dropout
        model["head"] = defaults.head
    tuning = _tuning(model)
    parts = ["embedding", "encoder"]
    parts += ["parser"] if model.get("parser") else []
    parts += ["head"] if own else []
    parses = ModelConfig.parse(model, source="model").parses
    if start is None:
        vectors = {"vectors": "wordpieces", "vector_std": 0.3, "statement": VECTORS}
        data = files.model_copy(update=vectors)
    else:
        data = files.model_copy(
            update={"statement": STARTED.format(init if is_address(init) else Path(init).name)}
        )
    whole: dict[str, Any] = {
        "name": re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "texts",
        "schema": 2,
        "description": defaults.description.format(", ".join(labels)),
        "data": data.model_dump(exclude_defaults=True),
        "task": task.settled(labels, scale, own=own).model_dump(exclude_defaults=True),
        "model": model,
        "training": {"learning_rate": defaults.learning_rate, "seeds": tuple(seeds)}
        | _training(tuning, texts, parses=parses, own=own),
        "export": {
            "inference_only": predicts,
            "quantize": tuning.quantize if predicts else TEXTS.quantize,
        },
    }
    if start is not None:
        frozen = ["parser"] if "parser" in parts else []
        whole["init"] = {"bundle": init, "parts": parts, "frozen": frozen}
    return Recipe.parse(whole, source="the recipe of the table")


def _tuning(model: Mapping[str, Any]) -> FineTuning:
    """What suits the embedding of a model."""
    embedding = EmbeddingConfig.model_validate(model["embedding"])
    own: FineTuning | None
    own = manager().find("embedding", embedding.registered).plugin.fine_tuning
    return own or TEXTS


def _training(tuning: FineTuning, texts: int, *, parses: bool, own: bool) -> dict[str, Any]:
    least, most = tuning.epochs
    training: dict[str, Any] = {
        "epochs": min(most, max(least, round(tuning.texts / max(texts, 1)))),
        "stop_on": "nothing",
        **tuning.training,
    }
    training |= {"gold": False, "sources": ["self"]} if parses else {}
    return training | (dict(tuning.own_classes) if own else {})


def _fresh(labels: Sequence[str]) -> dict[str, Any]:
    return {
        "labels": list(labels),
        "embedding": {"kind": "wordpieces", "size": 100},
        "cell": {"name": "nary_lstm.v1", "hidden_size": 150},
        "tree_source": "balanced",
    }


def _started(start: Bundle, init: str, labels: Sequence[str]) -> dict[str, Any]:
    """The model of a bundle, with these labels."""
    config = start.config
    if config.trees != "binary":
        problem = f"found one of {config.trees} trees; name another bundle, or none"
        raise ConfigError(f"{init}: expected a bundle of binary trees to start from, {problem}")
    model = config.model_dump(mode="json", exclude_defaults=True, exclude={"schema_version"})
    model["labels"] = list(labels)
    return model


def commented(recipe: Recipe, *, first: str) -> str:
    """A recipe as TOML, with a comment before each field that says what it is. `first`: the text of
    the comments at its top."""
    lines = [f"# {line}".rstrip() for line in first.splitlines()]
    return "\n".join([*lines, "", *_lines(recipe, "")]) + "\n"


def _lines(model: BaseModel, path: str) -> Iterator[str]:
    tables: list[tuple[str, BaseModel]] = []
    if isinstance(model, Task):
        yield from _field("name", model.name, f"What is learnt: {model.summary}.")
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            tables.append((name, value))
        elif value is not None and (field.is_required() or name in model.model_fields_set):
            yield from _field(field.alias or name, value, field.description or name)
    for name, table in tables:
        if table.model_fields_set or isinstance(table, Task):
            inner = f"{path}.{name}" if path else name
            yield from ("", f"[{inner}]", *_lines(table, inner))


def _field(name: str, value: Any, description: str) -> Iterator[str]:
    yield from textwrap.wrap(description, 98, initial_indent="# ", subsequent_indent="# ")
    yield f"{name} = {_toml(value)}"


def _toml(value: Any) -> str:
    """A value on one line; the strings of JSON are strings of TOML."""
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(name)} = {_toml(one)}" for name, one in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)
