"""Tables of texts to learn by heart, and a tiny bundle to start from."""

import csv
import random

import torch
from bundle_folders import write
from training import tiny_recipe

from thinstack.bundle.manifest import ONNX_FILE, VOCABULARY_FILE, WEIGHTS_FILE
from thinstack.bundle.weights import weights_of
from thinstack.core.config import ModelConfig
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.export.onnx.model import export_onnx
from thinstack.plugins.build import build_model

PIECES = ("[UNK]", "good", "fine", "bad", "dull", "the", "film", "plot", "is", ".", "it", "who")
PARSER = {"name": "distances.v1", "options": {"width": 6, "lstm": 5, "hidden": 7}}


def start(folder, *, labels=("bad", "so-so", "good"), runs=False, **more):
    """A bundle of a model that parses, with weights at random; `runs`: with an ONNX file."""
    config = ModelConfig.parse(
        {
            "labels": labels,
            "embedding": {"kind": "wordpieces", "size": 4},
            "cell": {"name": "nary_lstm.v1", "hidden_size": 5},
            "head": {"name": "node_classifier.v1"},
            "parser": PARSER,
            **more,
        },
        source="test",
    )
    model = _drawn(config, seed=5)
    vocabulary = WordpieceVocabulary(PIECES)
    files = {VOCABULARY_FILE: vocabulary.to_bytes(), WEIGHTS_FILE: weights_of(model)}
    if runs:
        digest = vocabulary.digest()
        files[ONNX_FILE] = export_onnx(model.eval(), config, vocabulary_digest=digest)
    write(folder, files, config=config)
    return folder


SUBJECTS = ("The film", "The plot", "It")


def table(path, count=24, *, seed=0, subjects=SUBJECTS):
    """Texts of one to three sentences, "up" if they say more good than bad."""
    draw, rows = random.Random(seed), []
    for _ in range(count):
        label, words = draw.choice([("up", ("good", "fine")), ("down", ("bad", "dull"))])
        said = (f"{draw.choice(subjects)} is {draw.choice(words)}." for _ in range(3))
        rows.append([" ".join(list(said)[: draw.randint(1, 3)]), label])
    return write_rows(path, rows)


def write_rows(path, rows):
    """Rows of a text and a label as a table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["text", "label"], *rows])
    return path


def write_table(path, rows, *columns):
    """Rows of names and values as a table, of these columns or of all."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns or [*rows[0]], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def recipe(bundle, *, data=None, **training):
    """A recipe over `table` that starts from a bundle, or from the vectors of thinstack."""
    model = {
        "labels": ["down", "up"],
        "embedding": {"kind": "wordpieces", "size": 4},
        "cell": {"name": "nary_lstm.v1", "hidden_size": 5},
        "head": {"name": "root_classifier.v1", "options": {"hidden": 0}},
        **training.pop("model", {}),
    }
    settings = {
        "epochs": 3,
        "batch_size": 4,
        "stop_on": "nothing",
        "learning_rate": 0.1,
        **training,
    }
    whole = {"name": "tiny", "model": model, "training": settings}
    files = {"train": "texts.csv", "dev_share": 0.25, "task": "texts"}
    if bundle is None:
        files |= {"vectors": "wordpieces"}
    else:
        whole["init"] = {"bundle": str(bundle)}
        model.setdefault("parser", PARSER)
        settings |= {"gold": False, "sources": ["self"]}
    return tiny_recipe.parsed({**whole, "data": files | (data or {})})


def drawn(recipe):
    return _drawn(recipe.model, seed=1)


def _drawn(config, *, seed):
    torch.manual_seed(seed)
    model = build_model(config, entries=len(PIECES))
    with torch.no_grad():
        model.embedding.table.normal_(0, 1)
    return model
