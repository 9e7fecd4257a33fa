"""Read and write text files of treebanks, and their lines."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeVar

from thinstack.data.files.paths import any_path
from thinstack.data.files.reading import check_encoding, opened_text, undecoded
from thinstack.data.files.writing import write_atomically
from thinstack.errors import DataError, TreeError

Part = TypeVar("Part")
Item = TypeVar("Item")

_MARK = "\ufeff"


def read_text(path: str | Path, encoding: str = "utf-8") -> str:
    """Read the text of a file, possibly compressed, without a byte order mark. Raises DataError for
    a missing file, for text that is invalid in `encoding`, and for an unknown encoding."""
    with opened_text(path, encoding) as stream:
        text = stream.read()
    odd = re.search("[\udc80-\udcff]", text)
    line = text.count("\n", 0, odd.start() if odd else 0) + 1
    if odd and (problem := undecoded(path, line, odd[0], encoding)):
        raise problem
    is_utf_8 = check_encoding(encoding, str(path)) == "utf-8"  # which removes the mark
    return text if is_utf_8 else text.removeprefix(_MARK)


def read_lines(path: str | Path) -> list[str]:
    """Read the lines of a UTF-8 file, without line ends. Raises the errors of `read_text`, and
    DataError for an empty file."""
    text = read_text(path)
    if not text:
        raise DataError(f"{path}: expected one sentence or pair per line, found an empty file")
    # Split at "\n" only: words may contain other Unicode line separators.
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


class Row(NamedTuple):
    """A line of a file: the file name, the line number, from 1, the text without its line end, and
    the parts of the text, in order."""

    source: str
    line: int
    text: str
    entries: list[str]

    def error(self, place: int, message: str) -> TreeError:
        """Return a TreeError with the place of an entry, from 0, or of the line end if there is no
        such entry."""
        at = 0
        for entry in self.entries[:place]:
            at = self.text.index(entry, at) + len(entry) + 1
        missing = place >= len(self.entries)
        start = len(self.text) if missing else self.text.index(self.entries[place], at)
        return TreeError(message, source=self.source, line=self.line, column=start + 1)


def collect(
    make: Callable[[Part], Item], parts: Iterable[Part], skipped: list[TreeError] | None
) -> list[Item]:
    """Apply `make` to each part of a file. A list `skipped` receives the TreeErrors of malformed
    parts, which are then omitted. Without it, the first TreeError is raised."""
    items = []
    for part in parts:
        try:
            items.append(make(part))
        except TreeError as error:
            if skipped is None:
                raise
            skipped.append(error)
    return items


def write_lines(path: str | Path, lines: Iterable[str]) -> None:
    """Write lines, which must not contain line ends, to a UTF-8 file; `read_lines` restores them.
    Raises DataError for a file that cannot be written and for text that UTF-8 cannot encode."""
    text = "".join(f"{line}\n" for line in lines)
    if text.startswith(_MARK):
        text = _MARK + text  # Readers remove one mark at the start of a file; the second is text.
    try:
        write_atomically(any_path(path), text)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}") from None
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        problem = f"{text[error.start]!r} cannot be written in UTF-8; remove it"
        raise DataError(f"{path}:{line}: {problem}") from None
