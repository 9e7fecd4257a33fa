"""The columns and cells of scored rows."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.data.tables.cell_text import check_classes
from thinstack.integrations.corpora.inputs import Row

IntArray = NDArray[np.int64]
Rows = NDArray[np.void]
"""Scored rows (N,) with the fields of `Layout.dtype`, in the order of their texts."""

Output = Literal["phrases", "sentences", "documents", "aspects"]
"""The unit of a row."""

NOTHING: Final = -1
"""Placeholder for a missing number."""

_PLACES: Final[dict[Output, tuple[str, ...]]] = {
    "phrases": ("sentence", "start", "end", "node", "parent"),
    "aspects": ("row", "sentence", "start", "end", "because_start", "because_end"),
}
"""Numeric columns that differ from those of sentences."""
ROW: Final = "row"
_BECAUSE: Final = "because"
STRINGS: Final = ("id", "text", _BECAUSE, "label")
VECTOR: Final = "vector"


class Layout(NamedTuple):
    """The layout of the rows of a run.

    Attributes:
        labels: the classes.
        output: the unit of a row.
        vectors: the dimension of a vector; 0 without.
        terms: the columns of terms and categories (`term_columns`).
        input_columns: the columns of the input that are copied unchanged.
    """

    labels: Sequence[str]
    output: Output = "sentences"
    vectors: int = 0
    terms: Sequence[str] = ()
    input_columns: Sequence[str] = ()

    @property
    def places(self) -> tuple[str, ...]:
        """The columns of whole numbers. Rows of aspects have the number of their text in the corpus
        (`row`), to distinguish texts with the same id."""
        return _PLACES.get(self.output, ("sentence", "start", "end"))

    @property
    def dtype(self) -> np.dtype[np.void]:
        """The fields of `Rows` for V classes, where NOTHING is a missing whole number and NaN
        another.

        - text: the index of the text;
        - sentence: the index of the sentence in the text, NOTHING for a whole text;
        - start, end: characters [start, end) of the text, NOTHING for a text without aspects;
        - node, parent: for phrases, the number of the node in its tree, in transition order, and
          that of its parent, NOTHING for a whole sentence;
        - because_start, because_end: for aspects, the deciding phrase's characters;
        - label: the number of the class, NOTHING if no class is probable enough;
        - polarity: the mean of the classes' values from -1 to 1, weighted by their probabilities;
        - scores: (V,) the probabilities of the classes, NaN for a text without words;
        - vector: (D,) the vector;
        - terms: (2T,) the mean polarity of the mentions of each of T terms, and their number.
        """
        shapes = {"scores": len(self.labels), VECTOR: self.vectors, "terms": len(self.terms)}
        kinds = {"scores": np.float32, VECTOR: np.float16, "terms": np.float64}
        numbers: list[Any] = [(name, np.int64) for name in ("text", *self.places, "label")]
        arrays = [(name, kinds[name], (size,)) for name, size in shapes.items()]
        return np.dtype([*numbers, ("polarity", np.float64), *arrays])

    def rows(self, text: IntArray, **fields: Any) -> Rows:
        """Create rows from the indices of their texts and these fields; others are missing."""
        rows, dtype = np.zeros(len(text), self.dtype), self.dtype
        for name in dtype.names or ():
            missing = NOTHING if dtype[name].kind == "i" else np.nan
            rows[name] = text if name == "text" else fields.get(name, missing)
        return rows

    @property
    def columns(self) -> list[str]:
        """The columns except those of scores, those of the input after the id."""
        because = [_BECAUSE] if self.output == "aspects" else []
        said = [*self.places, "text", *because, "label", "polarity", *self.terms]
        return ["id", *self.input_columns, *said]

    @property
    def csv_columns(self) -> list[str]:
        """The columns of CSV, with one column per class. Raises InputError for a class with the
        name of another column."""
        advice = "choose --format jsonl or --format parquet"
        check_classes("--format csv", self.labels, self.columns, advice)
        return [*self.columns, *self.labels]

    @property
    def written(self) -> set[str]:
        """The columns that are written in any format, except those of the input."""
        return {*self._replace(input_columns=()).columns, *self.labels, "scores", VECTOR}

    def column(self, name: str, texts: Sequence[Row], rows: Rows) -> Iterable[Any]:
        """Return a column other than the scores, with None for missing values. `texts`: the texts
        that were scored. Texts are generated, because phrases are nested and all at once would take
        much memory."""
        owners = map(texts.__getitem__, rows["text"].tolist())
        if name in self.input_columns:
            column = self.input_columns.index(name)
            return (text.cells[column] for text in owners)
        if name in self.terms:
            column = self.terms.index(name)
            kind = int if column % 2 else float
            return (None if x != x else kind(x) for x in rows["terms"][:, column].tolist())
        if name == "id":
            return (text.id for text in owners)
        if name in ("text", _BECAUSE):
            ends = ("start", "end") if name == "text" else ("because_start", "because_end")
            spans = zip(owners, *(rows[end].tolist() for end in ends), strict=True)
            return (
                None if start == NOTHING else text.text[start:end] for text, start, end in spans
            )
        cells = rows[name].tolist()
        if name == "label":
            return (None if label == NOTHING else self.labels[label] for label in cells)
        return (None if x != x or (x == NOTHING and name != "polarity") else x for x in cells)


def in_order(parts: Sequence[Rows]) -> Rows:
    """Concatenate the rows of at least one part, in the order of their texts."""
    rows = np.concatenate(parts)
    return rows[np.argsort(rows["text"], kind="stable")]
