"""Find mentions of terms that a user names, in the words of a sentence as the model read them."""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from thinstack.errors import InputError, NoMentionWarning, outside, shown
from thinstack.text.names import parts_of, pattern_of, plain_words

if TYPE_CHECKING:
    from thinstack.runtime.prediction import Prediction

_EXAMPLE = 'such as about("battery", "price|cost")'


Patterns = Mapping[str, tuple[re.Pattern[str], Sequence[str]]]
"""{term: its pattern, and the prefix of everything that it matches, by name}."""


def patterns_of(terms: Iterable[object]) -> Patterns:
    """Return the patterns of terms that a user names. Each may have several names, separated by
    `|`.

    Names are matched against the words of a sentence as the model read them (docs/text.md). The
    words of a name must be adjacent. The last one matches in the singular and the plural.

    Raises InputError for a term that is not text, and for a name without a letter or digit.
    """
    patterns = {}
    for term in terms:
        if not isinstance(term, str):
            problem = f"expected each term to be text, {_EXAMPLE}; found {shown(term)}"
            raise InputError(f"about: {problem}")
        patterns[term] = _pattern(term)
    return patterns


def mentions_of(patterns: Patterns, sentence: "Prediction") -> Iterator[tuple[int, int, str]]:
    """Iterate over the mentions of terms in a sentence, term by term: their characters [start, end)
    in it, and the term. Mentions of one term do not overlap: the leftmost wins, and of several
    names there, the longest."""
    words, joined = plain_words(sentence.words)
    squeezed = joined.lower().replace(" ", "").replace("-", "") if joined.isascii() else None
    for term, (pattern, stems) in patterns.items():
        if squeezed is None or any(map(squeezed.__contains__, stems)):
            for match in pattern.finditer(joined):
                start, end = (_typed(sentence, words, match, end) for end in (False, True))
                yield start, end, term


def warn_of_unmentioned(terms: Iterable[str]) -> None:
    """Warn about terms that no text mentions."""
    advice = "check the spelling, or add other names ('price|cost') or examples"
    for term in terms:
        message = f"no text mentions {shown(term)}: {advice}"
        warnings.warn(NoMentionWarning(message), stacklevel=outside())


@lru_cache(maxsize=1024)
def _pattern(term: str) -> tuple[re.Pattern[str], list[str]]:
    """Return the pattern and prefixes of a term (`pattern_of`). The prefix of a non-ASCII name is
    "", because its letters may have more than two cases."""
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
