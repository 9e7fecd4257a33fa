"""Finds mentions of terms that a user names, as texts are read: in any case, in the singular and
the plural, with a hyphen, a space or nothing between the parts of a name."""

import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from thinstack.errors import InputError, NoMentionWarning, shown
from thinstack.text.names import parts_of, pattern_of, plain_words

if TYPE_CHECKING:
    from thinstack.runtime.prediction import Prediction

_EXAMPLE = 'such as about("battery", "price|cost")'


class Mention(NamedTuple):
    """The characters [start, end) of a text that mention a term, and the term as it was asked
    for."""

    start: int
    end: int
    asked: str


class _Term(NamedTuple):
    """What a term matches, and what any match begins with (`pattern_of`)."""

    pattern: re.Pattern[str]
    stems: tuple[str, ...]


class Terms:
    """Terms that a user names. Each may have several names, with `|` between them.

    They are looked for in the words of a sentence as they were read (docs/text.md). The parts of a
    name must stand side by side there. The last one may be in the plural or the singular, whichever
    the name has.

    Raises InputError for what is no text, and for a name without a letter or digit.
    """

    def __init__(self, terms: Sequence[str]):
        self._terms = {term: _term(term) for term in map(_checked, terms)}

    @property
    def asked(self) -> tuple[str, ...]:
        """The terms, each once."""
        return tuple(self._terms)

    def mentions(self, sentence: "Prediction") -> Iterator[Mention]:
        """The mentions of each term in a sentence, term by term. Those of one term do not overlap:
        the first comes first, and of several names there the one with most characters."""
        words, joined = plain_words(sentence.words)
        squeezed = joined.lower().replace(" ", "").replace("-", "") if joined.isascii() else None
        for asked, (pattern, stems) in self._terms.items():
            if squeezed is None or any(stem in squeezed for stem in stems):
                for found in pattern.finditer(joined):
                    yield Mention(*_place(sentence, words, *found.span()), asked)


def warn_of_unmentioned(terms: Iterable[str]) -> None:
    """Warn of terms that no text mentions."""
    for term in terms:
        problem = f"no text mentions {shown(term)}"
        advice = "check how it is written, or add other names of it, such as 'price|cost'"
        warnings.warn(NoMentionWarning(f"{problem}: {advice}"), stacklevel=3)


def _checked(term: object) -> str:
    if not isinstance(term, str):
        raise InputError(f"about: expected each term as a text, {_EXAMPLE}; found {shown(term)}")
    return term


@lru_cache(maxsize=1024)
def _term(term: str) -> _Term:
    """Raises InputError for halves of surrogates, and for a name without a letter or digit."""
    if any("\ud800" <= each <= "\udfff" for each in term):
        problem = f"about: expected each term as Unicode text, {_EXAMPLE}"
        raise InputError(f"{problem}; found {shown(term)}")
    names = [parts_of(name) for name in term.split("|")]
    if not all(any(map(str.isalnum, "".join(parts))) for parts in names):
        problem = f"about: expected a letter or digit in each name of a term, {_EXAMPLE}"
        raise InputError(f"{problem}; found {shown(term)}")
    longest_first = sorted(names, key=lambda parts: len("".join(parts)), reverse=True)
    patterns, stems = zip(*map(pattern_of, longest_first), strict=True)
    either = re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE)
    return _Term(either, tuple(stem if stem.isascii() else "" for stem in stems))


def _place(sentence: "Prediction", words: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """The characters of a sentence for those of its words with spaces between them."""
    starts = [0, *accumulate(len(word) + 1 for word in words)]
    first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
    places, text = sentence.offsets[[first, last]].tolist(), sentence.text
    shifts = [
        _typed_place(text[slice(*place)], words[number], at - starts[number])
        for place, number, at in zip(places, (first, last), (start, end), strict=True)
    ]
    (begin, _), (last_begin, behind) = places
    return begin + (shifts[0] or 0), behind if shifts[1] is None else last_begin + shifts[1]


def _typed_place(typed: str, word: str, place: int) -> int | None:
    """Where a place of a word stands in what was typed of it. None if nothing tells."""
    if len(typed) == len(word) or typed[:place] == word[:place]:
        return place
    behind = len(word) - place
    return len(typed) - behind if typed[len(typed) - behind :] == word[place:] else None
