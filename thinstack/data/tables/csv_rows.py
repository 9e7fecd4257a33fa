"""Write CSV rows as pandas does: with quotes around cells that need them, and a line feed after
each row."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from thinstack.errors import InputError

if TYPE_CHECKING:
    from _csv import Writer


def csv_writer(stream: TextIO) -> "Writer":
    """Return a writer of rows to a stream that does not translate line feeds (`newline=""`). None
    and "" are empty cells. Text is unchanged, even if it begins with "=" like a formula."""
    return csv.writer(_Lines(stream), lineterminator="\r\n")


def csv_line(cells: Iterable[Any]) -> str:
    """Format one row."""
    stream = io.StringIO(newline="")
    csv_writer(stream).writerow(cells)
    return stream.getvalue()


def check_classes(option: str, labels: Iterable[str], columns: Sequence[str], instead: str) -> None:
    """Raise InputError for a class with the name of another of the `columns`, because each class
    gets a column of its name. `option` requests CSV; `instead` says what to do."""
    if twice := [label for label in labels if label in columns]:
        raise InputError(
            f"{option} has a column for each class, and the name {twice[0]!r} is already "
            f"taken: {instead}"
        )


class _Lines:
    """A writer of whole rows. Before Python 3.13, `csv` quotes only cells that contain a character
    of the line terminator, but a carriage return needs quotes too."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, row: str) -> int:
        return self._stream.write(row.removesuffix("\r\n") + "\n")
