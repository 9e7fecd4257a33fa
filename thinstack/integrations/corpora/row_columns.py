"""The columns and cells of scored rows."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from thinstack.data.tables.csv_rows import check_classes
from thinstack.integrations.corpora.inputs import Row

IntArray = NDArray[np.int64]

Output = Literal["phrases", "sentences", "documents", "aspects"]
"""The unit of a row."""

NOTHING: Final = -1
"""Placeholder for a missing number."""

_PLACED: Final[dict[Output, tuple[str, str]]] = {
    "phrases": ("node", "parent"),
    "aspects": ("because_start", "because_end"),
}
"""Numeric columns that exist only for this output."""
ROW: Final = "row"
_BECAUSE: Final = "because"
STRINGS: Final = ("id", "text", _BECAUSE, "label")
VECTOR: Final = "vector"


class ScoredRows(NamedTuple):
    """N rows for V classes, in the order of their texts.

    Attributes:
        text: (N,) the index of the text.
        sentence: (N,) the index of the sentence in the text, or NOTHING for a whole text.
        start, end: (N,) characters [start, end) of the text. NOTHING for a text without aspects.
        label: (N,) the number of the class, or NOTHING if no class is probable enough.
        scores: (N, V) the probabilities of the classes, NaN for a text without words.
        polarity: (N,) the mean of the classes' values from -1 to 1, weighted by their
            probabilities; NaN without scores, and if the classes are not a sentiment scale.
        node, parent: (N,) for phrases, the number of the node in its tree, in transition order, and
            that of its parent, which is NOTHING for a whole sentence.
        because_start, because_end: (N,) for aspects, the deciding phrase's characters, or NOTHING.
        row: (N,) the number of the text in its corpus, from 0, or NOTHING.
        vectors: (N, D) the vectors, NaN for a text without words; D is 0 without vectors.
        terms: (N, 2T) for T terms and categories, the mean polarity of the mentions, NaN without
            any, and their number.
    """

    text: IntArray
    sentence: IntArray
    start: IntArray
    end: IntArray
    label: IntArray
    scores: NDArray[np.float32]
    polarity: NDArray[np.float64]
    node: IntArray
    parent: IntArray
    because_start: IntArray
    because_end: IntArray
    row: IntArray
    vectors: NDArray[np.float16]
    terms: NDArray[np.float64]

    @classmethod
    def merged(cls, parts: "Sequence[Self]") -> Self:
        """Concatenate the rows of at least one part, in the order of their texts."""
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        return cls._make(column[order] for column in columns)

    def at(self, places: slice | IntArray) -> Self:
        """Select rows by index."""
        return type(self)._make(column[places] for column in self)

    def texts_of(
        self, texts: Sequence[Row], starts: IntArray, ends: IntArray
    ) -> Iterator[str | None]:
        """Yield the characters [start, end) of each row in its text, or None without them. An
        iterator, because phrases are nested and all at once would take much memory."""
        places = zip(self.text.tolist(), starts.tolist(), ends.tolist(), strict=True)
        for text, start, end in places:
            yield None if start == NOTHING else texts[text].text[start:end]


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
    def columns(self) -> list[str]:
        """The columns except those of scores, those of the input after the id. Rows of aspects have
        the number of their text, to distinguish texts with the same id."""
        row, because = ([ROW], [_BECAUSE]) if self.output == "aspects" else ([], [])
        places = [*row, "sentence", "start", "end", *_PLACED.get(self.output, ())]
        said = [*places, "text", *because, "label", "polarity", *self.terms]
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

    def column(self, name: str, texts: Sequence[Row], rows: ScoredRows) -> Iterable[Any]:
        """Return a column other than the scores, with None for missing values. `texts`: the texts
        that were scored."""
        places = rows.text.tolist()
        if name in self.input_columns:
            column = self.input_columns.index(name)
            return (texts[place].cells[column] for place in places)
        if name in self.terms:
            column = self.terms.index(name)
            kind = int if column % 2 else float
            return (None if x != x else kind(x) for x in rows.terms[:, column].tolist())
        if name == "id":
            return (texts[place].id for place in places)
        if name == "text":
            return rows.texts_of(texts, rows.start, rows.end)
        if name == _BECAUSE:
            return rows.texts_of(texts, rows.because_start, rows.because_end)
        cells = getattr(rows, name).tolist()
        if name == "label":
            return (None if label == NOTHING else self.labels[label] for label in cells)
        return (None if x != x or (x == NOTHING and name != "polarity") else x for x in cells)
