"""The front matter of a card: YAML between two lines of hyphens, which the Hugging Face hub reads
(https://huggingface.co/docs/hub/model-cards)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import Field

from thinstack.core.config import ModelConfig
from thinstack.core.config.base import Strict
from thinstack.core.scale import NO_TERM, Scale

LIBRARY: Final = "thinstack"
PIPELINE_TAGS: Final = {"similarity.v1": "sentence-similarity"}
"""What the hub calls the task, by task head; of all others "text-classification"."""
METRICS: Final = {
    "root_accuracy": ("accuracy", "accuracy, sentences"),
    "root_binary_accuracy": ("accuracy", "accuracy, sentences, binary"),
    "phrase_accuracy": ("accuracy", "accuracy, phrases"),
    "accuracy": ("accuracy", "accuracy"),
    "binary_accuracy": ("accuracy", "accuracy, binary"),
    "macro_f1": ("f1", "macro F1"),
    "pearson": ("pearsonr", "Pearson's r"),
    "spearman": ("spearmanr", "Spearman's rho"),
    "mse": ("mse", "mean squared error"),
}
"""Figures by their key: the type that the hub knows, and a name."""
_MARK = "---\n"


class CardConfig(Strict):
    """The fields at the top of the card, as the Hugging Face hub has them. A field that is left out
    is not written. All other fields come from the model and its figures."""

    language: tuple[str, ...] = Field(
        default=(), description='Languages of the texts by their codes, such as ["en"].'
    )
    license: str | None = Field(
        default=None,
        description='Licence of the weights, as the hub calls it: "mit", "apache-2.0", "other".',
    )
    base_model: str | None = Field(
        default=None,
        description='The model of the hub that the weights come from, such as "user/name".',
    )
    dataset: str | None = Field(
        default=None,
        description="The name on the hub of the data that is reported on. By default its file's.",
    )
    tags: tuple[str, ...] = Field(
        default=(), description="Tags beside those of every bundle (thinstack, onnx)."
    )


def front_matter(
    name: str,
    config: ModelConfig,
    card: CardConfig,
    shipped: Mapping[str, Mapping[str, Any]],
    over_seeds: Mapping[str, Mapping[str, Any]],
    *,
    reported: str,
) -> str:
    """The front matter of a bundle's card, with the two lines around it.

    `shipped`: figures of the model by source, as the manifest has them. Without them, the means of
    `over_seeds` are taken. Percentages become shares, because the hub's metrics are shares.
    `reported`: what the figures were measured on, in words.
    """
    task = PIPELINE_TAGS.get(config.head.name, "text-classification")
    scale = Scale.of([label for label in config.labels if label != NO_TERM])
    sentiment = [] if scale is None else ["sentiment-analysis"]
    fields = {
        "library_name": LIBRARY,
        "pipeline_tag": task,
        "tags": list(dict.fromkeys([LIBRARY, "onnx", *sentiment, *card.tags])),
        "language": list(card.language),
        "license": card.license,
        "base_model": card.base_model,
    }
    data: dict[str, Any] = {key: value for key, value in fields.items() if value}
    if metrics := list(_metrics(config.shown_labels, shipped, over_seeds)):
        result = {
            "task": {"type": task},
            "dataset": {"type": card.dataset or reported, "name": reported},
            "metrics": metrics,
        }
        data["model-index"] = [{"name": name, "results": [result]}]
    return f"{_MARK}{''.join(_block(data, ''))}{_MARK}"


def has_front_matter(card: str) -> bool:
    """Whether a card begins with front matter."""
    return card.startswith(_MARK) and f"\n{_MARK}" in card


def _metrics(
    labels: Sequence[str],
    shipped: Mapping[str, Mapping[str, Any]],
    over_seeds: Mapping[str, Mapping[str, Any]],
) -> Iterator[dict[str, Any]]:
    """One entry a figure that is defined."""
    whence = "" if shipped else ", mean over seeds before quantisation"
    for source, figures in (shipped or over_seeds).items():
        how = "raw text" if source == "text" else f"{source} trees"
        for key, (kind, name) in METRICS.items():
            value = figures.get(key)
            if not shipped:
                value = value.get("mean") if isinstance(value, Mapping) else None
            if "binary" in key and Scale.of(labels) is None:
                continue
            if not isinstance(value, int | float):  # undefined
                continue
            scale = 0.01 if kind in ("accuracy", "f1") else 1.0
            yield {"type": kind, "value": round(value * scale, 4), "name": f"{name}, {how}{whence}"}


def _block(value: Any, indent: str) -> Iterator[str]:
    """Mappings, lists and scalars as YAML, a line each; nothing of it is empty."""
    pairs = value.items() if isinstance(value, dict) else (("-", item) for item in value)
    for key, item in pairs:
        lead = indent + ("- " if key == "-" else f"{key}:")
        if not isinstance(item, dict | list):
            yield f"{lead}{'' if key == '-' else ' '}{_scalar(item)}\n"
        elif key == "-":
            first, *others = _block(item, f"{indent}  ")
            yield from (lead + first.lstrip(" "), *others)
        else:
            yield from (f"{lead}\n", *_block(item, f"{indent}  "))


def _scalar(value: Any) -> str:
    """Strings of JSON are those of YAML, but for characters that YAML does not print."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(char if char.isprintable() else f"\\U{ord(char):08X}" for char in text)
