"""Normalization of terms and phrases for counting: lower case, plurals with their singulars, and
nested phrases merged."""

import re
from collections.abc import Container, Mapping
from functools import cache
from typing import Final, NamedTuple

from thinstack.integrations.show.marks import visible
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
