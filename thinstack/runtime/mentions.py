"""Find mentions of terms that a user names, in the words of a sentence as the model read them."""

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from thinstack.errors import InputError, NoMentionWarning, outside, shown
from thinstack.text.names import parts_of, pattern_of, plain_words

if TYPE_CHECKING:
    from thinstack.runtime.prediction import Prediction

_EXAMPLE = 'such as about("battery", "price|cost")'


class Mention(NamedTuple):
    """The characters [start, end) of a sentence that mention a term, and the term as the user wrote
    it."""

    start: int
    end: int
    asked: str


class Terms:
    """Terms that a user names. Each may have several names, separated by `|`.

    Names are matched against the words of a sentence as the model read them (docs/text.md). The
    words of a name must be adjacent. The last one matches in the singular and the plural.

    Raises InputError for a term that is not text, and for a name without a letter or digit.
    """

    def __init__(self, terms: Sequence[object]):
        self._patterns: dict[str, tuple[re.Pattern[str], list[str]]] = {}
        for term in terms:
            if not isinstance(term, str):
                problem = f"expected each term to be text, {_EXAMPLE}; found {shown(term)}"
                raise InputError(f"about: {problem}")
            self._patterns[term] = _pattern(term)

    def mentions(self, sentence: "Prediction") -> Iterator[Mention]:
        """Iterate over the mentions of each term in a sentence, term by term. Mentions of one term
        do not overlap: the leftmost wins, and of several names there, the longest."""
        words, joined = plain_words(sentence.words)
        squeezed = joined.lower().replace(" ", "").replace("-", "") if joined.isascii() else None
        for term, (pattern, stems) in self._patterns.items():
            if squeezed is None or any(map(squeezed.__contains__, stems)):
                for match in pattern.finditer(joined):
                    start, end = (_typed(sentence, words, match, end) for end in (False, True))
                    yield Mention(start, end, term)


def warn_of_unmentioned(terms: Iterable[str]) -> None:
    """Warn about terms that no text mentions."""
    advice = "check the spelling, or add other names ('price|cost') or examples"
    for term in terms:
        message = f"no text mentions {shown(term)}: {advice}"
        warnings.warn(NoMentionWarning(message), stacklevel=outside())


@lru_cache(maxsize=1024)
def _pattern(term: str) -> tuple[re.Pattern[str], list[str]]:
    """Return the pattern of a term, and the prefix of everything that it matches, by name
    (`pattern_of`); "" for non-ASCII names, where letters may have more than two cases."""
    names = [parts_of(name) for name in term.split("|")]
    example = f"{_EXAMPLE}; found {shown(term)}"
    if any("\ud800" <= character <= "\udfff" for character in term):
        raise InputError(f"about: expected each term to be Unicode, {example}")
    if not all(any(map(str.isalnum, "".join(parts))) for parts in names):
        raise InputError(f"about: expected a letter or digit in each name of a term, {example}")
    names.sort(key=lambda parts: -len("".join(parts)))
    patterns, stems = zip(*map(pattern_of, names), strict=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE)
    return pattern, [stem if stem.isascii() else "" for stem in stems]


def _typed(sentence: "Prediction", words: Sequence[str], match: re.Match[str], end: bool) -> int:
    """Return the character of a sentence where a match in its space-separated words starts or
    ends."""
    joined, place = match.string, match.span()[end]
    number = joined.count(" ", 0, place - end)
    word, inside = words[number], place - 1 - joined.rfind(" ", 0, place - end)
    first, behind = map(int, sentence.offsets[number])
    typed = sentence.text[first:behind]
    if len(typed) == len(word) or typed[:inside] == word[:inside]:
        return first + inside
    if typed.endswith(word[inside:]):
        return behind - len(word) + inside
    return behind if end else first
