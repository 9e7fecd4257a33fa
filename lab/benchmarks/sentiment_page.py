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
    "seconds": "seconds of learning",
}

ABOUT: Final = """
Accuracies in percent, on two sets. The first is SST's development sentences as raw text
(detokenised), with five classes and with two (the mass of the five; neutral sentences are left
out). The second is the reported half of the suite `polarity`
([docs/suite.md](../../docs/suite.md)): all of it, and two of its kinds. Bundles make their own
trees; each sentence of SST is one text. Rivals learnt from {seeds}.

No rival was chosen by these figures. Of trials of the bundles, they were known when the recipes
were settled ([suite.md](../../docs/suite.md#the-two-halves)).

Every tenth training sentence decides when `textcat` stops (by
spaCy's own defaults, at most {epochs} epochs), and which setting the encoder has. The encoder then
learns from all training sentences, `textcat` from the other nine tenths. Without a tree, the
encoder's outputs are averaged over a text's pieces and go to a linear layer. Its phrases have 3 to
20 words. They are drawn again each epoch and read by themselves. TF-IDF has words and pairs of
words; `thinstack.training.tasks.texts.report` says the rest.
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
    heads = ["model; what it learnt from", *COLUMNS.values()]
    table = [f"| {' | '.join(heads)} |", f"|---|{'---|' * len(COLUMNS)}", *rows]
    choice = "The encoder's settings, five classes / two classes on every tenth training sentence:"
    parts = (
        "# Sentiment beside rivals",
        ABOUT.strip().format(seeds=trained, epochs=TEXTCAT_EPOCHS),
        made.strip(),
        "\n".join(table),
        *(["\n".join([choice, "", *tried])] if tried else []),
    )
    return "\n\n".join(parts) + "\n"
