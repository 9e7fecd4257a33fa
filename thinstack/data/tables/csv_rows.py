"""Write CSV rows as pandas does: with quotes around cells that need them, and a line feed after
each row."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

from thinstack.errors import InputError


def csv_line(cells: Iterable[Any]) -> str:
    """Format one row, for a stream that does not translate line feeds (`newline=""`). None and ""
    are empty cells. Text is unchanged, even if it begins with "=" like a formula."""
    # Before Python 3.13, `csv` quotes only cells that contain a character of the line terminator,
    # but a carriage return needs quotes too.
    row = StringIO(newline="")
    csv.writer(row, lineterminator="\r\n").writerow(cells)
    return row.getvalue().removesuffix("\r\n") + "\n"


def check_classes(option: str, labels: Iterable[str], columns: Sequence[str], instead: str) -> None:
    """Raise InputError for a class with the name of another of the `columns`, because each class
    gets a column of its name. `option` requests CSV; `instead` says what to do."""
    if twice := [label for label in labels if label in columns]:
        raise InputError(
            f"{option} adds a column per class, but the name {twice[0]!r} is already "
            f"taken: {instead}"
        )
