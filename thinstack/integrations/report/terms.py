"""Terms and phrases as a report counts them: in lower case, plurals beside their singulars, and
phrases inside others with these."""

import re
from collections.abc import Container, Mapping
from functools import cache
from typing import Final, NamedTuple

from thinstack.integrations.show.outline import visible
from thinstack.text.english import rules
from thinstack.text.names import read_plainly, singulars

_BEFORE: Final = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "some", "any"),
        *("my", "our", "your", "their", "his", "her", "its"),
    )
)
"""Words that a term is counted without, where it begins with them."""

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
"""Terms of one word that models find and that are no topics."""

MOST_WORDS: Final = 6
"""Words of a phrase that is counted as typical; longer ones are said once."""

MARKS: Final = " \t.,;:!?\"'`()[]{}*-–—…“”‘’«»"
"""What stands around a term or a phrase, and is not counted."""


def normalised(term: str) -> str:
    """A term as it is read, in lower case and on one line, without articles before it and marks
    around it."""
    words = visible(read_plainly(term)).casefold().strip(MARKS).removeprefix("#").split()
    while len(words) > 1 and words[0] in _BEFORE:
        del words[0]
    return " ".join(words)


def no_topic(key: str) -> str:
    """The word of everything that a term is, such as "use" for "uses"; "" for a topic."""
    return next((form for form in (key, *singulars(key)) if form in _NO_TOPICS), "")


def singular(term: str, terms: Container[str]) -> str:
    """The singular of a term if it is among the `terms`, else the term itself: "waiters" is counted
    with "waiter" where someone writes of one, and "news" stays."""
    return next((name for name in singulars(term) if name in terms), term)


def said_phrase(phrase: str) -> str:
    """A phrase as it is counted: in lower case, without marks around it, and without function words
    at its ends that deny nothing. "is really friendly." and "friendly" are the same; "not bad" and
    "too loud" stay. "" where nothing is left but denials, and for more than `MOST_WORDS` words."""
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
    """Words that are left out at the ends of what is said."""
    return (rules().function_words | _DEGREES | {"'s", "'re"}) - _EMPTY


def says_more(phrase: str, term: str) -> bool:
    """Whether a phrase says more than the name of a term, or than a part of it."""
    name = key_of(term)
    words = (word for word in phrase.replace("-", " ").split() if word not in _left_out())
    return any(all(form not in name for form in (word, *singulars(word))) for word in words)


class Said(NamedTuple):
    """A phrase, and how often it is said."""

    phrase: str
    times: int


def typical(times: Mapping[str, int], most: int, *, least: int = 2) -> tuple[Said, ...]:
    """The phrases that are said most often, at most `most`, each `least` times or more.

    None is inside another, by whole words: of two such phrases the one that is said more often
    stands, and the other is counted with it. `times`: how often each is said.
    """
    chosen: dict[str, int] = {}
    for phrase, count in sorted(times.items(), key=lambda item: (-item[1], len(item[0]), item[0])):
        around = next((other for other in chosen if _overlap(other, phrase)), phrase)
        chosen[around] = chosen.get(around, 0) + count
    phrases = [Said(phrase, count) for phrase, count in chosen.items() if count >= least]
    return tuple(sorted(phrases, key=lambda said: -said.times)[:most])


def _overlap(one: str, other: str) -> bool:
    """Whether one of two phrases is inside the other, by whole words."""
    return f" {one} " in f" {other} " or f" {other} " in f" {one} "


def key_of(term: str) -> str:
    """What terms that are counted together have in common: `setup`, `set-up` and `set up`."""
    return re.sub(r"[\s-]+", "", normalised(term))


def asked_name(pattern: str) -> str:
    """The names that a user has given to one aspect, as a heading."""
    return " / ".join(name.strip() for name in pattern.split("|") if name.strip())
