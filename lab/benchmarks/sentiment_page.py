"""The page of `sentiment_rivals.py`, in Markdown."""

import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from statistics import fmean, stdev
from typing import Final

import torch

TEXTCAT_EPOCHS: Final = 10
"""Epochs of spaCy's ensemble, at most."""

COLUMNS: Final = {
    "accuracy": "five classes",
    "binary_accuracy": "two classes",
    "suite": "suite",
    "negated_negatives": "negated negatives",
    "negated_positives": "negated positives",
    "seconds": "training, s",
}

ABOUT: Final = """
Accuracy in percent on SST's development sentences as raw text (detokenized), with five classes and
with two (summed probabilities, without neutral sentences), and on the reported half of the suite
[`polarity`](../../docs/suite.md) and two of its kinds. Bundles make their own trees; each sentence
of SST is one text. Rivals were trained with {seeds}, and not chosen by these figures.
"""
TRAINING: Final = """
Every tenth training sentence decides when `textcat` stops (spaCy's defaults, at most {epochs}
epochs) and which setting the encoder has. The encoder then trains on all sentences, `textcat` on
the other nine tenths. Without a tree, a linear layer reads the mean of the encoder's outputs. Its
phrases of 3 to 20 words are drawn again in each epoch. TF-IDF has words and pairs of words
(`thinstack/training/tasks/texts/report.py`).
"""


def row_of(name: str, figures: Sequence[Mapping[str, float]]) -> str:
    """A row of the table: means and, of several seeds, their deviations."""
    cells = []
    for key in COLUMNS:
        values = [found[key] for found in figures if key in found]
        digits = 0 if key == "seconds" else 1
        cell = f"{fmean(values):.{digits}f}" if values else "-"
        cells.append(f"{cell} ± {stdev(values):.{digits}f}" if len(values) > 1 else cell)
    return f"| {name} | {' | '.join(cells)} |"


def page_of(rows: Sequence[str], tried: Sequence[str], *, seeds: int, note: str) -> str:
    """The page of these rows, of the encoder's settings that were `tried`, with a note on the
    machine."""
    made = (
        f"Made by `python lab/benchmarks/sentiment_rivals.py` with Python "
        f"{platform.python_version()}, torch {torch.__version__}, spaCy {version('spacy')}, "
        f"scikit-learn {version('scikit-learn')}, on {os.cpu_count()} cores of "
        f"{platform.machine()}, {torch.get_num_threads()} of them for the encoder. {note}"
    )
    trained = "one seed" if seeds == 1 else f"{seeds} seeds (± is their deviation)"
    heads = ["model; training data", *COLUMNS.values()]
    table = [f"| {' | '.join(heads)} |", f"|---|{'---|' * len(COLUMNS)}", *rows]
    choice = "The encoder's settings, on every tenth training sentence (five / two classes):"
    parts = (
        "# Sentiment compared with rivals",
        ABOUT.strip().format(seeds=trained),
        "\n".join(table),
        TRAINING.strip().format(epochs=TEXTCAT_EPOCHS),
        *(["\n".join([choice, "", *tried])] if tried else []),
        made.strip(),
    )
    return "\n\n".join(parts) + "\n"
