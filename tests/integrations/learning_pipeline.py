"""Pipelines with a `tree_classifier` over tiny texts, and examples for them."""

import csv
from pathlib import Path
from tempfile import TemporaryDirectory

import spacy
import tiny_texts
from spacy.training import Example

# Which makes spaCy know the factory where an older thinstack is installed.
import thinstack.integrations.spacy_training.factory  # noqa: F401

CLASSES = ("down", "up")


def pipeline(start, **settings):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tree_classifier", config={"model": str(start), "learning_rate": 0.1, **settings})
    return nlp


def examples(nlp, count=40, seed=0):
    with TemporaryDirectory() as folder:
        path = tiny_texts.table(Path(folder) / "texts.csv", count, seed=seed)
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    return [
        Example.from_dict(
            nlp.make_doc(row["text"]), {"cats": {name: name == row["label"] for name in CLASSES}}
        )
        for row in rows
    ]


def learn(nlp, given, passes=1):
    """Updates in batches of eight; the loss of each pass."""
    found = []
    for _ in range(passes):
        losses = {}
        for at in range(0, len(given), 8):
            nlp.update(given[at : at + 8], annotates=["sentencizer"], losses=losses)
        found.append(losses["tree_classifier"])
    return found
