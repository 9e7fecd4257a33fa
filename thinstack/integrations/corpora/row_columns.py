"""What scored rows look like: the names of their columns, and their cells."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from thinstack.data.tables.csv_rows import check_classes
from thinstack.integrations.corpora.inputs import Row

IntArray = NDArray[np.int64]

Output = Literal["phrases", "sentences", "documents", "aspects"]
"""What has a row."""

NOTHING: Final = -1
"""In place of a number that is not there."""

_PLACED: Final[dict[Output, tuple[str, str]]] = {
    "phrases": ("node", "parent"),
    "aspects": ("because_start", "because_end"),
}
"""Columns of numbers that only rows of this output have."""
ROW: Final = "row"
_BECAUSE: Final = "because"
STRINGS: Final = ("id", "text", _BECAUSE, "label")
VECTOR: Final = "vector"


class ScoredRows(NamedTuple):
    """N rows for V classes, in the order of their texts.

    Attributes:
        text: (N,) the place of the text.
        sentence: (N,) the number of the sentence in the text, or NOTHING for a whole text.
        start, end: (N,) characters [start, end) of the text. NOTHING for a text without aspects.
        label: (N,) the number of the class, or NOTHING if no class is probable enough.
        scores: (N, V) the probabilities of the classes, NaN for a text without words.
        polarity: (N,) the mean of the classes' places from -1 to 1, weighted by their
            probabilities; NaN without scores, and where the classes are no scale of sentiment.
        node, parent: (N,) for phrases, the number of the node in its tree, in transition order, and
            the number of its parent. The parent of a whole sentence is NOTHING.
        because_start, because_end: (N,) for aspects, the characters of what decides, or NOTHING.
        row: (N,) the number of the text in its corpus, from 0, or NOTHING.
        vectors: (N, D) the vectors, NaN for a text without words; D is 0 if none are asked for.
        terms: (N, 2T) of T terms and categories, the mean polarity of the mentions, NaN without
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
        """The rows of at least one part, in the order of their texts."""
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        return cls._make(column[order] for column in columns)

    def at(self, places: slice | IntArray) -> Self:
        """The rows at some places."""
        return type(self)._make(column[places] for column in self)

    def texts_of(
        self, texts: Sequence[Row], starts: IntArray, ends: IntArray
    ) -> Iterator[str | None]:
        """The characters [start, end) of each row, of these `texts` at their places; None where
        there are none. Phrases lie within each other, so all at once would be long."""
        places = zip(self.text.tolist(), starts.tolist(), ends.tolist(), strict=True)
        for text, start, end in places:
            yield None if start == NOTHING else texts[text].text[start:end]


class Layout(NamedTuple):
    """What the rows of a run look like.

    Attributes:
        labels: the classes.
        output: what has a row.
        vectors: the columns of a vector; 0 without.
        terms: the columns of terms and categories (`term_columns`).
        input_columns: the columns of the input that are written too, as they are there.
    """

    labels: Sequence[str]
    output: Output = "sentences"
    vectors: int = 0
    terms: Sequence[str] = ()
    input_columns: Sequence[str] = ()

    @property
    def columns(self) -> list[str]:
        """The columns but those of scores, those of the input behind the id. Rows of aspects have
        the number of their text, by which texts of one id are told apart."""
        row, because = ([ROW], [_BECAUSE]) if self.output == "aspects" else ([], [])
        places = [*row, "sentence", "start", "end", *_PLACED.get(self.output, ())]
        said = [*places, "text", *because, "label", "polarity", *self.terms]
        return ["id", *self.input_columns, *said]

    @property
    def csv_columns(self) -> list[str]:
        """The columns of CSV: a class has a column of its name. Raises InputError for a class that
        has the name of another column."""
        advice = "choose --format jsonl or --format parquet"
        check_classes("--format csv", self.labels, self.columns, advice)
        return [*self.columns, *self.labels]

    @property
    def written(self) -> set[str]:
        """The columns that are written, of any format, but those of the input."""
        return {*self._replace(input_columns=()).columns, *self.labels, "scores", VECTOR}

    def column(self, name: str, texts: Sequence[Row], rows: ScoredRows) -> Iterable[Any]:
        """A column but that of the scores, with None for what is missing. `texts`: those that were
        scored."""
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
