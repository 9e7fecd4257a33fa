"""`python -m reproduce held-out`: the rows of a table that the setting `held_out` of the lesson
`rated.v1` and of the task `aspects.v1` never shows."""

import json
from collections.abc import Iterator
from pathlib import Path

from thinstack.data.tables.table import Table
from thinstack.data.tables.table_rows import check_columns
from thinstack.errors import DataError
from thinstack.training.examples.set_aside import is_held_out


def held_out_lines(file: Path, column: str, one_in: int, *, rest: bool = False) -> Iterator[str]:
    """The held-out rows of a table, or with `rest` the others, each as a line of JSON with all its
    cells. Rows that have no text in the `column` are left out.

    Raises DataError for a table that cannot be read or has no such column, and for one without a
    held-out row.
    """
    table, nothing = Table(file), True
    columns = table.columns
    check_columns(str(file), columns, [column], "name the column with --text-column")
    for record in table.records(columns):
        if isinstance(record, list):
            continue
        text = record.cells.get(column)
        if not isinstance(text, str) or not text.strip():
            continue
        held = is_held_out(text, one_in)
        nothing = nothing and not held
        if held != rest:
            yield json.dumps(dict(record.cells), ensure_ascii=False, default=str)
    if nothing:
        raise DataError(f"{file}: expected a held-out text, one in {one_in}, found none; give more")
