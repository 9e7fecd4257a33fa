"""The output of splitters: sentences of words."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.data.tables.containers import instead_of
from thinstack.errors import InputError, shown


class Sentence(NamedTuple):
    """A sentence of a text.

    The fields are its own text, its L >= 1 words in treebank conventions, the characters [start,
    end) of each word in that text, (L, 2) int64, and, if the splitter provides it, the start
    character in the whole text.
    """

    text: str
    words: list[str]
    offsets: NDArray[np.int64]
    start: int = 0


Splitter = Callable[[Iterable[str]], Iterator[list[Sentence]]]
"""A function that splits texts into sentences of words: it yields the sentences of each text, in
order, and an empty list for a text without words."""


@cache
def splitter(*, sentences: bool = True) -> Splitter:
    """Return the splitter for English texts. With `sentences` False, each text is one sentence."""
    from thinstack.text.english import EnglishSplitter  # it imports Sentence from here

    return EnglishSplitter(sentences=sentences)


def check_text(text: object, place: int, what: str = "text") -> str:
    """Return `text` unchanged. Raises InputError, with `what` it is and its index, for a value that
    is not text, and for text that UTF-8 cannot encode."""
    if not isinstance(text, str):
        words = isinstance(text, list | tuple) and all(isinstance(word, str) for word in text)
        advice = "use model.predict for lists of words" if words and text else "leave it out"
        problem = instead_of(text) or f"found {shown(text, 60)}: {advice}"
        raise InputError(f"{what} {place}: expected a text, {problem}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        problem = f"not valid Unicode: character {error.start} is {text[error.start]!r}"
        raise InputError(f"{what} {place}: {problem}") from None
    return text
