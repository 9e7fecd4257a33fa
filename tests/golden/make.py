"""Writes the golden bundles of the current schemas, and leaves those that are there: `python
tests/golden/make.py`."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import torch

from thinstack.bundle import write_bundle
from thinstack.bundle.manifest import BUNDLE_SCHEMA
from thinstack.bundle.weights import weights_of
from thinstack.core.config import ModelConfig
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.export.compare import reference_cases
from thinstack.export.onnx.verify import export_verified_onnx
from thinstack.export.torchscript import export_torchscript
from thinstack.plugins.build import build_model

FOLDER = Path(__file__).parent / f"schema-{BUNDLE_SCHEMA}"

WORDS: dict[str, Any] = {
    "labels": ["bad", "so-so", "schön"],
    "embedding": {"kind": "words", "size": 4},
    "cell": {"name": "nary_lstm.v1", "hidden_size": 3},
    "head": {"name": "node_classifier.v1"},
}
PIECES: dict[str, Any] = {
    **WORDS,
    "embedding": {"kind": "wordpieces", "size": 4},
    "encoder": {"tracker": {"size": 5, "lookahead": 2, "feeds": False}},
    "tree_source": "self",
}
TEXTS: dict[str, Any] = {
    **{name: value for name, value in PIECES.items() if name != "encoder"},
    "parser": {"name": "distances.v1", "options": {"width": 4, "lstm": 3, "hidden": 3}},
    "aggregation": "tree",
}
SETS: dict[str, Any] = {**PIECES, "class_sets": {"gut": ["schön"], "schlecht": ["bad"]}}


def make(name: str, raw: dict[str, Any], vocabulary: WordVocabulary | WordpieceVocabulary) -> None:
    """Write one bundle, of a model with random weights, unless it is there."""
    if (FOLDER / name).exists():
        return
    config = ModelConfig.parse(raw, source=name)
    torch.manual_seed(BUNDLE_SCHEMA)
    model = build_model(config, entries=len(vocabulary))
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_()
    model.eval()
    onnx, report = export_verified_onnx(model, config, vocabulary_digest=vocabulary.digest())
    scripted, scripted_report = export_torchscript(model)
    reports = {
        "onnx": dataclasses.asdict(report),
        "torchscript": dataclasses.asdict(scripted_report),
    }
    files = {
        "vocabulary.txt": vocabulary.to_bytes(),
        "onnx/model.onnx": onnx,
        "model.safetensors": weights_of(model),
        "torchscript/model.pt": scripted,
        "cases.json": json.dumps(reference_cases(model, config)).encode(),
        "verification.json": json.dumps(reports).encode(),
        "README.md": f"# {name}\n\nA model of random weights.\n".encode(),
    }
    write_bundle(
        FOLDER / name,
        files,
        config=config,
        metrics={"accuracy": 33.5},
        data="none",
        created="2026-01-01",
    )


if __name__ == "__main__":
    make("words", WORDS, WordVocabulary(["the", "film", "is", "good", "café"]))
    pieces = WordpieceVocabulary(["[UNK]", "the", "film", "##s", "good", "caf", "##e"])
    make("wordpiece-parser", PIECES, pieces)
    make("class-sets", SETS, pieces)
    make("texts", TEXTS, pieces)
