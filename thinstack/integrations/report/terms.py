"""Normalization of terms and phrases for counting: lower case, plurals with their singulars, and
nested phrases merged; and quotes: their ranking, and how long ones are shortened."""

import re
import zlib
from collections.abc import Container, Mapping
from functools import cache
from typing import Final, NamedTuple, Self

from thinstack.integrations.show.outline import visible
from thinstack.text.english import rules
from thinstack.text.names import read_plainly, singulars

_BEFORE: Final = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "some", "any"),
        *("my", "our", "your", "their", "his", "her", "its"),
    )
)
"""Words that are stripped from the start of a term."""

_DEGREES: Final = frozenset(("so", "too", "really", "quite", "very", "just", "also", "even"))
_DENIED: Final = frozenset(("no", "not", "n't", "never", "cannot", "hardly", "barely", "scarcely"))
_PARTICLES: Final = frozenset(("down", "off", "out", "over", "through", "up"))
_EMPTY: Final = _DENIED | {"too"}
_IS_NOT: Final = re.compile(r"\b(?:is|are|was|were) ?n't\b")

_NO_TOPICS: Final = frozenset(
    (
        *("bit", "buy", "buying", "get", "getting", "go", "going", "kind", "like", "lot", "love"),
        *("make", "need", "one", "purchase", "purchased", "stuff", "thing", "try", "trying", "use"),
        *("used", "using", "want", "way", "work", "worked", "working"),
    )
)
"""Single-word terms that models find and that are not topics."""

MOST_WORDS: Final = 6
"""Maximum number of words of a typical phrase; longer ones rarely recur."""

MARKS: Final = " \t.,;:!?\"'`()[]{}*-–—…“”‘’«»"
"""Characters around a term or a phrase that are stripped."""


def normalised(term: str) -> str:
    """Normalize a term: lower case, one line, no leading articles or surrounding punctuation."""
    words = visible(read_plainly(term)).casefold().strip(MARKS).removeprefix("#").split()
    while len(words) > 1 and words[0] in _BEFORE:
        del words[0]
    return " ".join(words)


def no_topic(key: str) -> str:
    """Return the generic word that a term consists of, such as "use" for "uses"; "" for a topic."""
    return next((form for form in (key, *singulars(key)) if form in _NO_TOPICS), "")


def singular(term: str, terms: Container[str]) -> str:
    """Return the singular of a term if it is among the `terms`, otherwise the term: "waiters"
    counts as "waiter" if some text has the singular, and "news" stays."""
    return next((name for name in singulars(term) if name in terms), term)


def said_phrase(phrase: str) -> str:
    """Normalize a phrase: lower case, without surrounding punctuation, and without function words
    other than negations at its ends. "is really friendly." becomes "friendly"; "not bad" and "too
    loud" stay. "" if only negations are left, or more than `MOST_WORDS` words."""
    words = _IS_NOT.sub("not", visible(read_plainly(phrase)).casefold()).strip(MARKS).split()
    while words and words[0] in _left_out():
        del words[0]
    while words and words[-1] in _left_out() - _PARTICLES:
        del words[-1]
    if len(words) > MOST_WORDS or _EMPTY.issuperset(words):
        return ""
    return " ".join(words).strip(MARKS)


@cache
def _left_out() -> frozenset[str]:
    """Return the words that are stripped from the ends of a phrase."""
    return (rules().function_words | _DEGREES | {"'s", "'re"}) - _EMPTY


def says_more(phrase: str, term: str) -> bool:
    """Whether a phrase contains more than the name of a term or a part of it."""
    name = key_of(term)
    words = (word for word in phrase.replace("-", " ").split() if word not in _left_out())
    return any(all(form not in name for form in (word, *singulars(word))) for word in words)


class Said(NamedTuple):
    """A phrase, and how often it occurs."""

    phrase: str
    times: int


