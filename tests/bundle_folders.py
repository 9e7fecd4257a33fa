"""Bundles that tests write, and how a manifest is changed so that its own digest fits."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from thinstack.bundle import Bundle, write_bundle
from thinstack.config import CellConfig, EmbeddingConfig, HeadConfig, ModelConfig

CONFIG = ModelConfig(
    labels=("bad", "good"),
    embedding=EmbeddingConfig(kind="words", size=4),
    cell=CellConfig(name="nary_lstm.v1", hidden_size=3),
    head=HeadConfig(name="node_classifier.v1"),
)
FILES = {
    "vocabulary.txt": b"the\nfilm\n",
    "onnx/model.onnx": bytes(range(256)),
    "README.md": "# A café\n".encode(),
}
WRITTEN = [*FILES, "config.json", "manifest.json"]


def write(path: Path, files: dict[str, bytes] = FILES, **more: Any) -> Bundle:
    return write_bundle(
        path,
        files,
        **{"config": CONFIG, "metrics": {"root_accuracy": 50.5}, "data": "a treebank", **more},
    )


def reseal(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest and give it the digest and the form that belong to the change, by the
    rule that `Manifest` states."""
    raw = json.loads((folder / "manifest.json").read_bytes())
    change(raw)
    covered = {key: value for key, value in raw.items() if key != "digest"}
    canonical = json.dumps(
        covered, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    ).encode()
    raw["digest"] = hashlib.sha256(canonical).hexdigest()
    text = json.dumps(raw, sort_keys=True, indent=2, ensure_ascii=False) + "\n"
    (folder / "manifest.json").write_bytes(text.encode())


def record(content: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
