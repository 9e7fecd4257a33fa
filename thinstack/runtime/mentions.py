"""Finds mentions of terms that a user names: whole words, in any case, also in the plural."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from thinstack.errors import InputError, shown

_EXAMPLE = 'such as about("battery", "price|cost")'


class Mention(NamedTuple):
    """The characters [start, end) of a text that mention a term, and the term as it was asked
    for."""

    start: int
    end: int
    asked: str


class Terms:
    """Terms that a user names. Each may have several names, with `|` between them.

    A name of several words must stand so in the text, with any white space between them. The last
    word may be in the plural: with -s or -es, or with -ies in place of -y.

    Raises InputError for what is no text, and for a name without a letter or digit.
    """

    def __init__(self, terms: Sequence[str]):
        self._patterns = {term: _pattern(term) for term in map(_checked, terms)}

    def mentions(self, text: str) -> Iterator[Mention]:
        """The mentions of each term in a text, term by term. Those of one term do not overlap: the
        first comes first, and of several names there the one with most characters."""
        for term, pattern in self._patterns.items():
            for found in pattern.finditer(text):
                yield Mention(*found.span(), term)


def _checked(term: object) -> str:
    if not isinstance(term, str):
        raise InputError(f"about: expected each term as a text, {_EXAMPLE}; found {shown(term)}")
    if not all(any(map(str.isalnum, name)) for name in term.split("|")):
        problem = f"about: expected a letter or digit in each name of a term, {_EXAMPLE}"
        raise InputError(f"{problem}; found {shown(term)}")
    return term


@lru_cache(maxsize=1024)
def _pattern(term: str) -> re.Pattern[str]:
    names = [" ".join(name.split()) for name in term.split("|")]
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(_forms, longest_first))})(?!\w)", re.IGNORECASE)


def _forms(name: str) -> str:
    """An expression for a name and its plurals."""
    spelt = r"\s+".join(map(re.escape, name.split()))
    stem = spelt[:-1]
    return f"{spelt}(?:e?s)?|{stem}ies" if name[-1] in "yY" else f"{spelt}(?:e?s)?"
