"""Measures how often an ONNX bundle is right about the texts of a table, without torch."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thinstack.config import TreeSource
from thinstack.data.tables import TableRow, read_table
from thinstack.errors import DataError
from thinstack.measure.figures import Figures
from thinstack.measure.text_figures import confusion, text_figures
from thinstack.runtime.documents import document_scores
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.text import predict_text

__all__ = ["evaluate_table", "text_scores"]


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
) -> tuple[Figures, NDArray[np.int64]]:
    """The figures of `text_figures` over the columns `text` and `label` of a table, and its
    confusion matrix (C, C). `encoding`, `separator` and `header` are as in `read_table`.

    A text is read as a user's text. Its label must be one of the model's classes. If the predictor
    shows fewer classes (`View`), labels are merged in the same way, and texts of a class that is
    left out do not count. Raises DataError, with file and line, for a row that cannot be used or a
    label that the model does not have.
    """
    gold: list[int] = []
    labels = predictor.config.labels

    def text_of(row: TableRow) -> str:
        if row.values[label] not in labels:
            expected = f"one of the model's labels ({', '.join(labels)})"
            found = row.values[label]
            raise DataError(f"{path}:{row.line}: expected {expected}, found {found!r:.60}")
        gold.append(labels.index(row.values[label]))
        return row.values[text]

    rows = read_table(path, [text, label], encoding=encoding, separator=separator, header=header)
    texts = map(text_of, rows)
    scores = text_scores(predictor, texts, source=source, where=path)
    known = predictor.view.classes(np.array(gold, np.int64))
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
            raise DataError(f"{where}: expected texts with words, found none in text {number + 1}")
        found.append(document_scores(sentences))
    none = np.zeros((0, len(predictor.labels)))
    return np.concatenate([none, *(each[None] for each in found)])
