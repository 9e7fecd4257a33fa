"""The sets of `beside.py`: texts and what people say of them, as numbers whose sign is the side."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from thinstack.core.scale import Scale
from thinstack.data.tables.table import Table
from thinstack.errors import DataError
from thinstack.text.raw_text import detokenize
from thinstack.training.examples.set_aside import is_held_out

HELD_OUT: Final = 10
"""The setting `held_out` of the lessons in lab/recipes/sentiment*.toml."""


class Texts(NamedTuple):
    """Texts (T,) of one field, and their numbers (T,): below 0 negative, above 0 positive."""

    name: str
    texts: list[str]
    numbers: NDArray[np.float64]


def film(path: Path) -> Texts:
    """The sentences of a file of SST as raw text, with their classes from -2 to 2."""
    from sentiment_rivals import read_sst  # which needs torch

    sentences, _ = read_sst(path, None)
    return Texts("film", sentences.texts, np.array(sentences.classes) - 2.0)


def reviews(path: Path) -> Texts:
    """The sentences of a table of treebank words that no model has learnt from, as raw text."""
    texts, labels = unlearnt(path, "label")
    return Texts("product reviews", list(map(raw, texts)), numbers_of(labels))


def rated(path: Path) -> Texts:
    """The sentences that no model has learnt from, with ratings from -4 to 4."""
    texts, ratings = unlearnt(path, "rating")
    return Texts("rated product sentences", texts, numbers_of(ratings))


def restaurants(path: Path) -> Texts:
    """The sentences of a table of terms whose terms are all positive, or all negative, without
    those that a model has learnt from."""
    sides: dict[str, set[str]] = {}
    for text, label in zip(*unlearnt(path, "label"), strict=True):
        sides.setdefault(text, set()).add(label)
    clear = {text: labels for text, labels in sides.items() if len(labels) == 1}
    labels = [label for (label,) in clear.values() if label in ("positive", "negative")]
    texts = [text for text, labels in clear.items() if labels <= {"positive", "negative"}]
    return Texts("restaurants", list(map(raw, texts)), numbers_of(labels))


def read_table(given: str) -> Texts:
    """A set of a user's, given as NAME=FILE:TEXT:LABEL."""
    name, _, rest = given.partition("=")
    file, *columns = rest.rsplit(":", 2)
    if len(columns) != 2:
        raise typer.BadParameter(f"--table: expected NAME=FILE:TEXT:LABEL, found {given!r}")
    texts, labels = cells(Path(file), *columns)
    return Texts(name, texts, numbers_of(labels))


def cells(path: Path, text: str, label: str) -> tuple[list[str], list[str]]:
    """Two columns of a table, without rows that cannot be used."""
    bad: list[DataError] = []
    rows = [row.values for row in Table(path).rows([text, label], skipped=bad)]
    if bad:
        typer.echo(f"left out {len(bad)} rows, such as: {bad[0]}", err=True)
    return [row[text] for row in rows], [row[label] for row in rows]


def unlearnt(path: Path, label: str) -> tuple[list[str], list[str]]:
    """Texts and labels of the rows that no recipe shows a model, though it names the table."""
    rows = zip(*cells(path, "text", label), strict=True)
    held_out = [(text, label) for text, label in rows if is_held_out(text, HELD_OUT)]
    return [text for text, _ in held_out], [label for _, label in held_out]


def raw(text: str) -> str:
    """Treebank words with spaces between them, as raw text."""
    return detokenize(text.split())


def numbers_of(labels: Iterable[str]) -> NDArray[np.float64]:
    """The places of classes on their scale, or numbers about their middle."""
    labels = list(labels)
    classes = sorted(set(labels))
    if (scale := Scale.of(classes)) is not None:
        places = dict(zip(classes, scale.polarity, strict=True))
        return np.array([places[label] for label in labels])
    try:
        numbers = np.array(labels, float)
    except ValueError:
        found = ", ".join(classes[:8])
        raise typer.BadParameter(
            f"expected classes with a side, or numbers; found {found}"
        ) from None
    return numbers if numbers.min() < 0 else numbers - (numbers.min() + numbers.max()) / 2
