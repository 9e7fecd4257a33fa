"""The texts of a table, and the words that are a phrase."""

import re
from typing import Final, NamedTuple

import numpy as np

from thinstack.errors import DataError
from thinstack.text.sentences import Sentence

_WHOLE: Final = re.compile(r"\s*-?\d{1,15}(\.0*)?\s*", re.ASCII)


class Text(NamedTuple):
    """A text, or a phrase of one, with its class.

    Attributes:
        text: the text in the table.
        sentences: the words of each sentence. A phrase is one sentence.
        label: its class.
        line: its line in the table, from 1.
    """

    text: str
    sentences: list[list[str]]
    label: str
    line: int


def word_span(text: str, sentence: Sentence, start: str, end: str) -> tuple[int, int]:
    """Return the words [first, last) of a sentence that are the characters [start, end) of its
    text. Raises DataError unless they are whole words."""
    ends = characters(start, end)
    offsets = sentence.offsets + sentence.start
    first, last = np.searchsorted(offsets[:, 0], ends[0]), np.searchsorted(offsets[:, 1], ends[1])
    fits = first < len(offsets) and last < len(offsets) and first <= last
    if not fits or (offsets[first, 0], offsets[last, 1]) != ends:
        raise DataError(
            "expected start and end of a phrase of whole words in one sentence, found "
            f"{ends[0]} to {ends[1]}: {text[max(ends[0], 0) : max(ends[1], 0)]!r:.60}"
        )
    return int(first), int(last) + 1


def characters(start: str, end: str) -> tuple[int, int]:
    """Return the numbers in two cells. They may be floats such as "4.0", which programs write in
    columns with empty cells. Raises DataError for other texts."""
    if not (_WHOLE.fullmatch(start) and _WHOLE.fullmatch(end)):
        raise DataError(
            f"expected numbers of characters in start and end, found {start!r:.20} and {end!r:.20}"
        )
    return int(float(start)), int(float(end))
