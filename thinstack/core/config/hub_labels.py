"""`id2label` and `label2id`: the classes by number and back, as configurations on the Hugging Face
hub have them. They repeat `labels`, and are not settings."""

from collections.abc import Sequence
from typing import Any


def hub_labels(labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Both fields, ready for JSON, with strings as keys."""
    return {
        "id2label": {str(place): label for place, label in enumerate(labels)},
        "label2id": {label: place for place, label in enumerate(labels)},
    }


def without_hub_labels(data: dict[str, Any]) -> dict[str, Any]:
    """A configuration without these fields. Raises ValueError if they do not match its labels."""
    labels = data.get("labels")
    if isinstance(labels, list | tuple) and all(isinstance(each, str) for each in labels):
        for name, expected in hub_labels(labels).items():
            if name in data and data[name] != expected:
                raise ValueError(
                    f"{name} must number the labels in their order, or be left out; found "
                    f"{data[name]!r:.80}"
                )
    return {name: value for name, value in data.items() if name not in ("id2label", "label2id")}
