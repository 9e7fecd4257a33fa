"""Writes rows of CSV as pandas reads and writes them: quotes around a cell that needs them, and a
line feed behind each row."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from thinstack.errors import InputError

if TYPE_CHECKING:
    from _csv import Writer


def csv_writer(stream: TextIO) -> "Writer":
    """A writer of rows to a stream that leaves line feeds as they are (`newline=""`). None and ""
    are empty cells. Texts stay as they are, also those that begin with "=" like a formula."""
    return csv.writer(_Lines(stream), lineterminator="\r\n")


def csv_line(cells: Iterable[Any]) -> str:
    """One row."""
    stream = io.StringIO(newline="")
    csv_writer(stream).writerow(cells)
    return stream.getvalue()


def check_classes(option: str, labels: Iterable[str], columns: Sequence[str], instead: str) -> None:
    """Raise InputError for a class with the name of another of the `columns`, as each class has a
    column of its name. `option` asks for CSV, and `instead` says what to do."""
    if twice := [label for label in labels if label in columns]:
        raise InputError(
            f"{option} has a column for each class, and the name {twice[0]!r} is already "
            f"taken: {instead}"
        )


class _Lines:
    """Takes whole rows. Before Python 3.13, `csv` puts only cells in quotes that hold a character
    of the line terminator, and a carriage return needs them too."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, row: str) -> int:
        return self._stream.write(row.removesuffix("\r\n") + "\n")