def typical(times: Mapping[str, int], most: int, *, least: int = 2) -> tuple[Said, ...]:
    """Return the most frequent phrases, at most `most`, with at least `least` occurrences each.

    No phrase is inside another, by whole words: of two such phrases the more frequent one is kept,
    and the other is counted with it. `times`: the number of occurrences of each.
    """
    chosen: dict[str, int] = {}
    for phrase, count in sorted(times.items(), key=lambda item: (-item[1], len(item[0]), item[0])):
        words = f" {phrase} "
        around = next((one for one in chosen if f" {one} " in words or words in f" {one} "), phrase)
        chosen[around] = chosen.get(around, 0) + count
    phrases = [Said(phrase, count) for phrase, count in chosen.items() if count >= least]
    return tuple(sorted(phrases, key=lambda said: -said.times)[:most])


def key_of(term: str) -> str:
    """Return the key of terms that are counted together: `setup`, `set-up` and `set up`."""
    return re.sub(r"[\s-]+", "", normalised(term))


def asked_name(pattern: str) -> str:
    """Format the names that a user has given to one aspect as a heading."""
    return " / ".join(name.strip() for name in pattern.split("|") if name.strip())


MOST_CHARACTERS: Final = 280
"""Maximum length of a quote in characters, approximately."""

_WORDS: Final = range(5, 31)  # words of a preferred sentence
_CLEAR: Final = 0.5  # minimum polarity of a quote that is clearly positive or negative
_DOTS: Final = "… "

Rank = tuple[int, int]
"""The rank of a quote; those with the lowest ranks are kept."""


class Span(NamedTuple):
    """The characters [start, end) of a text."""

    start: int
    end: int

    def shifted(self, by: int) -> Self:
        """Return the span moved right by so many characters."""
        return self._replace(start=self.start + by, end=self.end + by)


class Quote(NamedTuple):
    """A quoted text, or the sentence that mentions a term.

    Attributes:
        text: the sentence, or a part of it.
        term, because: the spans of the term and of the phrase that decides, if any.
        side: -1, 0 or 1.
        place: the position of the text in its table, such as "line 12".
    """

    text: str
    term: Span | None
    because: Span | None
    side: int
    place: str

    def rank(self, polarity: float) -> Rank:
        """Rank the quote. Clearly positive or negative texts of a readable length, with a deciding
        phrase, come first; the `lot` orders the others."""
        plain = len(self.text.split(maxsplit=_WORDS.stop)) in _WORDS
        clear = not self.side or abs(polarity) >= _CLEAR
        why = self.side != 0 if self.term is None else self.because is not None
        return 3 - plain - clear - why, self.lot

    @property
    def lot(self) -> int:
        """A pseudo-random number for sampling: a checksum of the text."""
        return zlib.crc32(self.text.encode("utf-8", "surrogatepass"))

    def shortened(self) -> Self:
        """Shorten the quote to about `MOST_CHARACTERS`: a text to its beginning, a sentence to the
        words around the term and, if they fit, the deciding phrase."""
        text, because = self.text, self.because
        if len(text) <= MOST_CHARACTERS:
            return self
        first, last = self.term or (0, 0)
        if because and max(last, because.end) - min(first, because.start) <= MOST_CHARACTERS:
            first, last = min(first, because.start), max(last, because.end)
        else:
            because = None
        room = max(MOST_CHARACTERS - (last - first), 0) // (2 if self.term else 1)
        start = text.find(" ", max(first - room - 1, 0), first) + 1 or first
        end = text.rfind(" ", last, last + room)
        start, end = 0 if first <= room else start, len(text) if last + room >= len(text) else end
        end = last if end < 0 else end
        cut = f"{_DOTS * (start > 0)}{text[start:end]}{_DOTS[::-1] * (end < len(text))}"
        shift = len(_DOTS) * (start > 0) - start
        term, why = (span and span.shifted(shift) for span in (self.term, because))
        return self._replace(text=cut, term=term, because=why)
