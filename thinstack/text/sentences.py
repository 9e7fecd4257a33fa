"""What a splitter makes of texts: sentences of words."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.data.tables.containers import instead_of
from thinstack.errors import InputError, shown


class Sentence(NamedTuple):
    """A sentence of a text.

    It has its own text, its L >= 1 words in treebank conventions, and the characters [start, end)
    of each word in that text, (L, 2) int64. If the splitter tells, it also has the character where
    it starts in the whole text.
    """

    text: str
    words: list[str]
    offsets: NDArray[np.int64]
    start: int = 0


Splitter = Callable[[Iterable[str]], Iterator[list[Sentence]]]
"""What cuts texts into sentences of words: the sentences of each text, in order; a text without
words has none."""


@cache
def splitter(*, sentences: bool = True) -> Splitter:
    """The splitter for English texts. With `sentences` False, each text is one sentence."""
    from thinstack.text.english import EnglishSplitter  # which makes Sentences

    return EnglishSplitter(sentences=sentences)


def check_text(text: object, place: int, what: str = "text") -> str:
    """`text` itself. Raises InputError, with `what` it is and its place, for what is no text, and
    for a text that cannot be written in UTF-8."""
    if not isinstance(text, str):
        words = isinstance(text, list | tuple) and all(isinstance(word, str) for word in text)
        advice = "model.predict reads sentences of words" if words and text else "leave it out"
        problem = instead_of(text) or f"found {shown(text, 60)}: {advice}"
        raise InputError(f"{what} {place}: expected a text, {problem}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        problem = f"not Unicode text, character {error.start} is {text[error.start]!r}"
        raise InputError(f"{what} {place}: {problem}") from None
    return text
