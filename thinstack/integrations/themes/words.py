"""Words that are typical of themes, and those that name what texts are about, such as "camera"."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log
from typing import Final

from thinstack.integrations.report.terms import MARKS
from thinstack.integrations.themes.clauses import is_topic
from thinstack.text.english import rules

MOST: Final = 5
"""Words of a theme."""

_THIS: Final = re.compile(r"\bthis ([a-z]+)(?: ([a-z]+))?")
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+\b")
_WORD: Final = re.compile(r"[a-z]+")

_POINTED: Final = 0.2  # the share of the texts with a word that have it behind "this", at least
_FEWEST: Final = 4  # texts that do, and
_RAREST: Final = 0.003  # their share of all texts, at least
_FREQUENT: Final = 0.1  # the share of the texts that have a name, at least


def count_words(phrase: str, words: Collection[str]) -> int:
    """How many of some words a phrase has."""
    return len({part.strip(MARKS) for part in phrase.lower().split()}.intersection(words))


def typical_words(
    phrases: Sequence[Mapping[str, int]], ignore: Collection[str] = ()
) -> list[tuple[str, ...]]:
    """At most five words of each theme by c-TF-IDF (Grootendorst 2022): how often it has a word,
    times log(1 + A / f). All themes together have the word f times, and A words on average.
    `phrases`: of each theme, how often each is said. `ignore`: words that are left out."""
    left_out = rules().function_words | {*ignore}
    counts = [_counted(some, left_out) for some in phrases]
    everywhere = Counter[str]()
    for some in counts:
        everywhere.update(some)
    average = sum(everywhere.values()) / max(len(counts), 1)
    weights = [
        {word: times * log(1 + average / everywhere[word]) for word, times in some.items()}
        for some in counts
    ]
    return [tuple(sorted(some, key=lambda word: (-some[word], word))[:MOST]) for some in weights]


def _counted(phrases: Mapping[str, int], left_out: Collection[str]) -> Counter[str]:
    words = Counter[str]()
    for phrase, times in phrases.items():
        for part in phrase.lower().split():
            word = part.strip(MARKS)
            if len(word) > 1 and word.isalpha() and word not in left_out:
                words[word] += times
    return words


def product_words(texts: Iterable[str]) -> frozenset[str]:
    """Words in lower case that name what texts are about: nouns that often stand behind "this", and
    names that many texts write with a capital. They are in clauses that have nothing else in
    common."""
    words, pointed, names, count = Counter[str](), Counter[str](), Counter[str](), 0
    content = rules().function_words.isdisjoint
    for text in texts:
        count += 1
        words.update({*_WORD.findall(text.lower())})
        pairs = _THIS.findall(text.lower())
        pointed.update({word for pair in pairs for word in pair[: 1 + content(pair[:1])]})
        names.update({name.lower() for name in _NAME.findall(text)})
    least = max(_FEWEST, _RAREST * count)
    nouns = {word for word, n in pointed.items() if n >= max(least, _POINTED * words[word])}
    nouns |= {name for name, n in names.items() if n > max(_FREQUENT * count, words[name] / 2)}
    return frozenset(filter(is_topic, nouns))
