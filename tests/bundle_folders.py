"""Bundles that tests write, and ways to damage one, whose manifest's digest fits the change."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from thinstack.bundle import Bundle, write_bundle
from thinstack.core.config import CellConfig, EmbeddingConfig, HeadConfig, ModelConfig

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
    """Change the manifest and give it the digest and the form that belong to the change."""
    raw = json.loads((folder / "manifest.json").read_bytes())
    change(raw)
    (folder / "manifest.json").write_bytes(sealed(raw))


def sealed(raw: dict[str, Any]) -> bytes:
    """A manifest with the digest and the form that belong to it, as `Manifest` states."""
    covered = {key: value for key, value in raw.items() if key != "digest"}
    form: dict[str, Any] = {"sort_keys": True, "ensure_ascii": False}
    canonical = json.dumps(covered, separators=(",", ":"), **form)
    raw["digest"] = hashlib.sha256(canonical.encode()).hexdigest()
    text = json.dumps(raw, indent=2, **form)
    return f"{text}\n".encode()


def record(content: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}


Damage = Callable[[Path], object]


def resealed(change: Callable[[dict[str, Any]], object]) -> Damage:
    """A manifest changed so."""
    return lambda folder: reseal(folder, change)


def replaced(name: str, content: bytes) -> Damage:
    """Another content in place of a file."""

    def damage(folder: Path) -> None:
        (folder / name).write_bytes(content)
        reseal(folder, lambda raw: raw["files"].update({name: record(content)}))

    return damage


def claimed(name: str, size: int) -> Damage:
    """A file of holes of so many bytes, as the manifest says."""

    def damage(folder: Path) -> None:
        os.truncate(folder / name, size)
        reseal(folder, lambda raw: raw["files"][name].update(size=size))

    return damage


def listed(files: dict[str, int]) -> Damage:
    """A manifest that lists these files too, of these sizes."""
    records = {name: {**record(b""), "size": size} for name, size in files.items()}
    return resealed(lambda raw: raw["files"].update(records))


def manifest(text: str) -> Damage:
    """Another manifest."""
    return lambda folder: (folder / "manifest.json").write_text(text)
