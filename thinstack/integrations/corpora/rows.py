"""Rows of a corpus: an id and a text, or the reason why the row cannot be used."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from thinstack.data.tables.table_rows import (
    Found,
    Record,
    cell_text,
    check_columns,
    is_missing,
    repeats_header,
)
from thinstack.errors import DataError

LONGEST_TEXT: Final = 1 << 24
"""Characters of a text that is scored at most."""

DEFAULT_TEXT: Final = "text"


class Problem(NamedTuple):
    """Why a row has no scores: `kind` is one of

    - "row": the line is not a row, for example because of broken JSON or too few cells;
    - "id": its id is missing or cannot be read;
    - "missing": its text is missing (None, NaN, or a mark such as "NA"; `is_missing`);
    - "not_text": its text is something else, such as a list, or bytes in another encoding;
    - "too_long": its text has more than LONGEST_TEXT characters;
    - "failed": the model could not score it;
    - "killed": the process that scored it was killed, twice.
    """

    kind: str
    message: str


class Row(NamedTuple):
    """A text and its id, which is None if it could not be read. With a problem, the text is
    empty."""

    id: str | None
    text: str
    problem: Problem | None = None


class Columns(NamedTuple):
    """The columns of the texts and of their ids. Without `id`, a row's id is its line number."""

    text: str = DEFAULT_TEXT
    id: str | None = None

    @property
    def names(self) -> list[str]:
        """The names of both columns, or of the text's only."""
        return [self.text] if self.id is None else [self.text, self.id]


def rows_of(
    source: str, records: Iterable[Found], columns: Columns, *, prefix: str = "", advice: str = ""
) -> Iterator[Row]:
    """The records of a table as rows of a corpus. A text may be empty or have no words.

    `source`: the start of each message. `prefix`: the start of ids that are line numbers. `advice`:
    the end of the DataError for a table that lacks the columns, or has two with one name.
    """
    columns_named: list[str] | None = None
    for one in records:
        if isinstance(one, list):
            check_columns(source, one, columns.names, advice)
            columns_named = one
        elif problem := repeats_header(source, columns_named, one):
            place = None if columns.id else f"{prefix}{one.line}"
            yield Row(place, "", Problem("row", str(problem)))
        else:
            yield _row(source, one, columns, f"{prefix}{one.line}")


def _row(source: str, record: Record, columns: Columns, place: str) -> Row:
    if record.problem and not record.cells:
        return Row(None if columns.id else place, "", Problem("row", str(record.problem)))
    if columns.id is not None:
        try:
            place = cell_text(record.cells.get(columns.id))
        except DataError as error:
            expected = f"{source}:{record.line}: expected an id in the column {columns.id!r}"
            return Row(None, "", Problem("id", f"{expected}, {error}"))
    value = record.cells.get(columns.text)
    try:
        text = value if isinstance(value, str) and not value.strip() else cell_text(value)
    except DataError as error:
        expected = f"{source}:{record.line}: expected a text in the column {columns.text!r}"
        message = str(record.problem or f"{expected}, {error}")
        return Row(place, "", Problem("missing" if _missing(value) else "not_text", message))
    if len(text) > LONGEST_TEXT:
        expected = f"{source}:{record.line}: expected a text of at most {LONGEST_TEXT:,} characters"
        return Row(place, "", Problem("too_long", f"{expected}, found {len(text):,}"))
    return Row(place, text)


def _missing(value: object) -> bool:
    empty = value is None or (isinstance(value, float) and value != value)
    return is_missing(value) if isinstance(value, str) else empty
