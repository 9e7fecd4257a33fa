"""Labeling of the texts of a table by a person, the least certain first, and the file of labels."""

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple

import numpy as np

from thinstack.core.scale import ordered
from thinstack.data.tables.alike import likeness
from thinstack.data.tables.cell_text import Classes, csv_line
from thinstack.data.tables.table import Table
from thinstack.data.tables.table_rows import COLUMN_ADVICE, check_columns
from thinstack.errors import DataError, InputError, shown
from thinstack.runtime.predictor import Predictor

_MOST_LABELS: Final = 35  # the page has a key for each

MOST_TEXTS: Final = 50_000
"""Maximum number of texts that are scored, from the first."""


class DoubtfulText(NamedTuple):
    """A text to label.

    Attributes:
        line: its line in the table, from 1.
        label: its label in the table; "" without one.
        predicted: the model's label, and the `probability` of that, from 0 to 1.
    """

    line: int
    text: str
    label: str
    predicted: str
    probability: float


class Labelling:
    """A table whose texts are labeled one by one.

    Excludes texts that the file `out` contains, texts without words, and duplicates. `texts` are
    the others, sorted by the probability of the predicted label. `labels` are those of the column
    `label` if it has labels that the model lacks, otherwise the model's. `saved` are the labels in
    the file, by the `likeness` of the text. `skipped` is as for `Table.rows`.

    Raises DataError for a table or a file of labels that cannot be read or has other columns;
    InputError for more than `_MOST_LABELS` labels, and if no text is left.
    """

    def __init__(
        self,
        table: Table,
        predictor: Predictor,
        out: Path,
        *,
        text: str = "text",
        label: str = "label",
        skipped: list[DataError] | None = None,
    ):
        self.out, self._columns, self._lock = out, [text, label], Lock()
        self.labels = predictor.labels
        saved = self._rows_of(Table(out, separator=","))
        self.saved = {likeness(name): value for name, value in saved}
        rows = self._texts(table, skipped)
        texts = list[DoubtfulText]()
        for row, result in zip(rows, predictor.stream(row.text for row in rows), strict=True):
            if result.sentences:
                scores = np.array([*result.scores.values()])
                best = int(result.view.best(scores[None])[0])
                predicted, probability = predictor.labels[best], float(scores[best])
                texts.append(row._replace(predicted=predicted, probability=probability))
        self.texts = sorted(texts, key=lambda one: one.probability)
        if not texts:
            raise InputError(f"{table.path}: expected texts without a label in {out}, found none")
        if not 2 <= len(self.labels) <= _MOST_LABELS:
            raise InputError(
                f"{table.path}: expected 2 to {_MOST_LABELS} labels in the column {label!r}, "
                f"found {len(self.labels):,}: set the label column with --label"
            )

    def describe(self) -> dict[str, Any]:
        """Return the state for the page as JSON-serializable data."""
        counts = {"texts": len(self.texts), "saved": len(self.saved)}
        return {"labels": list(self.labels), "out": self.out.name, **counts}

    def row(self, place: object) -> dict[str, Any]:
        """Return a text by index as JSON-serializable data; `chosen` is its label in the file, or
        None, and `saved` the number of labels there. Raises InputError for an invalid index."""
        text = self._at(place)
        return text._asdict() | {
            "chosen": self.saved.get(likeness(text.text)),
            "saved": len(self.saved),
        }

    def save(self, place: object, label: object) -> None:
        """Write the label of a text and flush it to disk. The last of several labels of a text
        counts. Raises InputError for a label that is not in `labels`, and if the file cannot be
        written."""
        text = self._at(place).text
        if label not in self.labels:
            raise InputError(
                f"expected one of the labels {', '.join(self.labels)}, found {shown(label)}"
            )
        try:
            with self._lock, self.out.open("a", encoding="utf-8", newline="") as file:
                rows = [[text, label]] if file.tell() else [self._columns, [text, label]]
                file.write("".join(map(csv_line, rows)))
                file.flush()
                os.fsync(file.fileno())
                self.saved[likeness(text)] = str(label)
        except OSError as error:
            raise InputError(
                f"{self.out}: the label could not be saved: {error.strerror}"
            ) from None

    def _at(self, place: object) -> DoubtfulText:
        if not isinstance(place, int) or not 0 <= place < len(self.texts):
            raise InputError(f"expected a text index below {len(self.texts):,}")
        return self.texts[place]

    def _rows_of(self, table: Table) -> Iterator[tuple[str, str]]:
        """Yield the texts and labels that were saved before. Terminates a last line that an editor
        left without a newline."""
        if not (self.out.exists() and self.out.stat().st_size):
            return
        if table.columns != self._columns:
            raise DataError(
                f"{self.out}: expected the columns {' and '.join(map(repr, self._columns))}, found "
                f"{', '.join(map(repr, table.columns))}. Choose another file with --out"
            )
        with self.out.open("rb+") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"" if file.read() == b"\n" else b"\n")
        text, label = self._columns
        for row in table.rows(self._columns, classes=Classes(label, self.labels)):
            yield row.values[text], row.values[label]

    def _texts(self, table: Table, skipped: list[DataError] | None) -> list[DoubtfulText]:
        """Return the texts to label, without scores; sets `labels`."""
        text, label = self._columns
        columns = [text, label] if label in table.columns else [text]
        if len(columns) < 2 and label != "label":
            check_columns(str(table.path), table.columns, [label], COLUMN_ADVICE)
        rows, seen, labels = list[DoubtfulText](), {*self.saved}, set[str]()
        checks: dict[str, Any] = {"classes": Classes(label, self.labels), "optional": [label]}
        for row in table.rows(columns, skipped=skipped, **(checks if label in columns else {})):
            value = row.values.get(label, "")
            labels |= {value} if value else set()
            name = likeness(row.values[text])
            if name not in seen and len(rows) < MOST_TEXTS:
                seen.add(name)
                rows.append(DoubtfulText(row.line, row.values[text], value, "", 0.0))
        if not labels <= {*self.labels}:
            self.labels = ordered([*labels])
        return rows
