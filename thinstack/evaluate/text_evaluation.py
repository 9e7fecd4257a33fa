"""Measures how often an ONNX bundle is right about the texts of a table, without torch."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from thinstack.core.config import TreeSource
from thinstack.data.tables.table import Table
from thinstack.data.tables.table_rows import Classes, TableRow
from thinstack.errors import DataError
from thinstack.evaluate.accuracy import confusion, text_figures
from thinstack.evaluate.figures import Figures
from thinstack.evaluate.gold_labels import gold_labels
from thinstack.runtime.documents import document_scores
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.text import predict_text

_ADVICE: Final = "take such rows out, or say what the label means (--relabel NAME=CLASS)"


def evaluate_table(
    predictor: Predictor,
    path: str | Path,
    *,
    text: str = "text",
    label: str = "label",
    encoding: str = "utf-8",
    separator: str | None = None,
    header: bool | None = None,
    source: TreeSource = "auto",
    relabel: Mapping[str, str] | None = None,
    notes: list[str] | None = None,
) -> tuple[Figures, NDArray[np.int64]]:
    """The figures of `text_figures` over the columns `text` and `label` of a table, and its
    confusion matrix (C, C). `encoding`, `separator` and `header` are as in `Table`.

    A text is read as a user's text. Its label must mean one of the model's classes (`gold_labels`,
    which also says what `relabel` is). If the predictor shows fewer classes (`View`), labels are
    merged in the same way, and texts of a class that is left out do not count. The list `notes`
    takes sentences about how the table was read.

    Raises DataError, with file and line, for a row that cannot be used or a label that means no
    class, and InputError for a `relabel` that does not fit.
    """
    renamed = relabel or {}
    table = Table(path, encoding=encoding, separator=separator, header=header)
    meant = Classes(label, (*predictor.config.labels, *renamed), _ADVICE)

    def rows() -> Iterator[TableRow]:
        return table.rows([text, label], classes=meant)

    # Read before anything is scored, so that a label in the last row is found at once.
    classes, said = gold_labels(rows(), label, predictor, renamed, path)
    if not any(place >= 0 for place in classes.values()):
        shown = ", ".join(predictor.labels)
        raise DataError(f"{path}: expected texts of the classes {shown}, found no text of them")
    if {"start", "end"} <= {*table.columns}:
        said.append("the columns start and end were not read: texts are measured as a whole")
    if notes is not None:
        notes.extend(said)
    gold: list[int] = []

    def text_of(row: TableRow) -> str:
        if row.values[label] not in classes:
            raise DataError(f"{path}: it changed while it was read; evaluate it again")
        gold.append(classes[row.values[label]])
        return row.values[text]

    scores = text_scores(predictor, map(text_of, rows()), source=source, where=path)
    known = np.array(gold, np.int64)
    scores, known = scores[known >= 0], known[known >= 0]
    matrix = confusion(scores.argmax(1), known, len(predictor.labels))
    return text_figures(scores, known, predictor.labels), matrix


def text_scores(
    predictor: Predictor, texts: Iterable[str], *, source: TreeSource, where: str | Path
) -> NDArray[np.floating]:
    """The scores (T, C) of texts, each the mean over its sentences. Messages start with `where`.
    Raises DataError for a text without words."""
    found = []
    for number, sentences in enumerate(predict_text(predictor, texts, source=source)):
        if not sentences:
            raise DataError(f"{where}: expected texts with words, found none in text {number}")
        found.append(document_scores(sentences))
    none = np.zeros((0, len(predictor.labels)))
    return np.concatenate([none, *(each[None] for each in found)])
