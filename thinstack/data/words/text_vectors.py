"""Reads vectors of words from text: a line for each word, `word v1 v2 ...`, as GloVe, word2vec and
fastText write it. The file may be compressed."""

import re
from array import array
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thinstack.data.files.compressed import opened_bytes
from thinstack.errors import DataError

_SAMPLE = 256
"""Lines that tell together how many numbers a line has."""

_LONGEST = 1 << 24
"""Bytes of a line at most."""

_MARK = "\ufeff"

_BETWEEN = re.compile("[ \t]+")
_HEADER = re.compile("([0-9]+)[ \t]+([0-9]+)")
_WHOLE = re.compile("[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def read_text_vectors(
    path: Path, only: Collection[str] | None = None
) -> tuple[list[str], NDArray[np.float32]]:
    """The words of a file, as often as they occur, and their vectors (N, X), in the order of the
    lines. `only`: the words that are wanted; lines of other words are not looked at.

    Fields stand between spaces or tabs, one or several. The last X fields are the vector, so a word
    may contain spaces. X is what a first line `V X` says, or what the most of the first lines have.
    A word may end in whole numbers (`1 800`), where its vector has others.

    Raises DataError, with file and line, for a line that is not a word and X numbers, and for text
    that is not UTF-8. Also for a single number a word, unless the first line says so. Raises
    OSError, EOFError and zlib.error for a file that cannot be read.
    """
    lines = _lines(path)
    head = list(islice(lines, _SAMPLE))
    announced = _HEADER.fullmatch(head[0][1]) if head else None
    said = int(announced[2]) if announced else 0
    head = head[bool(announced) :]
    size = _size([line for _, line in head], said)
    if head and size < max(2 - said, 1):
        number, line = head[0]
        expected = f"expected a word and its numbers, found {line[:60]!r}"
        mend = "put spaces or tabs between them; vectors of one number need a first line 'V 1'"
        raise DataError(f"{path}:{number}: {expected}; {mend}")
    beginnings = None if only is None else {word.partition(" ")[0] for word in only}
    words, values = list[str](), array("f")
    for number, line in chain(head, lines):
        if beginnings is not None and _BETWEEN.split(line, 1)[0] not in beginnings:
            continue
        parts = _parts(line, size)
        if parts is None:
            expected = f"expected a word and {size} numbers"
            raise DataError(f"{path}:{number}: {expected}, found {line[:60]!r}")
        if only is None or parts[0] in only:
            words.append(parts[0])
            values.fromlist(parts[1])
    return words, np.frombuffer(values, np.float32).reshape(len(words), size)


def _parts(line: str, size: int) -> tuple[str, list[float]] | None:
    """The word of a line and the `size` numbers after it; None if there are not so many, or if what
    is left is no word."""
    word, *fields = line.rsplit(" ", size)
    if " " in word or "\t" in line:  # a few lines, and those with more than one space between
        word, *fields = _BETWEEN.sub(" ", line).rsplit(" ", size)
    try:
        numbers = list(map(float, fields))
    except ValueError:
        return None
    if len(numbers) != size or (" " in word and not _is_word(word, fields)):
        return None
    if "_" in line and any("_" in field for field in fields):  # which `float` takes for a number
        return None
    return word, numbers


def _is_word(text: str, fields: Sequence[str]) -> bool:
    """Whether what stands before the `fields` of a vector can be a word: it may hold whole numbers
    (`1 800`), unless the vector has no others."""
    inner = [part for part in text.split(" ")[1:] if _NUMBER.fullmatch(part)]
    whole = all(map(_WHOLE.fullmatch, fields))
    return not inner or (not whole and all(part.isdigit() for part in inner))


def _size(lines: Sequence[str], said: int) -> int:
    """How many numbers a line has. It is what fits the most lines; of equals, what the file's
    first line has `said`, or what the first line has."""
    sizes = [size for size in dict.fromkeys([said, *map(_numbers_at_end, lines)]) if size]
    fitting = {size: sum(_parts(line, size) is not None for line in lines) for size in sizes}
    return max(fitting, key=fitting.__getitem__, default=0)


def _numbers_at_end(line: str) -> int:
    """How many of the last fields, the first excepted, are numbers."""
    count = 0
    for field in reversed(_BETWEEN.split(line)[1:]):
        try:
            float(field)
        except ValueError:
            break
        count += 1
    return count


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers (1-based)."""
    with opened_bytes(path) as file:
        for number, content in enumerate(iter(partial(file.readline, _LONGEST), b""), start=1):
            if len(content) == _LONGEST and not content.endswith(b"\n"):
                raise DataError(f"{path}:{number}: expected lines of at most {_LONGEST:,} bytes")
            try:
                text = content.decode()
            except UnicodeDecodeError as error:
                found = f"found the byte 0x{content[error.start]:02x} in {content[:60]!r}"
                mend = "write the vectors as text in UTF-8"
                expected = f"{path}:{number}: expected text in UTF-8"
                raise DataError(f"{expected}, {found}; {mend}") from None
            # Words may hold any other separator of Unicode.
            text = text.removeprefix(_MARK) if number == 1 else text
            text = text.rstrip("\r\n \t").lstrip(" \t")
            if text:
                yield number, text
