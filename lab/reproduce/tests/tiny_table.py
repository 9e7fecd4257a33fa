"""A table of two small models over a made-up treebank, as data and as a file."""

import copy
from pathlib import Path
from typing import Any

import tomli_w
from training.tiny_recipe import write_data

TABLE: dict[str, Any] = {
    "name": "tiny",
    "title": "Films",
    "paper": "Nobody 2001, Table 7: of one run",
    "differs": ["Data: made up."],
    "columns": [
        {"key": "root_accuracy", "title": "Root", "digits": 1},
        {"key": "left/root_accuracy", "title": "Left"},
    ],
    "variants": {
        "left": {"training": {"sources": ["left"], "gold": False}, "model": {"tree_source": "left"}}
    },
    "recipe": {
        "task": {"name": "phrases.v1"},
        "data": {"train": "train.txt", "dev": "dev.txt"},
        "model": {
            "labels": ["negative", "so-so", "positive"],
            "embedding": {"kind": "words", "size": 4},
            "cell": {
                "name": "nary_lstm_of_table_1.v1",
                "hidden_size": 5,
                "options": {"bias": "double"},
            },
            "head": {"name": "node_classifier.v1"},
        },
        "training": {"epochs": 2, "batch_size": 8, "stop_on": "nothing", "seeds": [1, 2]},
    },
    "rows": [
        {
            "name": "lstm",
            "title": "Tree-LSTM",
            "paper": {"root_accuracy": 51.0, "parameters": 1234},
        },
        {
            "name": "rvnn",
            "title": "RvNN",
            "variants": [],
            "recipe": {"model": {"cell": {"name": "rvnn.v1", "hidden_size": 3}}},
        },
    ],
}


def tiny() -> dict[str, Any]:
    """The table, to be changed."""
    return copy.deepcopy(TABLE)


def write(folder: Path, table: dict[str, Any]) -> Path:
    path = folder / f"{table['name']}.toml"
    path.write_text(tomli_w.dumps(table), encoding="utf-8")
    return path


def write_all(folder: Path, table: dict[str, Any]) -> tuple[Path, Path]:
    """The table's file and the folder of its data."""
    return write(folder, table), write_data(folder / "data")
