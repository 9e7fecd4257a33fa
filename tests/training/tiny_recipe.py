"""A sentiment treebank small enough to learn by heart, and recipes over it."""

import random
from pathlib import Path
from typing import Any

from thinstack.training.recipe import Recipe

LABELS = ("negative", "so-so", "positive")
VALUES = dict.fromkeys(("good", "fine", "lovely"), 2)
VALUES |= dict.fromkeys(("bad", "dull", "awful"), 0)
VALUES |= dict.fromkeys(("the", "film", "plot", "is"), 1)
VECTORS = {
    "words.txt": ("good", "bad", "the", "film", "never"),
    "pieces.txt": (
        *("[UNK]", "good", "fine", "love", "##ly", "bad", "dull", "aw", "##ful"),
        *("the", "film", "plot", "is"),
    ),
}


OF_TASKS = {
    "data": (
        *("format", "text_column", "label_column", "pair_columns", "score_column", "encoding"),
        *("separator", "header", "skip_bad", "relabel", "span_group"),
    ),
    "training": ("root_weight", "neighbours", "phrase_penalty"),
}
"""Settings of tasks, by the section in which tests write them."""

TRAINING = {"epochs": 3, "batch_size": 4, "stop_on": "nothing", "sources": ("balanced",)}


def tree(words: list[str], generator: random.Random) -> str:
    """A random tree in brackets: a phrase is good or bad as its words are on the whole."""

    def phrase(part: list[str]) -> str:
        total = sum(VALUES[word] - 1 for word in part)
        label = 1 + (total > 0) - (total < 0)
        if len(part) == 1:
            return f"({label} {part[0]})"
        cut = generator.randrange(1, len(part))
        return f"({label} {phrase(part[:cut])} {phrase(part[cut:])})"

    return phrase(words)


def treebank(count: int, *, seed: int = 0) -> str:
    generator = random.Random(seed)
    words = sorted(VALUES)
    return "".join(
        tree(generator.choices(words, k=generator.randrange(1, 7)), generator) + "\n"
        for _ in range(count)
    )


def write_data(folder: Path, *, train: int = 30, dev: int = 10) -> Path:
    """A folder of `train.txt`, `dev.txt`, `words.txt` (vectors of 4 columns) and `pieces.txt`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.txt").write_text(treebank(train, seed=1), encoding="utf-8")
    (folder / "dev.txt").write_text(treebank(dev, seed=2), encoding="utf-8")
    generator = random.Random(3)
    for name, entries in VECTORS.items():
        numbers = ([f"{generator.gauss(0, 0.3):.4f}" for _ in range(4)] for _ in entries)
        rows = (" ".join([entry, *row]) for entry, row in zip(entries, numbers, strict=True))
        (folder / name).write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return folder


def recipe(kind: str = "words", *, vectors: str | None = None, **training: Any) -> Recipe:
    """A recipe over `write_data`; `training` are settings of its section, those of five others come
    in dicts of their name, and `lessons` in a list."""
    sections = ("data", "embedding", "cell", "model", "export")
    nested = {name: training.pop(name, {}) for name in sections}
    lessons = training.pop("lessons", ())
    files = {"train": "train.txt", "dev": "dev.txt", "vectors": vectors}
    data = {
        "name": "tiny",
        "data": {**files, "statement": "Made up.", **nested["data"]},
        "model": {
            "labels": LABELS,
            "embedding": {"kind": kind, "size": 4, "dropout": 0.1, **nested["embedding"]},
            "cell": {"name": "nary_lstm.v1", "hidden_size": 5, **nested["cell"]},
            "head": {"name": "node_classifier.v1", "options": {"dropout": 0.2}},
            **nested["model"],
        },
        "lessons": lessons,
        "training": {**TRAINING, **training},
        "export": nested["export"],
    }
    return parsed(data)


def parsed(raw: dict[str, Any]) -> Recipe:
    """The recipe in which the settings of the task, which tests write shortly, have their section;
    its name is `data.task`, or phrases."""
    raw = {**raw, "data": {**raw["data"]}, "training": {**raw["training"]}}
    task = {"name": f"{raw['data'].pop('task', 'phrases')}.v1"}
    for section, names in OF_TASKS.items():
        task |= {name: raw[section].pop(name) for name in names if name in raw[section]}
    return Recipe.parse({**raw, "task": task}, source="test")
