"""The columns of scored rows: their names, and their cells."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from thinstack.integrations.corpora.inputs import Row
from thinstack.integrations.corpora.scoring import NOTHING, Output, ScoredRows


class MoreColumns(NamedTuple):
    """Columns that rows may have beside the others: `input_columns`, as they are in the
    input, and those of `terms` (`term_columns`)."""

    input_columns: Sequence[str] = ()
    terms: Sequence[str] = ()


NO_MORE: Final = MoreColumns()

_PLACED: Final[dict[Output, tuple[str, str]]] = {
    "phrases": ("node", "parent"),
    "aspects": ("because_start", "because_end"),
}
"""Columns of numbers that only rows of this output have."""
ROW: Final = "row"
_BECAUSE: Final = "because"
STRINGS: Final = ("id", "text", _BECAUSE, "label")
VECTOR: Final = "vector"


def written_columns(labels: Sequence[str], *, output: Output, terms: Sequence[str]) -> set[str]:
    """The names of the columns that are written, of any format, but those of the input."""
    return {*columns_of(output, MoreColumns(terms=terms)), *labels, "scores", VECTOR}


def columns_of(output: Output, more: MoreColumns) -> list[str]:
    """The columns but those of scores, those of the input behind the id. Rows of aspects have the
    number of their text, by which texts of one id are told apart."""
    row, because = ([ROW], [_BECAUSE]) if output == "aspects" else ([], [])
    places = [*row, "sentence", "start", "end", *_PLACED.get(output, ())]
    return ["id", *more.input_columns, *places, "text", *because, "label", "polarity", *more.terms]


def column_of(
    name: str, texts: Sequence[Row], rows: ScoredRows, labels: Sequence[str], more: MoreColumns
) -> Iterable[Any]:
    """A column but that of the scores, with None for what is missing. `texts`: those that were
    scored."""
    if name in more.input_columns:
        place = more.input_columns.index(name)
        return (texts[text].cells[place] for text in rows.text.tolist())
    if name in more.terms:
        place = more.terms.index(name)
        kind = int if place % 2 else float
        cells = rows.terms[:, place].tolist()
        return (None if cell != cell else kind(cell) for cell in cells)
    if name == "id":
        return (texts[place].id for place in rows.text.tolist())
    if name == "text":
        return rows.texts_of(texts, rows.start, rows.end)
    if name == _BECAUSE:
        return rows.texts_of(texts, rows.because_start, rows.because_end)
    if name == "label":
        return (None if label == NOTHING else labels[label] for label in rows.label.tolist())
    if name == "polarity":
        return (None if place != place else place for place in rows.polarity.tolist())
    return (None if number == NOTHING else number for number in getattr(rows, name).tolist())
