"""The front matter of a model card, which the Hugging Face Hub reads: YAML between two lines of
hyphens (https://huggingface.co/docs/hub/model-cards)."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from thinstack.core.config import ModelConfig
from thinstack.core.scale import NO_TERM, Scale

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
"""Metrics by key: their type on the hub, and a name."""


def front_matter(
    name: str, config: ModelConfig, shipped: Any, over_seeds: Any, *, reported: str, **card: Any
) -> str:
    """Return the front matter between its two lines. `card`: fields of a recipe's `[card]`.

    `shipped`: metrics of the model by source, as in the manifest. Without them, the means of
    `over_seeds` are used. `reported`: a description of the evaluation data.
    """
    alike = config.head.name == "similarity.v1" or not config.labels
    task = "sentence-similarity" if alike else "text-classification"
    scale = Scale.of([label for label in config.labels if label != NO_TERM])
    usual = ["thinstack", "onnx", *([] if scale is None else ["sentiment-analysis"])]
    usual += ["feature-extraction"] * config.gives_vectors
    tags = list(dict.fromkeys([*usual, *card.pop("tags", ())]))
    dataset = {"type": card.pop("dataset", None) or reported, "name": reported}
    fields = {"library_name": "thinstack", "pipeline_tag": task, "tags": tags, **card}
    binary = Scale.of(config.shown_labels) is not None
    if metrics := list(_metrics(shipped, over_seeds, binary)):
        result = {"task": {"type": task}, "dataset": dataset, "metrics": metrics}
        fields["model-index"] = [{"name": name, "results": [result]}]
    lines = (f"{key}: {_yaml(value)}\n" for key, value in fields.items() if value)
    return f"---\n{''.join(lines)}---\n"


def _metrics(shipped: Any, over_seeds: Any, binary: bool) -> Iterator[dict[str, Any]]:
    """Yield one entry per defined metric. Percentages become fractions, as on the hub."""
    whence = "" if shipped else ", mean over seeds before quantization"
    by_source = shipped or over_seeds
    for source, figures in by_source.items() if isinstance(by_source, Mapping) else ():
        how = "raw text" if source == "text" else f"{source} trees"
        for key, (kind, words) in METRICS.items() if isinstance(figures, Mapping) else ():
            value = figures.get(key)
            value = value.get("mean") if isinstance(value, Mapping) else value
            if isinstance(value, int | float) and (binary or "binary" not in key):
                share = round(value * (0.01 if kind in ("accuracy", "f1") else 1.0), 4)
                yield {"type": kind, "value": share, "name": f"{words}, {how}{whence}"}


def _yaml(value: Any) -> str:
    """Serialize to JSON, which is YAML except for characters that YAML does not print."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(char if char.isprintable() else f"\\U{ord(char):08X}" for char in text)
