"""What scored rows look like: the names of their columns, and their cells."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, Self

from thinstack.data.tables.csv_rows import check_classes
from thinstack.integrations.corpora.inputs import Row
from thinstack.integrations.corpora.scoring import NOTHING, Output, ScoredRows, TextScorer

_PLACED: Final[dict[Output, tuple[str, str]]] = {
    "phrases": ("node", "parent"),
    "aspects": ("because_start", "because_end"),
}
"""Columns of numbers that only rows of this output have."""
ROW: Final = "row"
_BECAUSE: Final = "because"
STRINGS: Final = ("id", "text", _BECAUSE, "label")
VECTOR: Final = "vector"


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

    @classmethod
    def of(cls, scorer: TextScorer, input_columns: Sequence[str] = ()) -> Self:
        """What the rows of a scorer look like, with these columns of the input."""
        return cls(scorer.labels, scorer.output, scorer.width, scorer.terms, input_columns)

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
