"""Makes the recipe that `thinstack train TABLE` runs."""

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from thinstack.bundle import open_bundle
from thinstack.bundle.hub.remote import is_address
from thinstack.core.config import EmbeddingConfig, ModelConfig, Task
from thinstack.core.config.task import PAIR_TASKS
from thinstack.core.embedding import FineTuning
from thinstack.core.scale import in_order
from thinstack.errors import ConfigError, InputError
from thinstack.plugins.manager import manager
from thinstack.training.recipe import DataConfig, Recipe

__all__ = ["commented", "text_recipe"]

TEXTS: Final = FineTuning(
    texts=120_000,
    epochs=(4, 20),
    training={"learning_rate": 0.05, "vector_learning_rate": 1.0, "average": 0.7},
    own_classes={
        "epochs": 5,
        "learning_rate": 0.002,
        "vector_learning_rate": 0.1,
        "phrase_penalty": 5.0,
    },
    quantize="int8-tables",
)
"""The settings, unless the embedding has others. They did well on held-out training texts of TREC
and SST, from 500 to 8,000 of them. For classes that are the bundle's own, steps are small:
AdaGrad's first steps are as large as its rate, and steps of 0.05 undo what the treebank taught."""

NEIGHBOURS: Final = 0.2
"""The share of the loss on neighbours of ordered classes. On held-out SST sentences it is worth a
point."""

VECTORS: Final = """Word vectors start from the input table of
sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)."""
STARTED: Final = "Learning started from the bundle {}, whose data and terms hold here too."

PAIR_HEADS: Final[dict[Task, dict[str, Any]]] = {
    "entailment": {"name": "entailment.v1", "options": {"layers": 1, "width": 200, "dropout": 0.2}},
    "relatedness": {"name": "similarity.v1"},
}
DESCRIPTIONS: Final[dict[Task, str]] = {
    "texts": "Classes of texts: {}.",
    "entailment": "Classes of pairs of sentences: {}.",
    "relatedness": "Scores of pairs of sentences: the mean of {}, weighted by `pair_scores`.",
}


def text_recipe(
    name: str,
    files: DataConfig,
    labels: Sequence[str],
    *,
    texts: int,
    init: str,
    scale: bool | None = None,
) -> Recipe:
    """The recipe for a table of so many `texts`, or pairs, with these classes.

    `init`: the name or folder of the bundle where learning starts. "none" starts from the wordpiece
    vectors that thinstack brings along, a fresh cell and balanced trees. If the classes of texts
    are the bundle's own, its head is kept too, and its phrases keep their meaning. Models of spans
    score phrases, models of texts only sentences. `scale`: whether the classes, in their order, are
    a scale; by default their names tell (`in_order`).

    Raises InputError for a `scale` of pairs or of two classes. Raises what `open_bundle` raises,
    and ConfigError for a bundle whose trees are not binary.
    """
    pairs = files.task in PAIR_TASKS
    own = not pairs and init != "none" and tuple(labels) == open_bundle(init).config.labels
    model = _fresh(labels) if init == "none" else _started(init, labels)
    if not own:
        model["embedding"]["dropout"] = 0.2 if pairs else 0.4
        model["head"] = _head(files)
    tuning = _tuning(model)
    parts = ["embedding", "encoder"]
    parts += ["parser"] if model.get("parser") else []
    parts += ["head"] if own else []
    parses = ModelConfig.parse(model, source="model").parses
    if init == "none":
        vectors = {"vectors": "wordpieces", "vector_std": 0.3, "statement": VECTORS}
        data = files.model_copy(update=vectors)
    else:
        data = files.model_copy(
            update={"statement": STARTED.format(init if is_address(init) else Path(init).name)}
        )
    whole: dict[str, Any] = {
        "name": re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "texts",
        "description": DESCRIPTIONS[files.task].format(", ".join(labels)),
        "data": data.model_dump(exclude_defaults=True),
        "model": model,
        "training": _training(files, tuning, texts, parses=parses, own=own)
        | _neighbours(files, labels, scale, own=own),
        "export": {
            "inference_only": not pairs,
            "quantize": TEXTS.quantize if pairs else tuning.quantize,
        },
    }
    if init != "none":
        frozen = ["parser"] if "parser" in parts else []
        whole["init"] = {"bundle": init, "parts": parts, "frozen": frozen}
    return Recipe.parse(whole, source="the recipe of the table")


def _neighbours(
    files: DataConfig, labels: Sequence[str], scale: bool | None, *, own: bool
) -> dict[str, float]:
    """The setting for classes on a scale."""
    if scale and files.task != "texts":
        raise InputError("--scale: it is about classes of texts, found pairs; leave it out")
    if scale and len(labels) < 3:
        raise InputError(f"--scale: expected three classes or more, found {len(labels)}")
    if scale is None:
        scale = files.task == "texts" and not own and in_order(labels)
    return {"neighbours": NEIGHBOURS} if scale else {}


def _tuning(model: Mapping[str, Any]) -> FineTuning:
    """What suits the embedding of a model."""
    embedding = EmbeddingConfig.model_validate(model["embedding"])
    own: FineTuning | None
    own = manager().find("embedding", embedding.registered).plugin.fine_tuning
    return own or TEXTS


def _training(
    files: DataConfig, tuning: FineTuning, texts: int, *, parses: bool, own: bool
) -> dict[str, Any]:
    least, most = tuning.epochs
    training: dict[str, Any] = {
        "epochs": min(most, max(least, round(tuning.texts / max(texts, 1)))),
        "stop_on": "nothing",
        **tuning.training,
    }
    if tuning is TEXTS and files.task == "relatedness":
        training["learning_rate"] = 0.1
    training |= {"gold": False, "sources": ["self"]} if parses else {}
    return training | (dict(tuning.own_classes) if own else {})


def _head(files: DataConfig) -> dict[str, Any]:
    if files.task in PAIR_TASKS:
        return PAIR_HEADS[files.task]
    name = "node_classifier.v1" if files.spans else "root_classifier.v1"
    return {"name": name, "options": {"hidden": 0, "dropout": 0.6}}


def _fresh(labels: Sequence[str]) -> dict[str, Any]:
    return {
        "labels": list(labels),
        "embedding": {"kind": "wordpieces", "size": 100},
        "cell": {"name": "nary_lstm.v1", "hidden_size": 150},
        "tree_source": "balanced",
    }


def _started(init: str, labels: Sequence[str]) -> dict[str, Any]:
    """The model of a bundle, with these labels."""
    config = open_bundle(init).config
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
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            tables.append((name, value))
        elif value is not None and (field.is_required() or name in model.model_fields_set):
            yield from textwrap.wrap(
                field.description or name, 98, initial_indent="# ", subsequent_indent="# "
            )
            yield f"{name} = {_toml(value)}"
    for name, table in tables:
        if table.model_fields_set:
            inner = f"{path}.{name}" if path else name
            yield from ("", f"[{inner}]", *_lines(table, inner))


def _toml(value: Any) -> str:
    """A value on one line; the strings of JSON are strings of TOML."""
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(name)} = {_toml(one)}" for name, one in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)
