"""Bundles that tests write, and ways to damage one, whose manifest's digest fits the change."""

import hashlib
import json
import os
from pathlib import Path

from thinstack.bundle import write_bundle
from thinstack.core.config import CellConfig, EmbeddingConfig, HeadConfig, ModelConfig

GOLDEN = Path(__file__).parent / "golden" / "schema-1"
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


def write(path, files=FILES, **more):
    return write_bundle(
        path,
        files,
        **{"config": CONFIG, "metrics": {"root_accuracy": 50.5}, "data": "a treebank", **more},
    )


def reseal(folder, change):
    """Change the manifest and give it the digest and the form that belong to the change."""
    raw = json.loads((folder / "manifest.json").read_bytes())
    change(raw)
    (folder / "manifest.json").write_bytes(sealed(raw))


def sealed(raw):
    """A manifest with the digest and the form that belong to it, as `Manifest` states."""
    covered = {key: value for key, value in raw.items() if key != "digest"}
    form = {"sort_keys": True, "ensure_ascii": False}
    canonical = json.dumps(covered, separators=(",", ":"), **form)
    raw["digest"] = hashlib.sha256(canonical.encode()).hexdigest()
    text = json.dumps(raw, indent=2, **form)
    return f"{text}\n".encode()


def record(content):
    return {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}


def resealed(change):
    """A manifest changed so."""
    return lambda folder: reseal(folder, change)


def replaced(name, content):
    """Another content in place of a file."""

    def damage(folder):
        (folder / name).write_bytes(content)
        reseal(folder, lambda raw: raw["files"].update({name: record(content)}))

    return damage


def claimed(name, size):
    """A file of holes of so many bytes, as the manifest says."""

    def damage(folder):
        os.truncate(folder / name, size)
        reseal(folder, lambda raw: raw["files"][name].update(size=size))

    return damage


def listed(files):
    """A manifest that lists these files too, of these sizes."""
    records = {name: {**record(b""), "size": size} for name, size in files.items()}
    return resealed(lambda raw: raw["files"].update(records))


def manifest(text):
    """Another manifest."""
    return lambda folder: (folder / "manifest.json").write_text(text)
